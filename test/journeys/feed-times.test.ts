import { describe, expect, it } from 'vitest';
import { Runs } from '#src/boards/runs.ts';
import { monitorBoards } from '#src/boards/source.ts';
import { readTrip } from '#src/efa/payload.ts';
import type { JsonObject } from '#src/efa/response/field.ts';
import { withFeedTimes } from '#src/journeys/feed-times.ts';
import type { Journey } from '#src/journeys/journey.ts';
import { mapJourneys } from '#src/journeys/map.ts';
import { createFollowOperation } from '#src/operations/more/follow/operation.ts';
import { createTripsOperation } from '#src/operations/trips/operation.ts';
import type { JourneyBody } from '#src/operations/trips/response.ts';
import type { RunCall } from '#src/transit/call.ts';
import { createPlayedService, startPlayedSandbox } from '#test/realtime/service/played-service.ts';
import { ids } from '#test/support/ids.ts';
import { listPairs, type Pair } from '#test/support/pairs.ts';

const operation = createTripsOperation({ stops: { get: () => null } });

describe('feed times in journeys', () => {
  it('the calls of a cached journey get their times from newer feeds, as its legs do, without an upstream call', async () => {
    const sandbox = await startPlayedSandbox('2026-11-19T21:00:20Z');
    const { clock, callUpstream } = sandbox;
    const service = createPlayedService(sandbox);
    const sources = ['sydneytrains', 'buses', 'metro'] as const;
    const runs = new Runs({ now: clock.now, feeds: service.feeds });
    const now = () => new Date(clock.now());
    const run = () => Promise.reject(new Error('no other operation is run'));
    const find = async (answer: typeof callUpstream, query: Record<string, string>) => {
      const parsed = operation.query.parse({ from: '202020', to: '215020', path: 'none', ...query });
      const context = { queryUpstream: answer, boards: monitorBoards, runs, now, ids, run };
      return (await operation.find(parsed, context)).body.journeys;
    };
    try {
      await service.poll(sources);
      const sent = { date: '20261120', time: '0805' };
      const kept = new Map<string, Awaited<ReturnType<typeof callUpstream>>>();
      const once = (async (...one: Parameters<typeof callUpstream>) => {
        const key = JSON.stringify(one[0]);
        const response = kept.get(key) ?? (await callUpstream(...one));
        kept.set(key, response);
        return response;
      }) as typeof callUpstream;
      const timesOf = (journeys: readonly JourneyBody[]) =>
        new Map(
          journeys
            .flatMap(({ legs }) => legs)
            .filter(({ mode }) => mode === 'train')
            .flatMap(({ trip_id, calls }) =>
              (calls ?? []).map((call): [string, string | null] => [
                `${trip_id} ${call.stop_id}`,
                call.arrives_at_realtime ?? call.departs_at_realtime,
              ]),
            ),
        );
      const included = { ...sent, include: 'calls,ids' };
      const before = await find(once, included);
      const noted = kept.size;
      await clock.advance(4 * 60_000);
      const after = await find(once, included);
      expect(kept.size).toBe(noted);
      const fresh = timesOf(await find(callUpstream, included));
      const [old, shown] = [timesOf(before), timesOf(after)];
      expect(shown.size).toBeGreaterThan(20);
      expect(shown).toEqual(fresh);
      expect(shown).not.toEqual(old);
      for (const leg of after.flatMap(({ legs }) => legs).filter(({ calls }) => calls?.length)) {
        expect(leg.calls?.[0]?.departs_at_realtime).toBe(leg.origin.departs_at_realtime);
        expect(leg.calls?.at(-1)?.arrives_at_realtime).toBe(leg.destination.arrives_at_realtime);
        expect(leg.calls?.every((call) => !('cancelled' in call))).toBe(true);
      }
      // Without calls the response keeps upstream's times.
      const plain = await find(once, sent);
      const twice = await find(once, { ...sent, limit: '5' });
      expect(plain).toEqual(twice);
      expect(plain[0]?.legs.map(({ origin }) => origin.departs_at_realtime)).toEqual(
        before[0]?.legs.map(({ origin }) => origin.departs_at_realtime),
      );
    } finally {
      await sandbox.close();
    }
  });

  it('the calls and legs of a followed journey agree when newer feeds change the times of its rides', async () => {
    const sandbox = await startPlayedSandbox('2026-11-19T21:00:20Z');
    const { clock, callUpstream } = sandbox;
    const service = createPlayedService(sandbox);
    const now = () => new Date(clock.now());
    const context = {
      boards: monitorBoards,
      runs: new Runs({ now: clock.now, feeds: service.feeds }),
      now,
      ids,
      run: () => Promise.reject(new Error('no other operation is run')),
    };
    const follow = createFollowOperation({ stops: { get: () => null }, listAlerts: async () => [] });
    try {
      // No ferry feed is polled, so each journey needs an upstream call.
      await service.poll(['sydneytrains']);
      const sent = { from: '202020', to: '209573', path: 'none', include: 'ids', limit: '6' };
      const { body } = await operation.find(operation.query.parse(sent), { ...context, queryUpstream: callUpstream });
      const kept = new Map<string, Awaited<ReturnType<typeof callUpstream>>>();
      const once = (async (...one: Parameters<typeof callUpstream>) => {
        const key = JSON.stringify(one[0]);
        const response = kept.get(key) ?? (await callUpstream(...one));
        kept.set(key, response);
        return response;
      }) as typeof callUpstream;
      let moved = 0;
      for (let step = 0; step < 5; step++) {
        for (const { journey_id } of body.journeys) {
          const query = follow.query.parse({ journey_id, include: 'calls' });
          const { legs } = (await follow.find(query, { ...context, queryUpstream: once })).body.journey;
          for (const { calls, origin, destination } of legs.filter((leg) => leg.calls?.length)) {
            expect(calls?.[0]?.departs_at_realtime).toBe(origin.departs_at_realtime);
            expect(calls?.at(-1)?.arrives_at_realtime).toBe(destination.arrives_at_realtime);
            if (origin.departs_at_realtime !== origin.departs_at) moved++;
          }
        }
        await clock.advance(2 * 60_000);
      }
      expect(moved).toBeGreaterThan(0);
    } finally {
      await sandbox.close();
    }
  });

  it('a ride keeps its times when those of the feeds are faster than any vehicle', async () => {
    const pair = listPairs('trips').find(({ name }) => name === 'controlled-without-estimate') as Pair;
    const payload = readTrip(pair.upstream.trip as JsonObject);
    const sent = { from: '200070', to: '214710', at: null, cancelled: 'exclude' } as const;
    const [journey] = (await mapJourneys(payload, sent, { get: () => null })).journeys as [Journey];
    const [leavesAt, arrivesAt] = [Date.parse('2026-04-15T06:27:00Z'), Date.parse('2026-04-15T06:30:00Z')];
    const freshness = { retrievedAt: 0, freshUntil: 0, staleUntil: 0, source: 'cache', shortage: null } as const;
    const feeds = (times: { leavesAt: number; arrivesAt: number }) => ({
      viewRide: (_: object, calls: readonly RunCall[]) => ({
        ...{ ...times, isCancelled: false, occupancy: null, calls: [...calls], freshness },
      }),
    });
    const liveOf = (times: { leavesAt: number; arrivesAt: number }) =>
      withFeedTimes(journey, feeds(times), 0).legs.map(({ isLive }) => isLive);
    expect(liveOf({ leavesAt, arrivesAt })).toEqual([true]);
    expect(liveOf({ leavesAt, arrivesAt: leavesAt })).toEqual([false]);
  });
});
