import { beforeAll, describe, expect, it } from 'vitest';
import { Runs } from '#src/boards/runs.ts';
import type { CallUpstream, QueryUpstream } from '#src/efa/query-upstream.ts';
import { withFeeds, withFeedTimes } from '#src/journeys/feed-times.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { LEG_DEFAULTS, type Leg, type LegEnd } from '#src/transit/journey.ts';
import { createSandboxService, MIDNIGHT } from '#test/realtime/agreement/sandbox-service.ts';
import type { TripSpec } from '#test/realtime/feed-bytes.ts';
import {
  arrives,
  at,
  departs,
  NOW,
  noData,
  predict,
  run,
  skipped,
  TRIP,
  timetable,
  trip,
  update,
} from '#test/realtime/prediction/predicted.ts';

const MINUTE = 60_000;
/** A ferry and a train, and trains with a change. */
const PAIRS = [
  ['202020', '209573'],
  ['214710', '200020'],
  ['202020', '215020'],
] as const;

type Body = Awaited<ReturnType<Awaited<ReturnType<typeof createSandboxService>>['trips']>>;
const plain = (body: Body) => JSON.parse(JSON.stringify(body, (key, value) => (key === 'calls' ? undefined : value)));

describe('journeys of the trip planner', () => {
  const kept = new Map<string, ReturnType<CallUpstream>>();
  /** An upstream that always sends its first response again. */
  const keep = (callUpstream: CallUpstream) =>
    ((...sent: Parameters<CallUpstream>) => {
      const key = JSON.stringify(sent[0]);
      const response = kept.get(key) ?? callUpstream(...sent);
      kept.set(key, response);
      return response;
    }) as QueryUpstream;
  let service: Awaited<ReturnType<typeof createSandboxService>>;
  beforeAll(async () => {
    service = await createSandboxService(keep);
  });

  it('`include=calls` adds the calls of each ride and changes nothing else', async () => {
    service.advanceTo(MIDNIGHT + 8 * 60 * MINUTE);
    let live = 0;
    for (const [from, to] of PAIRS) {
      const query = { from, to, path: 'none', include: 'ids' };
      const without = await service.trips(query);
      const withCalls = await service.trips({ ...query, include: 'ids,calls' });
      expect(plain(withCalls)).toEqual(plain(without));
      for (const { calls, origin, destination, is_live } of withCalls.flatMap(({ legs }) => legs)) {
        if (!calls?.length) continue;
        expect(calls[0]?.departs_at_realtime).toBe(origin.departs_at_realtime);
        expect(calls.at(-1)?.arrives_at_realtime).toBe(destination.arrives_at_realtime);
        if (is_live) live++;
      }
    }
    expect(live).toBeGreaterThan(5);
  });

  it('each ride has the `line_id` of its run, as on boards', async () => {
    service.advanceTo(MIDNIGHT + 8 * 60 * MINUTE);
    const named: string[] = [];
    for (const [from, to] of PAIRS) {
      const journeys = await service.trips({ from, to, path: 'none', include: 'ids' });
      for (const { mode, route, line_id: line } of journeys.flatMap(({ legs }) => legs)) {
        if (mode === 'walk') expect(line).toBeNull();
        else expect(line).toBe(`${mode}_${route}`);
        if (line) named.push(line);
      }
    }
    expect(named.length).toBeGreaterThan(5);
  });

  it('a cached response has the times of the newest feeds, as boards and runs have', async () => {
    const start = MIDNIGHT + 8 * 60 * MINUTE;
    const query = { from: '202020', to: '215020', path: 'none', include: 'ids,calls' };
    service.advanceTo(start);
    const before = await service.trips(query);
    service.advanceTo(start + 4 * MINUTE);
    const shown = await service.trips(query);
    expect(plain(shown)).not.toEqual(plain(before));
    let compared = 0;
    for (const { run_id: id, mode, origin } of shown.flatMap(({ legs }) => legs)) {
      if (mode === 'walk' || !id || origin.departs_at_realtime === null) continue;
      const { calls } = await service.run(id);
      const here = calls?.find(({ stop_id }) => stop_id === origin.stop_id);
      expect(here?.departs_at_realtime).toBe(origin.departs_at_realtime);
      compared++;
    }
    expect(compared).toBeGreaterThan(3);
  });
});

describe('a ride of the trip planner', () => {
  const block = { blockId: 'b' };
  const planned = timetable([
    run('R', [-8, ['S1', 5, 6], 10, 15]),
    run('Q', [20, 30]),
    run('M', [20, 30, 40], block),
    run(
      'N',
      [
        ['C', 42],
        ['D', 50],
      ],
      block,
    ),
  ]);
  const end = (stopId: string, minutes: number, more: Partial<LegEnd> = {}): LegEnd => ({
    stopId,
    ids: [stopId],
    name: stopId,
    platform: null,
    position: [-33, 151],
    isAccessible: null,
    parent: null,
    parentId: null,
    plannedAt: at(minutes) * 1000,
    realtimeAt: null,
    ...more,
  });
  const ride = (more: Partial<Leg> = {}): Leg => ({
    ...LEG_DEFAULTS,
    mode: 'bus',
    runId: 'R',
    route: 'R',
    origin: end('S1', 6, { ids: ['S1', 'S'], parentId: 'S' }),
    destination: end('D', 15),
    durationMs: 540_000,
    stops: 1,
    listCalls: () => null,
    ...more,
  });
  const feedsOf = (...trips: TripSpec[]) => {
    const live = new LiveTimetable(planned, [predict(planned, trips)]);
    const feeds = {
      request: () => {},
      untilRead: async () => {},
      snapshot: () => live,
      freshUntil: () => NOW,
      list: () => [],
    };
    return new Runs({ now: () => NOW, feeds, timetable: { get: () => planned } });
  };
  const laid = (leg: Leg, ...trips: TripSpec[]) => withFeedTimes(leg, feedsOf(...trips)).leg;
  const minutes = (moment: number | null) => moment && (moment - NOW) / MINUTE;
  const timesOf = ({ origin, destination, isLive }: Leg) => [
    minutes(origin.realtimeAt),
    minutes(destination.realtimeAt),
    isLive,
  ];

  it('a ride of the trip planner has the times of its run, whatever the trip planner says', () => {
    const own = ride({ isLive: true, origin: { ...ride().origin, realtimeAt: at(6) * 1000 } });
    expect(timesOf(laid(own, trip('R', [update('S1', { delay: 120 })])))).toEqual([8, 17, true]);
    expect(timesOf(laid(own, trip('R', [noData('S1'), noData('D')])))).toEqual([null, null, false]);
    expect(timesOf(laid(own))).toEqual([null, null, false]);
  });
  it('a ride of the trip planner stays as it is if its feed is unavailable, and is not live if its run is unknown', () => {
    const away = new Runs({ now: () => NOW, timetable: { get: () => planned } });
    const own = ride();
    expect(withFeedTimes(own, away).leg).toBe(own);
    expect(laid(ride({ runId: 'elsewhere' }), trip('R', [update('S1', { delay: 120 })])).isLive).toBe(false);
  });
  it('begins at the platform to which a feed has moved its run', () => {
    const { origin } = laid(ride(), trip('R', [departs('S2', { delay: 60 }), arrives('D', { delay: 60 })]));
    expect([origin.stopId, origin.ids, origin.parentId, minutes(origin.realtimeAt)]).toEqual([
      'S2',
      ['S2', 'S'],
      'S',
      7,
    ]);
  });
  it('a ride of the trip planner is cancelled if the run is, skips an end, or ends before', () => {
    const isCancelled = (one: TripSpec) => laid(ride(), one).isCancelled;
    expect(isCancelled(trip('R', [], { scheduleRelationship: TRIP.canceled }))).toBe(true);
    expect(isCancelled(trip('R', [skipped('S1'), update('D', { delay: 0 })]))).toBe(true);
    expect(isCancelled(trip('R', [update('A', { delay: 0 }), skipped('D')]))).toBe(true);
    expect(isCancelled(trip('R', [update('S1', { delay: 0 }), skipped('C')]))).toBe(false);
  });
  it('a ride of the trip planner is cancelled if its vehicle goes no further than where it boards, also at the first stop', () => {
    const endsAtStart = [update('S1', { delay: 0 }), skipped('C'), skipped('D')];
    expect(laid(ride(), trip('R', endsAtStart)).isCancelled).toBe(true);
    const first = ride({ runId: 'Q', origin: end('A', 20), destination: end('B', 30) });
    expect(laid(first, trip('Q', [update('A', { delay: 0 }), skipped('B')])).isCancelled).toBe(true);
    expect(laid(first, trip('Q', [update('A', { delay: 0 })])).isCancelled).toBe(false);
  });
  it('is cancelled if its vehicle ends the run early and continues as the next one without riders', () => {
    const through = ride({ runId: 'M', origin: end('A', 20), destination: end('D', 50) });
    expect(laid(through, trip('M', [update('A', { delay: 0 }), skipped('C')])).isCancelled).toBe(true);
    expect(laid(through, trip('M', [update('A', { delay: 0 }), skipped('B')])).isCancelled).toBe(false);
  });
  it('runs if a feed says so although the trip planner has cancelled it, and else stays cancelled', () => {
    const off = ride({ isCancelled: true });
    expect(laid(off, trip('R', [update('S1', { delay: 0 })])).isCancelled).toBe(false);
    expect(laid(off).isCancelled).toBe(true);
  });
  it('never arrives before it leaves, although its vehicle has left early', () => {
    const leg = laid(ride(), trip('R', [update('D', { time: -1 })]));
    expect(timesOf(leg)).toEqual([-2.5, -1, true]);
  });
  it('a ride of the trip planner is not offered when its vehicle has left before the planned time', () => {
    const options = { cancelled: 'exclude', now: NOW } as const;
    const gone = feedsOf(trip('R', [update('D', { time: 7 })]));
    expect(withFeeds([{ legs: [ride()] }], gone, options)).toMatchObject({
      journeys: [],
      leftOut: { 'has left': 1 },
    });
    const off = feedsOf(trip('R', [], { scheduleRelationship: TRIP.canceled }));
    expect(withFeeds([{ legs: [ride()] }], off, options)).toMatchObject({ journeys: [], leftOut: { cancelled: 1 } });
    expect(withFeeds([{ legs: [ride()] }], off, { ...options, cancelled: 'include' }).journeys).toHaveLength(1);
  });
});
