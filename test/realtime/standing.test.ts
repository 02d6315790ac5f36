import { expect, it } from 'vitest';
import { getScheduledBoard } from '#src/boards/scheduled.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { MODES } from '#src/transit/mode.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import { scheduleFile } from '../support/schedule-file.ts';
import { currentOf, timetableOf } from '../support/timetable.ts';
import { at, NOW, predict, run, STOPS, trip, update } from './prediction/predicted.ts';

const SECOND_MS = 1000;
const planned = timetableOf(
  scheduleFile('buses', { stops: STOPS, trips: [run('R', [-10, -4, 5])], firstDay: '20261120', lastDay: '20261205' }),
);
const trips = [trip('R', [update('B', { time: -3 }), update('C', { time: 6 })])];
const stands = [
  {
    trip: { tripId: 'R' },
    position: { latitude: -33, longitude: 151 },
    timestamp: at(0),
    currentStatus: 1,
    stopId: 'B',
  },
];

/** What a board of B, and a journey from B to C, show of the run half a minute after the feed. */
async function shown(vehicles: typeof stands) {
  const snapshot = predict(planned, trips, { vehicles });
  const now = NOW + 30 * SECOND_MS;
  const board = getScheduledBoard(
    {
      queryUpstream: () => Promise.reject(new Error('no upstream call is expected')),
      request: { kind: 'departureMonitor', stopId: 'B', modes: MODES, at: null, isArrival: false },
      limit: 10,
      showsCancelled: true,
      isWanted: () => true,
    },
    null,
    { live: new LiveTimetable(planned, [snapshot]), stop: planned.findStop('B') as number, now },
  );
  const engine = createInlineEngine(planned);
  engine.take([snapshot]);
  const source = timetableJourneys({ timetable: currentOf(planned), engines: engine, feeds: null, now: () => now });
  const { journeys } = await source.fetch({
    from: 'B',
    to: 'C',
    isArrival: false,
    at: null,
    modes: MODES,
    isAccessible: false,
    cancelled: 'exclude',
    mayBeNone: true,
  });
  return {
    board: board.departures.map(({ state }) =>
      state.kind === 'live' ? (state.leavesAt - NOW) / SECOND_MS : state.kind,
    ),
    journeys: journeys.map(({ legs }) => (Number(legs[0]?.origin.realtimeAt) - NOW) / SECOND_MS),
  };
}

it('boards and journeys have a run whose vehicle stands at the stop, though its time there has gone by', async () => {
  expect(await shown([])).toEqual({ board: [], journeys: [] });
  expect(await shown(stands)).toEqual({ board: [0], journeys: [0] });
});
