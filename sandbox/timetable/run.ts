import { COACH, FERRY, LIGHT_RAIL, METRO, type SandboxLine, TRAIN } from '../network/network.ts';
import type { PatternNode } from '../network/network-index.ts';
import { weekdaysAt } from './services.ts';

/** One vehicle's journey along a pattern on one service day. */
export interface Run {
  pattern: PatternNode;
  /** The service day, in days since 1970-01-01. */
  day: number;
  /** The minute of the service day at which it departs from its first call. */
  minute: number;
  /** The same time in epoch seconds. */
  startSeconds: number;
  /** Derived only from line, pattern, service day and minute, so that the run's traits never change. */
  seed: number;
}

export function classOf({ pattern }: Run): number {
  return pattern.line.product.class;
}

/** The planned time at a call, in epoch seconds. Vehicles have the same planned time for arrival and departure. */
export function plannedSeconds(run: Run, call: number): number {
  return run.startSeconds + (run.pattern.offsetSeconds[call] ?? 0);
}

/** The planned time at a call, cut to the minute as on boards. */
export function plannedMinuteSeconds(run: Run, call: number): number {
  const planned = plannedSeconds(run, call);
  return planned - (planned % 60);
}

/** The run's identifiers in the realtime feeds. `AVMSTripID` is set only while the run reports; harbour cruises have none. */
export function runIdentifiers(run: Run, isReported: boolean): { RealtimeTripId?: string; AVMSTripID?: string } {
  if (!hasTripId(run.pattern)) return {};
  const RealtimeTripId = realtimeTripId(run);
  return { RealtimeTripId, ...(isReported && { AVMSTripID: RealtimeTripId }) };
}

/** The schedule has harbour cruises only in the bundle of all operators, under identifiers used nowhere else. */
export function hasTripId({ line }: PatternNode): boolean {
  return line.monitored || line.product.class !== FERRY;
}

/** The `AVMSTripID` of the extra run that replaces a cancelled one. Such a run has no other identifier. */
export function extraTripId(cancelled: Run): string {
  return `${realtimeTripId(cancelled).replace(/:1000$/, '')}-R:X`;
}

/** The number of the run, unique within its line and service day. */
export function tripCode(run: Run): number {
  return 1 + run.pattern.ordinal * 2000 + run.minute;
}

/** Trip identifiers of trains and ferries contain the timetable's version. */
const VERSION = '1257.152';
const VERSION_DATE = '050126';

/**
 * The `trip_id` in the schedule; it is the same on every day on which the pattern departs at that minute. Each mode has its own
 * format; for trains and ferries it contains the days of the week.
 */
export function realtimeTripId({ pattern, minute }: Pick<Run, 'pattern' | 'minute'>): string {
  const clock = `${String(Math.floor(minute / 60)).padStart(2, '0')}${String(minute % 60).padStart(2, '0')}`;
  const number = pattern.index * 2000 + minute;
  const { route, number: name } = pattern.line;
  switch (pattern.line.product.class) {
    case TRAIN:
    case METRO: {
      const run = `${clock.slice(0, 2)}-${'ABCDEFGH'[pattern.index % 8]}`;
      return `${run}.${VERSION}.${trainDays(weekdaysAt(pattern, minute))}.B.8.${90_000_000 + number}`;
    }
    case LIGHT_RAIL:
      return `49177-${number}:1000`;
    case FERRY:
    case COACH: {
      const prefix = `${route ?? name}${clock}-${pattern.direction === 0 ? 'OUT' : 'IN'}${pattern.ordinal}`;
      return `${prefix}.${VERSION_DATE}.${ferryDays(weekdaysAt(pattern, minute))}.${clock}`;
    }
    default:
      return String(2_000_000 + number);
  }
}

/** The days as a bit set: Sunday 2, Monday 4 … Saturday 128. */
export function trainDays(weekdays: readonly boolean[]): number {
  return weekdays.reduce((sum, runs, day) => sum + (runs ? 2 << ((day + 1) % 7) : 0), 0);
}

/** The days as a bit set: Monday 1 … Sunday 64. */
function ferryDays(weekdays: readonly boolean[]): number {
  return weekdays.reduce((sum, runs, day) => sum + (runs ? 1 << day : 0), 0);
}

/** Names of train lines in `route_id`. */
const TRAIN_ROUTES: Readonly<Record<string, string>> = {
  T1: 'NSN',
  T2: 'IWL',
  T4: 'ESI',
  T5: 'CMB',
  T8: 'APS',
  T9: 'NTH',
};

/** The `route_id` in the schedule and the feeds: "ESI_1a", "9-F1-sj2-1", "2505_333". */
export function routeIdOf({ route, number, product }: SandboxLine): string {
  const name = route ?? number;
  if (product.class === TRAIN) return `${TRAIN_ROUTES[name] ?? name}_1a`;
  return product.class === FERRY ? `9-${name}-sj2-1` : `${2500 + product.id}_${name}`;
}
