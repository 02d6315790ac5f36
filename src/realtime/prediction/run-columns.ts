import { Int16Column, Int32Column, Uint8Column } from '../../core/columns.ts';
import { NONE } from '../feed/packed-feed.ts';

/** Bits of the state of a call. */
export const CALL = {
  /** Its times are live: from the feed, or derived from times in the feed. */
  live: 1,
  /** The feed has a time or delay for this call itself. */
  own: 2,
  /** The vehicle does not stop there. */
  skipped: 4,
  /** The vehicle has left. */
  left: 8,
  /** The run ends there early. */
  end: 16,
  /** The feed has the call, with or without times. */
  listed: 32,
  /** The feed has no data for the call (NO_DATA). */
  noData: 64,
  /** The run begins there, later than planned. */
  start: 128,
} as const;

/** The rules that give a call its times, named as in README.md. Their index is stored. */
export const RULES = [
  'planned',
  'time of the feed',
  'delay of the feed',
  'delay before',
  'delay of the trip',
  'cannot be there yet',
  'before the first update',
  'order',
  'next run of the vehicle',
  'standing',
] as const;
export type Rule = (typeof RULES)[number];

export const ruleNumber = (rule: Rule) => RULES.indexOf(rule);

/** The columns of calls, as described in `RunColumns`. */
const COLUMNS = {
  stop: Int32Column,
  plannedStop: Int32Column,
  position: Int16Column,
  plannedArrival: Int32Column,
  plannedDeparture: Int32Column,
  arrival: Int32Column,
  departure: Int32Column,
  state: Uint8Column,
  rule: Uint8Column,
  flags: Uint8Column,
  occupancy: Uint8Column,
  update: Int32Column,
} as const;
export type CallColumns = { [Name in keyof typeof COLUMNS]: InstanceType<(typeof COLUMNS)[Name]> };
export const COLUMN_NAMES = Object.keys(COLUMNS) as (keyof CallColumns)[];

export function createColumns(length: number): CallColumns {
  return Object.fromEntries(COLUMN_NAMES.map((name) => [name, new COLUMNS[name](length)])) as unknown as CallColumns;
}

/**
 * The calls of one run, in columns that are reused for all runs. Times are seconds after the header of the feed, `NONE` if there
 * is none.
 */
export class RunColumns implements CallColumns {
  count = 0;
  /** Number of updates with an impossible time. */
  impossible = 0;
  /** The stop of the call today, as its index in the timetable; -1 if the timetable lacks it. */
  stop = new Int32Column(64);
  /** The stop by the timetable; the same as `stop` for a call that only the feed has. */
  plannedStop = new Int32Column(64);
  /** The position in the pattern of the trip; -1 for a call that only the feed has. */
  position = new Int16Column(64);
  plannedArrival = new Int32Column(64);
  plannedDeparture = new Int32Column(64);
  /** The best times: live, else planned. In order along the run. */
  arrival = new Int32Column(64);
  departure = new Int32Column(64);
  state = new Uint8Column(64);
  rule = new Uint8Column(64);
  /** Whether riders may board and alight, by the timetable or the feed. Both are allowed at a call that only the feed has. */
  flags = new Uint8Column(64);
  /** The `OccupancyStatus` number of GTFS-realtime plus 1; 0 if unknown. */
  occupancy = new Uint8Column(64);
  /** The index of the stop update in the feed; -1 if there is none. */
  update = new Int32Column(64);

  /** Removes all calls and makes room for `count`. */
  reset(count: number): void {
    this.count = count;
    this.impossible = 0;
    if (count > this.stop.length) Object.assign(this, createColumns(count * 2));
    this.arrival.fill(NONE, 0, count);
    this.departure.fill(NONE, 0, count);
    this.state.fill(0, 0, count);
    this.rule.fill(0, 0, count);
    this.occupancy.fill(0, 0, count);
    this.update.fill(-1, 0, count);
  }
}
