import fc from 'fast-check';
import { expect } from 'vitest';
import { createLines } from '#src/journeys/day-lines.ts';
import { createLabels } from '#src/journeys/raptor/labels.ts';
import { callAt, type Footpaths } from '#src/journeys/raptor/lines.ts';
import type { Plan } from '#src/journeys/raptor/plan.ts';
import { createCells } from '#src/timetable/import/cells.ts';
import { toDayNumber } from '#src/timetable/service-day.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { type MadeTrip, scheduleFile } from './schedule-file.ts';
import { buildTimetable } from './timetable.ts';

const DAY = toDayNumber('20261126') as number;
export const DAY_SECONDS = 86_400;
export const CHANGE = 120;
export const STOPS = 8;
const DAYS = ['20261125', '20261126', '20261127'];

/** A trip with times in seconds since the start of 26 November, and its block. */
export interface Trip extends MadeTrip {
  id: string;
  calls: [stop: string, arrival: number, other: { departure: number; flags: number }][];
}

const tripArbitrary = fc
  .record({
    start: fc.integer({ min: 0, max: 30 * 60 }).map((minutes) => minutes * 60),
    stops: fc.array(fc.integer({ min: 0, max: STOPS - 1 }), { minLength: 2, maxLength: 6 }),
    gaps: fc.array(fc.tuple(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 0, max: 3 })), {
      minLength: 6,
      maxLength: 6,
    }),
    flags: fc.array(fc.constantFrom(3, 3, 3, 3, 1, 2), { minLength: 6, maxLength: 6 }),
    days: fc.subarray(DAYS, { minLength: 1 }),
  })
  .map(({ start, stops, gaps, flags, days }) => {
    let at = start;
    const calls = stops.map((stop, index): Trip['calls'][0] => {
      const [ride, stay] = gaps[index] as [number, number];
      const arrival = at + (index === 0 ? 0 : ride * 60);
      at = arrival + stay * 60;
      return [`S${stop}`, arrival, { departure: at, flags: flags[index] as number }];
    });
    return { days, calls };
  });

export const networkArbitrary = fc
  .array(tripArbitrary, { minLength: 1, maxLength: 25 })
  .map((trips) => trips.map((trip, index): Trip => ({ ...trip, id: `T${index}` })));

const oneWayArbitrary = fc.uniqueArray(
  fc.tuple(
    fc.integer({ min: 0, max: STOPS - 1 }),
    fc.integer({ min: 0, max: STOPS - 1 }),
    fc.integer({ min: 1, max: 12 }),
  ),
  { maxLength: 5, selector: ([one, other]) => one * STOPS + other },
);

/** Walks in minutes, in both directions, as real ones are. */
export const walksArbitrary = oneWayArbitrary.map((walks): [number, number, number][] => [
  ...new Map(
    walks.flatMap(([one, other, minutes]): [string, [number, number, number]][] => {
      const [first, last] = [Math.min(one, other), Math.max(one, other)];
      return first === last
        ? []
        : [
            [`${first} ${last}`, [first, last, minutes]],
            [`${last} ${first}`, [last, first, minutes]],
          ];
    }),
  ).values(),
]);

export function openNetwork(trips: readonly Trip[], walks: readonly [number, number, number][]) {
  const stops = Array.from({ length: STOPS }, (_, stop) => ({ id: `S${stop}`, lat: -33 - stop, lng: 151 }));
  const timetable = new Timetable(
    buildTimetable([scheduleFile('buses', { stops, trips, firstDay: '20261120', lastDay: '20261130' })], {
      importedAt: 0,
    }),
  );
  const lines = createLines(timetable.sections, {
    day: DAY,
    servicesOn: (day) => timetable.servicesOn(day),
    nextTrip: (trip, day) => timetable.nextTrip(trip, day),
  });
  const footpaths = toFootpaths(
    walks.map(([one, other, minutes]) => [
      timetable.findStop(`S${one}`) as number,
      timetable.findStop(`S${other}`) as number,
      minutes * 60,
    ]),
    timetable.stopCount,
  );
  // The timetable's own cells are those of its own footpaths. These have two stops each.
  const { first: walkStart, targets: walkStop, seconds: walkSeconds } = footpaths;
  const cells = createCells({ ...timetable.sections, walkStart, walkStop, walkSeconds }, STOPS / 2);
  return {
    timetable,
    lines,
    footpaths,
    cells,
    labels: [createLabels(timetable.stopCount), createLabels(timetable.stopCount)] as const,
  };
}

function toFootpaths(walks: readonly [from: number, to: number, seconds: number][], stopCount: number): Footpaths {
  const first = new Int32Array(stopCount + 1);
  const sorted = walks.toSorted(([one], [other]) => one - other);
  for (let stop = 0; stop <= stopCount; stop++) first[stop] = sorted.filter(([from]) => from < stop).length;
  return {
    first,
    targets: Int32Array.from(sorted, ([, to]) => to),
    seconds: Int32Array.from(sorted, ([, , seconds]) => seconds),
  };
}

/** When runs leave the first stop, on all days. */
export function listDepartures(trips: readonly Trip[]): number[] {
  return trips.flatMap(({ calls, days }) =>
    days.flatMap((day) =>
      calls.flatMap(([stop, , { departure }]) =>
        stop === 'S0' ? (DAYS.indexOf(day) - 1) * DAY_SECONDS + departure : [],
      ),
    ),
  );
}

/** The earliest arrivals in a random network, by `scanRuns`. A rider boards at the first stop alone, at `from`, unless `ready` is given. */
export function scanConnections(
  trips: readonly Trip[],
  walks: readonly [number, number, number][],
  { from = 0, maxRides, ready }: { from?: number; maxRides: number; ready?: readonly number[] },
): number[][] {
  const runs = trips.flatMap(({ calls, days }) =>
    days.map((day) => {
      const base = (DAYS.indexOf(day) - 1) * DAY_SECONDS;
      return calls.map(([stop, arrival, { departure, flags }]) => ({
        stop: Number(stop.slice(1)),
        arrival: base + arrival,
        departure: base + departure,
        flags,
      }));
    }),
  );
  const atFirst = Array.from({ length: STOPS }, (_, stop) => (stop === 0 ? from : Number.POSITIVE_INFINITY));
  return scanRuns(runs, walks, { maxRides, ready: ready ?? atFirst });
}

/** A call of a run: `flags` are the allowed actions. Times are in seconds. */
export interface ScannedCall {
  stop: number;
  arrival: number;
  departure: number;
  flags: number;
}

/**
 * An independent search to compare with: the earliest arrival by a ride at each stop for each number of rides, or `Infinity`.
 * `ready` is when a rider can board at each stop.
 */
export function scanRuns(
  runs: readonly (readonly ScannedCall[])[],
  walks: readonly [number, number, number][],
  { ready, maxRides, changeSeconds = CHANGE }: { ready: readonly number[]; maxRides: number; changeSeconds?: number },
): number[][] {
  let mayBoardAt = ready.slice();
  let best = new Array<number>(ready.length).fill(Number.POSITIVE_INFINITY);
  const rounds: number[][] = [];
  for (let ride = 1; ride <= maxRides; ride++) {
    const arrived = [...best];
    for (const run of runs) {
      for (const [board, start] of run.entries()) {
        if (!(start.flags & 1) || start.departure < (mayBoardAt[start.stop] as number)) continue;
        for (const end of run.slice(board + 1)) {
          if (end.flags & 2) arrived[end.stop] = Math.min(arrived[end.stop] as number, end.arrival);
        }
      }
    }
    rounds.push(arrived);
    best = arrived;
    mayBoardAt = mayBoardAt.map((at, stop) => Math.min(at, (arrived[stop] as number) + changeSeconds));
    for (const [one, other, minutes] of walks) {
      mayBoardAt[other] = Math.min(
        mayBoardAt[other] as number,
        (arrived[one] as number) + Math.max(changeSeconds, minutes * 60),
      );
    }
  }
  return rounds;
}

/** Each ride can be caught from the one before, and stops where it is boarded and left. */
export function expectFeasible(
  { lines, footpaths }: ReturnType<typeof openNetwork>,
  { departsAt, arrivesAt, rides }: Plan,
  walks: readonly [number, number, number][],
): void {
  let at = departsAt;
  let stop: number | null = null;
  for (const { run, board, alightRun, alight } of rides) {
    const on = callAt(lines, run, board);
    if (stop !== null) {
      const around = stop === on.stop ? [0] : [];
      for (let index = footpaths.first[stop] as number; index < (footpaths.first[stop + 1] as number); index++) {
        if (footpaths.targets[index] === on.stop) around.push(footpaths.seconds[index] as number);
      }
      expect(around.length, JSON.stringify(walks)).toBeGreaterThan(0);
      expect(at + Math.max(CHANGE, Math.min(...around))).toBeLessThanOrEqual(on.departsAt);
    } else expect(on.departsAt).toBe(departsAt);
    expect(on.flags & 1).toBe(1);
    const off = callAt(lines, alightRun, alight);
    expect(off.flags & 2).toBe(2);
    expect(off.arrivesAt).toBeGreaterThanOrEqual(on.departsAt);
    [at, stop] = [off.arrivesAt, off.stop];
  }
  expect(at).toBe(arrivesAt);
}
