import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { BoardRequest } from '#src/boards/pager.ts';
import { callsOfRun } from '#src/boards/run-calls.ts';
import { getScheduledBoard } from '#src/boards/scheduled.ts';
import { type LiveRun, LiveTimetable } from '#src/realtime/live-timetable.ts';
import type { RunCall } from '#src/transit/call.ts';
import { type Departure, isCancelled, leavesAt } from '#src/transit/departure.ts';
import { MODES } from '#src/transit/mode.ts';
import type { StopSpec, TripSpec } from '../feed-bytes.ts';
import { at, clock, NOW, predict, run, TODAY, timetable } from '../prediction/predicted.ts';

const DAY = 20_784;
const MINUTE_MS = 60_000;
/** Street stops, and a station with two platforms. */
const STOPS = ['A', 'B', 'C', 'D', 'E', 'S1', 'S2'];
const BOARDS = ['A', 'B', 'C', 'D', 'E', 'S'];

/** The calls of a run in minutes after the feed; some wait, some vehicles go on as the next run. */
const runArbitrary = fc.record({
  start: fc.integer({ min: -40, max: 60 }),
  calls: fc.array(
    fc.record({
      stop: fc.constantFrom(...STOPS),
      ride: fc.constantFrom(0, 1, 2, 3.5, 7, 20),
      stay: fc.constantFrom(0, 0, 0, 1.5, 4),
    }),
    { minLength: 2, maxLength: 7 },
  ),
  block: fc.constantFrom(null, null, 'x', 'y'),
});

const timeArbitrary = fc.record(
  { delay: fc.constantFrom(-400, -90, 0, 0, 30, 150, 700, 4000, -90_000), time: fc.integer({ min: -30, max: 120 }) },
  { requiredKeys: [] },
);
const updateArbitrary = fc.record({
  isListed: fc.constantFrom(true, true, true, false),
  stopId: fc.constantFrom('same', 'same', 'same', 'same', 'none', ...STOPS, 'elsewhere'),
  hasSequence: fc.boolean(),
  scheduleRelationship: fc.constantFrom(undefined, 0, 0, 0, 1, 2),
  assignedStopId: fc.constantFrom(undefined, undefined, undefined, undefined, 'S1', 'S2'),
  arrival: fc.option(timeArbitrary, { nil: undefined }),
  departure: fc.option(timeArbitrary, { nil: undefined }),
  occupancy: fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined }),
});
const tripArbitrary = fc.record({
  of: fc.nat(),
  relationship: fc.constantFrom(undefined, 0, 0, 0, 0, 0, 1, 2, 3, 5, 6, 7, 8),
  id: fc.constantFrom('same', 'same', 'same', 'same', 'suffix', 'new'),
  dropped: fc.constantFrom(0, 0, 0, 1, 2, 3),
  isDated: fc.boolean(),
  delay: fc.constantFrom(undefined, undefined, undefined, 0, 240),
  timestamp: fc.constantFrom(undefined, at(-1), at(0)),
  updates: fc.array(updateArbitrary, { minLength: 7, maxLength: 7 }),
});

type Planned = ReturnType<typeof plan>[number];

function plan(runs: readonly (typeof runArbitrary extends fc.Arbitrary<infer Run> ? Run : never)[]) {
  return runs.map(({ start, calls, block }, number) => {
    let minutes = start;
    const made = calls.map(({ stop, ride, stay }, index): [string, number, number] => {
      const arrives = minutes + (index === 0 ? 0 : ride);
      minutes = arrives + stay;
      return [stop, arrives, minutes];
    });
    return run(`R${number}`, made, { blockId: block, headsign: 'elsewhere' });
  });
}

const defined = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function toTrip(runs: readonly Planned[], drawn: typeof tripArbitrary extends fc.Arbitrary<infer Trip> ? Trip : never) {
  const planned = runs[drawn.of % runs.length] as Planned;
  const stops = planned.calls.flatMap(([stop], index): StopSpec[] => {
    const { isListed, stopId, hasSequence, arrival, departure, ...more } = drawn.updates[
      index
    ] as (typeof drawn.updates)[0];
    if (!isListed || index < drawn.dropped) return [];
    const timeOf = (time: typeof arrival) =>
      time && { ...time, ...(time.time !== undefined && { time: at(time.time) }) };
    const id = stopId === 'same' ? stop : stopId === 'none' ? undefined : stopId;
    const sequence = hasSequence || id === undefined ? index + 1 : undefined;
    return [
      defined({ ...more, stopId: id, stopSequence: sequence, arrival: timeOf(arrival), departure: timeOf(departure) }),
    ];
  });
  const tripId = { same: planned.id, suffix: `${planned.id}_2`, new: 'X' }[drawn.id];
  const isCopy = drawn.relationship === 6;
  return {
    ...defined({
      startDate: drawn.isDated ? TODAY : undefined,
      scheduleRelationship: drawn.relationship,
      delay: drawn.delay,
      timestamp: drawn.timestamp,
    }),
    tripId,
    routeId: 'R',
    stops,
    ...(isCopy && { copy: { tripId: 'copy', startDate: TODAY, startTime: clock(25) } }),
  } as TripSpec;
}

/** A board of now with everything on it. */
function boardOf(live: LiveTimetable, stopId: string, isArrival: boolean) {
  const request: BoardRequest = {
    queryUpstream: () => Promise.reject(new Error('no upstream call is expected')),
    request: { kind: 'departureMonitor', stopId, modes: MODES, at: null, isArrival },
    limit: 300,
    showsCancelled: true,
    isWanted: () => true,
  };
  const stop = live.timetable.findStop(stopId) as number;
  const board = getScheduledBoard(request, null, { live, stop, now: NOW });
  return { stopId, isArrival, departures: board.departures, callsOf: board.callsOf };
}

const timeOf = (call: RunCall, isArrival: boolean) => (isArrival ? call.arrival : call.departure);
/** What a board and a run both say about a call. */
const toldBy = (one: Departure) => ({
  plannedAt: one.plannedAt,
  realtimeAt: one.state.kind === 'live' ? leavesAt(one) : null,
  stopId: one.stopId,
  platform: one.platform,
});
const toldOf = (call: RunCall, isArrival: boolean) => ({
  ...timeOf(call, isArrival),
  stopId: call.stopId,
  platform: call.platform,
});
const bestOf = (time: RunCall['arrival']) => time?.realtimeAt ?? time?.plannedAt;

function check(runs: readonly Planned[], trips: readonly TripSpec[]): number {
  const planned = timetable(runs);
  const snapshot = predict(planned, [...trips]);
  const live = new LiveTimetable(planned, [snapshot]);
  const ofTimetable = runs.map(({ id }) => live.run(planned.listTripsBetween(id)[0] as number, DAY));
  const added = Array.from({ length: snapshot.runCount - snapshot.tripCount }, (_, index) =>
    live.open({ snapshot, run: snapshot.tripCount + index }),
  );
  const all = [...ofTimetable, ...added];
  const viewOf = (one: LiveRun) => callsOfRun(live, one).calls.slice(0, one.calls.length);
  const boards = BOARDS.flatMap((stop) => [boardOf(live, stop, false), boardOf(live, stop, true)]);
  let shown = 0;

  for (const board of boards) {
    const { isArrival } = board;
    for (const departure of board.departures) {
      const told = toldBy(departure);
      expect(leavesAt(departure), 'nothing listed has left').toBeGreaterThanOrEqual(NOW - MINUTE_MS);
      const calls = all.filter(({ tripId }) => tripId === departure.runId).flatMap(viewOf);
      if (isCancelled(departure)) {
        // A vehicle that has moved elsewhere is cancelled where it does not call.
        const isThere = (call: RunCall) =>
          !call.isCancelled && JSON.stringify(toldOf(call, isArrival)) === JSON.stringify(told);
        expect(calls.filter((call) => isThere(call) && timeOf(call, isArrival)?.realtimeAt !== null)).toEqual([]);
        continue;
      }
      const running = calls.filter((call) => !call.isCancelled && timeOf(call, isArrival));
      expect(running.map((call) => toldOf(call, isArrival))).toContainEqual(told);
      if (isArrival) continue;
      const [here, ...others] = board.callsOf(departure) ?? [];
      expect(here && toldOf(here, false)).toEqual(told);
      const rest = JSON.stringify(others.map((call) => [call.stopId, call.arrival, call.departure, call.isCancelled]));
      const ofRun = calls.map((call) => [call.stopId, call.arrival, call.departure, call.isCancelled]);
      if (others.length > 0) expect(JSON.stringify(ofRun)).toContain(rest.slice(1, -1));
      shown++;
    }
  }

  for (const one of all) {
    const view = viewOf(one);
    // A call that only the feed has, at an impossible time, may be planned for any.
    const isSound = (index: number) => one.calls[index]?.isLive || (one.calls[index]?.position ?? -1) >= 0;
    const running = view.filter(({ isCancelled: isOff }, index) => !isOff && isSound(index));
    const times = running.flatMap(({ arrival, departure }) => [arrival, departure].flatMap((time) => time ?? []));
    let latest = Number.NEGATIVE_INFINITY;
    for (const time of times) {
      const best = time.realtimeAt ?? time.plannedAt;
      // Planned times are cut to the minute.
      expect(
        best + (time.realtimeAt === null ? MINUTE_MS - 1 : 0),
        `the calls of ${one.tripId}`,
      ).toBeGreaterThanOrEqual(latest);
      latest = best;
    }
    for (const [index, call] of view.entries()) {
      const source = one.calls[index] as LiveRun['calls'][0];
      if (call.isCancelled || source.hasLeft) continue;
      for (const isArrival of [false, true]) {
        const best = bestOf(timeOf(call, isArrival));
        const mayUse = isArrival ? source.mayAlight : source.mayBoard;
        if (best === undefined || best < NOW || !mayUse) continue;
        const at = live.timetable.stop(live.timetable.stationOf(source.stop)).id;
        const board = boards.find((other) => other.stopId === at && other.isArrival === isArrival);
        const ofRun =
          board?.departures.filter(({ runId, state }) => runId === one.tripId && state.kind !== 'cancelled') ?? [];
        expect(ofRun.map(toldBy), `${one.tripId} is missing at ${at}`).toContainEqual(toldOf(call, isArrival));
      }
    }
  }
  return shown;
}

it('boards of departures and arrivals, runs and `include=calls` say the same about each call, whatever the feed', () => {
  let shown = 0;
  const networks = fc.array(runArbitrary, { minLength: 1, maxLength: 6 });
  const feeds = fc.array(tripArbitrary, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(networks, feeds, (drawnRuns, drawnTrips) => {
      const runs = plan(drawnRuns);
      shown += check(
        runs,
        drawnTrips.map((drawn) => toTrip(runs, drawn)),
      );
    }),
    { numRuns: Number(process.env.READERS_RUNS ?? 150) },
  );
  expect(shown).toBeGreaterThan(200);
});
