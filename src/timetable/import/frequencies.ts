import { MAX_SECONDS } from '../service-day.ts';
import type { LeftOutCounter } from './left-out.ts';
import type { ScheduleTrip } from './schedule-file.ts';
import type { ScheduleZip } from './zip.ts';

/** Runs of a trip that begin every `headway` seconds, from `from` until before `until`, in seconds of the service day. */
interface Frequency {
  from: number;
  until: number;
  headway: number;
  /** Runs that are not exact have no fixed times: only the headway is promised. */
  isExact: boolean;
}

/** By index of the trip. The list is empty if none of the trip's rows can be read. */
export type Frequencies = ReadonlyMap<number, readonly Frequency[]>;

/** The longest headway, in seconds, that fits the timetable's 16 bits. */
const MAX_HEADWAY = 65_535;

/** Reads frequencies.txt. `trips` has the index of each trip, -1 for those that were left out. */
export async function loadFrequencies(
  zip: ScheduleZip,
  trips: ReadonlyMap<string, number>,
  leftOut: LeftOutCounter,
): Promise<Frequencies> {
  const frequencies = new Map<number, Frequency[]>();
  const table = {
    name: 'frequencies.txt',
    required: ['trip_id', 'start_time', 'end_time', 'headway_secs'],
    optional: ['exact_times'],
  } as const;
  await zip.loadRows(table, (row, at) => {
    const trip = trips.get(row.text(at.trip_id));
    if (trip === undefined) return leftOut.add('frequency of an unknown trip');
    if (trip === -1) return;
    const ofTrip = frequencies.get(trip) ?? [];
    frequencies.set(trip, ofTrip);
    const [from, until] = [row.seconds(at.start_time), row.seconds(at.end_time)];
    const headway = row.integer(at.headway_secs);
    if (!(from < until && headway > 0 && headway <= MAX_HEADWAY)) return leftOut.add('frequency without valid times');
    ofTrip.push({ from, until, headway, isExact: row.text(at.exact_times) === '1' });
  });
  return frequencies;
}

/**
 * Returns the runs of a trip with these frequencies. `startsAt` is its departure from the first row of stop_times.txt; the times
 * there only tell how long the vehicle takes from stop to stop. The runs belong to no block, because no vehicle is planned for
 * them.
 */
export function toRuns(
  trip: ScheduleTrip,
  { frequencies, startsAt, endsAt }: { frequencies: readonly Frequency[]; startsAt: number; endsAt: number },
  leftOut: LeftOutCounter,
): ScheduleTrip[] {
  const runs = new Map<number, ScheduleTrip>();
  for (const { from, until, headway, isExact } of frequencies) {
    for (let start = from; start < until; start += headway) {
      const shift = start - startsAt;
      if (endsAt + shift > MAX_SECONDS) leftOut.add('run that ends after two days');
      else if (runs.has(start)) leftOut.add('repeated run of a frequency');
      else runs.set(start, { ...trip, blockId: null, shift, headway: isExact ? 0 : headway });
    }
  }
  return [...runs.values()];
}
