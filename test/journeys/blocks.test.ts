import { expect, it } from 'vitest';
import type { SearchQuery } from '#src/journeys/engine-messages.ts';
import { openEngine } from '#src/journeys/engine-thread.ts';
import { createDraft } from '#src/journeys/raptor/lines.ts';
import { createTimeLeft, type TimeLeftRows } from '#src/journeys/raptor/time-left.ts';
import { createWindow, createWindowVisits } from '#src/journeys/raptor/window.ts';
import { MAY_ALIGHT, MAY_BOARD } from '#src/timetable/call-flags.ts';
import { type MadeTrip, scheduleFile } from '../support/schedule-file.ts';
import { snapshotOf } from '../support/snapshots.ts';
import { timetableOf } from '../support/timetable.ts';

/** Midnight in Sydney, at the start of Thursday 26 November 2026. */
const MIDNIGHT = Date.UTC(2026, 10, 25, 13);
const HOUR = 3_600_000;
const NOW = MIDNIGHT + 8 * HOUR;
const DATE = '20261126';

/** The stops A to F are a kilometre apart. */
const stops = Array.from('ABCDEF', (id, index) => ({ id, lat: -33 - index * 0.01, lng: 150 }));
const trip = (id: string, blockId: string | null, ...calls: [string, string][]): MadeTrip => ({
  id,
  blockId,
  days: [DATE],
  calls,
});
/** One block leads from B to C and back without time passing; another one goes on from E to F. */
const timetable = timetableOf(
  scheduleFile('buses', {
    stops,
    trips: [
      trip('to the circle', 'circle', ['A', '09:00'], ['B', '09:10']),
      trip('there', 'circle', ['B', '09:10'], ['C', '09:10']),
      trip('back', 'circle', ['C', '09:10'], ['B', '09:10']),
      trip('first', 'line', ['D', '09:00'], ['E', '09:10']),
      trip('second', 'line', ['E', '09:11'], ['F', '09:20']),
    ],
  }),
);
const anyRide = {
  now: NOW,
  modes: 127,
  isWheelchair: false,
  maxRides: 7,
  avoidedStops: [],
  walkSeconds: null,
  limit: 3,
};

function planBoth({ search }: ReturnType<typeof openEngine>, from: string, to: string, of = timetable) {
  const end = (id: string) => ({ stops: [{ stop: of.findStop(id) as number, seconds: 0 }], withAround: true });
  const query = { ...anyRide, from: end(from), to: end(to) };
  const queries: SearchQuery<'plan'>[] = [
    { ...query, at: NOW, isArrival: false },
    { ...query, at: MIDNIGHT + 10 * HOUR, isArrival: true },
  ];
  return queries.map((one) =>
    search('plan', one).map(({ rides }) => rides.map(({ parts }) => parts.map(({ trip }) => of.trip(trip).tripId))),
  );
}

it('journeys are found although the runs of a block form a circle at one time', () => {
  const engine = openEngine(timetable.packed);
  expect(planBoth(engine, 'D', 'F')).toEqual([[[['first', 'second']]], [[['first', 'second']]]]);
  expect(planBoth(engine, 'A', 'B')).toEqual([[[['to the circle']]], [[['to the circle']]]]);
});

it('live times of a block whose runs form a circle at one time are computed, and journeys are still found', () => {
  const engine = openEngine(timetable.packed);
  const time = { time: (MIDNIGHT + 9.2 * HOUR) / 1000, delay: 120 };
  const late = (tripId: string, ...stopIds: string[]) => ({
    tripId,
    startDate: DATE,
    stops: stopIds.map((stopId) => ({ stopId, arrival: time, departure: time })),
  });
  const trips = [late('there', 'B', 'C'), late('back', 'C', 'B'), late('first', 'D', 'E')];
  engine.use([snapshotOf(timetable, { timestamp: NOW / 1000, trips })]);
  expect(planBoth(engine, 'D', 'F')).toEqual([[[['first', 'second']]], [[['first', 'second']]]]);
  expect(planBoth(engine, 'A', 'B')).toEqual([[[['to the circle']]], [[['to the circle']]]]);
});

it('a rider waits for the vehicle that continues to the destination where an earlier one does not', () => {
  const through = timetableOf(
    scheduleFile('buses', {
      stops,
      trips: [
        trip('feeder', null, ['A', '09:00'], ['B', '09:10']),
        trip('ends', null, ['B', '09:15'], ['C', '09:25']),
        trip('goes on elsewhere', 'other', ['B', '09:18'], ['C', '09:28']),
        trip('elsewhere', 'other', ['C', '09:29'], ['E', '09:40']),
        trip('goes on', 'block', ['B', '09:20'], ['C', '09:30']),
        trip('after it', 'block', ['C', '09:31'], ['D', '09:40']),
      ],
    }),
  );
  const engine = openEngine(through.packed);
  expect(planBoth(engine, 'A', 'D', through)).toEqual([
    [[['feeder'], ['goes on', 'after it']]],
    [[['feeder'], ['goes on', 'after it']]],
  ]);
});

it('the search handles a vehicle that serves 20,000 lines one after the other', () => {
  const count = 20_000;
  const draft = createDraft([0, 1]);
  for (let at = 0; at < count; at++) {
    draft.addRun({ trip: at, day: 0, start: at, arrivals: 0, departures: 0 });
    draft.closeLines([at, at + 1], [MAY_BOARD, MAY_ALIGHT], 0);
  }
  const lines = draft.finish(count + 1);
  for (let run = 0; run + 1 < count; run++) lines.nextRuns[run] = run + 1;
  const noWalks = { first: new Int32Array(count + 2), targets: new Int32Array(0), seconds: new Int32Array(0) };
  const rows: TimeLeftRows = { alighted: [], ready: [], aboard: [], of: null };
  const window = createWindow(lines, createWindowVisits(lines.stopCount));
  window.open(0, count);
  const left = createTimeLeft(lines, rows, window);
  left.begin({ egress: [{ stop: count, seconds: 0 }], changeSeconds: 0, footpaths: noWalks });
  left.extend(1);
  expect(rows.aboard[1]?.[0]).toBe(count);
});
