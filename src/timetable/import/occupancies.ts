import { Int8Column } from '../../core/columns.ts';
import { createNumbers } from '../../core/growing-numbers.ts';
import { DAYS_OF_WEEK, toDayNumber, weekdayOf } from '../service-day.ts';
import { parseWeekdays, type Services, WEEKDAYS } from './calendar.ts';
import { group } from './growing-arrays.ts';
import type { LeftOutCounter } from './left-out.ts';
import { type ScheduleCalls, type ScheduleService, type ScheduleTrip, UnreadableFile } from './schedule-file.ts';
import type { TripList } from './trips.ts';
import type { ScheduleZip } from './zip.ts';

/**
 * The load for each `occupancy_status` of GTFS: 1 many seats, 2 few seats, 3 standing only. Empty counts as many seats, full as
 * standing only.
 */
const LOADS: readonly number[] = [1, 1, 2, 3, 3, 3];
const CONFLICT = -1;

type Read = TripList & Pick<Services, 'services'>;

/** Writes the usual loads into the calls of a trip, which is given by its index. */
type FillLoads = (trip: number, calls: ScheduleCalls) => void;

/**
 * Reads occupancies.txt, an extension of GTFS: how full a vehicle usually is when it leaves a stop, by weekday and date. A call
 * has two bits for each weekday. Rows with `exception` have precedence. A weekday has no load if its dates do not agree. If the
 * file is missing or broken, there are no loads.
 */
export async function loadLoads(zip: ScheduleZip, read: Read, leftOut: LeftOutCounter): Promise<FillLoads> {
  const rows = await loadRows(zip, read, leftOut).catch((error: unknown) => {
    if (!(error instanceof UnreadableFile)) throw error;
    leftOut.add('occupancies that cannot be read');
    return null;
  });
  const none = group(read.trips.length, 0, () => -1);
  const byTrip = rows ? group(read.trips.length, rows.trip.length, (row) => rows.trip.values.valueAt(row)) : none;
  return (trip, { count, sequence, load }) => {
    load.fill(0, 0, count);
    const own = byTrip.members.subarray(byTrip.start[trip], byTrip.start[trip + 1]);
    if (!rows || own.length === 0) return;
    const { service } = read.trips[trip] as ScheduleTrip;
    const days = listDays(read.services[service] as ScheduleService);
    const bySequence = Map.groupBy(own, (row) => rows.sequence.values.valueAt(row));
    for (let call = 0; call < count; call++) {
      const ofCall = bySequence.get(sequence.valueAt(call));
      if (ofCall) load[call] = packWeek(days, (day) => chooseLoad(rows, ofCall, day));
    }
  };
}

type Rows = ReturnType<typeof createRows>;

const createRows = () => createNumbers(['trip', 'sequence', 'load', 'weekdays', 'from', 'until', 'isException']);

async function loadRows(zip: ScheduleZip, { indexes }: Read, leftOut: LeftOutCounter): Promise<Rows> {
  const rows = createRows();
  const table = {
    name: 'occupancies.txt',
    required: ['trip_id', 'stop_sequence', 'occupancy_status', ...WEEKDAYS, 'start_date', 'end_date'],
    optional: ['exception'],
  } as const;
  await zip.loadRows(table, (row, at) => {
    const trip = indexes.get(row.text(at.trip_id));
    if (trip === undefined) return leftOut.add('occupancy of an unknown trip');
    if (trip === -1) return;
    const [from, until] = [toDayNumber(row.text(at.start_date)), toDayNumber(row.text(at.end_date))];
    const sequence = row.integer(at.stop_sequence);
    const load = LOADS[row.integer(at.occupancy_status)];
    // Other numbers say that nothing is known, or that nobody may board.
    if (load === undefined) return;
    if (from === null || until === null || Number.isNaN(sequence)) return leftOut.add('occupancy without valid dates');
    rows.trip.push(trip);
    rows.sequence.push(sequence);
    rows.load.push(load);
    rows.weekdays.push(parseWeekdays(row, at));
    rows.from.push(from);
    rows.until.push(until);
    rows.isException.push(row.text(at.exception) === '1' ? 1 : 0);
  });
  return rows;
}

function listDays({ firstDay, days }: ScheduleService): number[] {
  return Array.from({ length: days.length * 8 }, (_, at) => at)
    .filter((at) => days.valueAt(at >> 3) & (1 << (at & 7)))
    .map((at) => firstDay + at);
}

/** The load on a day; 0 if no row applies to it, or rows disagree. */
function chooseLoad(rows: Rows, ofCall: readonly number[], day: number): number {
  const loads = new Int8Column(2);
  for (const row of ofCall) {
    const isThen = rows.from.values.valueAt(row) <= day && day <= rows.until.values.valueAt(row);
    if (!isThen || (rows.weekdays.values.valueAt(row) & (1 << weekdayOf(day))) === 0) continue;
    const at = rows.isException.values.valueAt(row);
    const load = rows.load.values.valueAt(row);
    loads[at] = loads[at] === 0 || loads[at] === load ? load : CONFLICT;
  }
  return Math.max(0, loads.valueAt(1) || loads.valueAt(0));
}

function packWeek(days: readonly number[], loadOn: (day: number) => number): number {
  const week: number[] = Array(DAYS_OF_WEEK).fill(Number.NaN);
  for (const day of days) {
    const [weekday, load] = [weekdayOf(day), loadOn(day)];
    week[weekday] = Number.isNaN(week[weekday]) || week[weekday] === load ? load : 0;
  }
  return week.reduce((bits, load, weekday) => bits | ((load || 0) << (2 * weekday)), 0);
}
