import { expect, it } from 'vitest';
import { findRide } from '#src/boards/ride.ts';
import { callsOfRun, findRun } from '#src/boards/run-calls.ts';
import { getScheduledBoard } from '#src/boards/scheduled.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { Vehicles } from '#src/realtime/vehicles.ts';
import { MODES } from '#src/transit/mode.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import { scheduleFile } from '../support/schedule-file.ts';
import { currentOf, timetableOf } from '../support/timetable.ts';
import { feedOf } from './feed-bytes.ts';
import { at, NOW, predict, run, STOPS, trip, update } from './prediction/predicted.ts';

/** An ID of Newcastle's light rail in the timetable, and in feeds of a later publication. */
const [PLANNED_ID, LIVE_ID] = ['70764.150626.31.0903', '70764.231126.31.0903'];
const MINUTE_MS = 60_000;

const planned = timetableOf(
  scheduleFile('newcastle', {
    stops: STOPS,
    routes: [{ id: 'R', mode: 'lightrail' }],
    trips: [run(PLANNED_ID, [3, 10, 20], { headsign: 'Newcastle Beach' })],
    firstDay: '20261120',
    lastDay: '20261205',
  }),
);
const late = { delay: 120 };
const trips = [trip(LIVE_ID, [update('A', late), update('B', late), update('C', late)])];
const snapshot = predict(planned, trips, { source: 'newcastle' });
const live = new LiveTimetable(planned, [snapshot]);
const start = { runId: LIVE_ID, mode: 'lightrail', stopId: 'A', plannedAt: NOW + 3 * MINUTE_MS } as const;

it('a board shows the live time of a run whose feed has its ID with another date', () => {
  const board = getScheduledBoard(
    {
      queryUpstream: () => Promise.reject(new Error('no upstream call is expected')),
      request: { kind: 'departureMonitor', stopId: 'A', modes: MODES, at: null, isArrival: false },
      limit: 10,
      showsCancelled: true,
      isWanted: () => true,
    },
    null,
    { live, stop: planned.findStop('A') as number, now: NOW },
  );
  expect(board.departures).toMatchObject([
    { runId: PLANNED_ID, state: { kind: 'live', leavesAt: NOW + 5 * MINUTE_MS } },
  ]);
});

it('a run, and a ride of the trip planner, are found by an ID with another date', () => {
  const found = findRun(live, start);
  const calls = found && callsOfRun(live, found.run).calls;
  expect(calls?.map(({ arrival }) => arrival?.realtimeAt ?? null)).toEqual([
    null,
    NOW + 12 * MINUTE_MS,
    NOW + 22 * MINUTE_MS,
  ]);
  expect(findRide(live, start, { listed: calls ?? [], now: NOW })).toMatchObject({
    isByFeed: true,
    source: 'newcastle',
  });
});

it('a vehicle whose feed has its ID with another date has its run, headsign and next arrival', async () => {
  const report = { trip: { tripId: LIVE_ID }, vehicle: { id: 'tram' }, position: { latitude: -33.5, longitude: 151 } };
  const positions = feedOf({ timestamp: NOW / 1000, vehicles: [{ ...report, timestamp: at(0) - 5 }] });
  const vehicles = new Vehicles({
    now: () => NOW,
    feeds: {
      snapshot: () => live,
      freshUntil: () => NOW,
      fetchVehicles: async (sources: readonly FeedSourceId[], criteria) =>
        sources.flatMap((source) =>
          source === 'newcastle' ? { source, vehicles: positions.listVehicles(criteria), headerAt: NOW } : [],
        ),
    },
  });
  const { vehicles: found } = await vehicles.fetch(['lightrail'], { tripId: PLANNED_ID });
  expect(found).toMatchObject([
    { tripId: PLANNED_ID, headsign: 'Newcastle Beach', start: { ...start, runId: PLANNED_ID } },
  ]);
  expect(found[0]?.findNextCall()).toEqual({ stopId: 'A', name: 'A', arrivesAt: NOW + 5 * MINUTE_MS });
});

it('a journey rides a run whose feed has its ID with another date at its live times', async () => {
  const engine = createInlineEngine(planned);
  engine.take([snapshot]);
  const source = timetableJourneys({ timetable: currentOf(planned), engines: engine, feeds: null, now: () => NOW });
  const { journeys } = await source.fetch({
    from: 'A',
    to: 'C',
    isArrival: false,
    at: null,
    modes: MODES,
    isAccessible: false,
    cancelled: 'exclude',
    mayBeNone: true,
  });
  const [leg] = journeys[0]?.legs ?? [];
  expect(leg?.origin.realtimeAt).toBe(NOW + 5 * MINUTE_MS);
  expect(leg?.destination.realtimeAt).toBe(NOW + 22 * MINUTE_MS);
});
