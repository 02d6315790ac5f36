import bindings from 'gtfs-realtime-bindings';
import { beforeAll, describe, expect, it } from 'vitest';
import { feedResponse } from '#sandbox/feeds/feed.ts';
import { createSandboxService } from './sandbox-service.ts';

/** 08:00 in Sydney, a Wednesday. */
const MORNING = Date.parse('2026-11-17T21:00:00Z');
/** Central, Town Hall, Parramatta, Chatswood, Bondi Junction. */
const STOPS = ['200060', '200070', '215020', '206710', '202210'];
const ON_WORDS = ['MANY_SEATS', 'MANY_SEATS', 'FEW_SEATS', 'STANDING_ONLY'];

type Carriages = { position: number; occupancy: string | null }[] | null;

/** Carriages by run and stop, read by the reference bindings and, for the fields they do not know, by hand. */
function readExpected(network: Parameters<typeof feedResponse>[0]): Map<string, Carriages> {
  const bytes = feedResponse(network, 'sydneytrains', MORNING / 1000);
  const { entity } = bindings.transit_realtime.FeedMessage.decode(bytes);
  const updates = entity.flatMap(({ tripUpdate }) =>
    (tripUpdate?.stopTimeUpdate ?? []).map((update) => ({ id: `${tripUpdate?.trip.tripId} ${update.stopId}`, update })),
  );
  return new Map(
    updates.flatMap(({ id, update }) => {
      // A two-byte tag, the length, then tag and value of position and occupancy.
      const carriages = (update.$unknowns ?? []).filter(([first, second]) => first === 0xfa && second === 0x3e);
      const body = carriages.map((bytes) => ({ position: bytes[4] ?? 0, occupancy: ON_WORDS[bytes[6] ?? -1] ?? null }));
      return body.length > 0 ? [[id, body] as const] : [];
    }),
  );
}

let service: Awaited<ReturnType<typeof createSandboxService>>;
let expected: Map<string, Carriages>;
beforeAll(async () => {
  service = await createSandboxService();
  service.advanceTo(MORNING);
  expected = readExpected(service.network);
});

/** The feed's prediction for a call; where a run continues as another, the predictions of both. */
const inFeed = (trip: string | null | undefined, stop: string) => expected.get(`${trip} ${stop}`) ?? null;

/** The body without carriages, and without its retrieval time, which may be that of an older feed. */
function plain(body: object): unknown {
  return JSON.parse(
    JSON.stringify(body, (key, value) => (key === 'carriages' || key === 'retrieved_at' ? undefined : value)),
  );
}

/** Counts carriage lists by their length. */
function count(lengths: Map<number | undefined, number>, carriages: Carriages | undefined) {
  lengths.set(carriages?.length, (lengths.get(carriages?.length) ?? 0) + 1);
}

describe('the carriages of boards, runs and journeys', () => {
  it('`include=carriages` gives departures and their calls the carriages of the feed, and changes nothing else', async () => {
    const lengths = new Map<number | undefined, number>();
    for (const stop of STOPS) {
      const query = { stop, modes: 'all', limit: '50', include: 'ids,calls', cancelled: 'include' };
      const without = await service.direct(query);
      const withThem = await service.direct({ ...query, include: 'ids,calls,carriages' });
      expect(plain(withThem)).toEqual(plain(without));
      expect(JSON.stringify(without)).not.toContain('carriages');
      for (const { trip_id: trip, mode, calls, carriages, cancelled } of withThem.departures) {
        count(lengths, carriages);
        const [here, ...others] = calls ?? [];
        if (!here) continue;
        expect({ trip, carriages }).toEqual({ trip, carriages: cancelled ? null : inFeed(trip, here.stop_id) });
        for (const call of [here, ...others]) {
          if (mode !== 'train') expect(call.carriages).toBeNull();
          else expect({ trip, call: call.carriages }).toEqual({ trip, call: inFeed(trip, call.stop_id) });
        }
      }
    }
    expect([...lengths.keys()].toSorted()).toEqual([4, 8, undefined]);
    expect(lengths.get(8)).toBeGreaterThan(20);
  });

  it('departures have the same carriages with and without calls', async () => {
    const query = { stop: '200070', modes: 'train', limit: '50' };
    const [alone, withCalls] = [
      await service.direct({ ...query, include: 'carriages' }),
      await service.direct({ ...query, include: 'calls,carriages' }),
    ];
    const carriagesOf = ({ departures }: typeof alone) => departures.map(({ carriages }) => carriages);
    expect(carriagesOf(alone)).toEqual(carriagesOf(withCalls));
    expect(carriagesOf(alone).filter((one) => one).length).toBeGreaterThan(5);
  });

  it('runs, rides and followed journeys have the carriages of the feed', async () => {
    const lengths = new Map<number | undefined, number>();
    const journeys: Awaited<ReturnType<typeof service.trips>> = [];
    const alone: typeof journeys = [];
    for (const [from, to] of [
      ['200060', '215020'],
      ['200070', '206710'],
      ['202210', '200060'],
      ['215020', '200070'],
    ]) {
      const query = { from: from ?? '', to: to ?? '', limit: '6', path: 'none', include: 'ids,calls' };
      const withThem = await service.trips({ ...query, include: 'ids,calls,carriages' });
      expect(plain(withThem)).toEqual(plain(await service.trips(query)));
      journeys.push(...withThem);
      alone.push(...(await service.trips({ ...query, include: 'carriages' })));
    }
    for (const [place, journey] of journeys.entries()) {
      for (const [index, { mode, trip_id: trip, origin, carriages, calls, run_id: run }] of journey.legs.entries()) {
        count(lengths, carriages);
        expect(alone[place]?.legs[index]?.carriages).toEqual(carriages);
        if (mode !== 'train') {
          expect(carriages).toBeNull();
          continue;
        }
        expect(carriages).toEqual(inFeed(trip, origin.stop_id));
        for (const call of calls ?? []) expect(call.carriages).toEqual(inFeed(trip, call.stop_id));
        const [found, plainRun] = [
          await service.run(run ?? '', { include: 'carriages' }),
          await service.run(run ?? ''),
        ];
        expect(plain(found)).toEqual(plain(plainRun));
        expect(JSON.stringify(plainRun)).not.toContain('carriages');
        for (const call of found.calls ?? []) expect(call.carriages).toEqual(inFeed(trip, call.stop_id));
      }
      const id = journey.journey_id ?? '';
      const { callCount, ...followed } = await service.follow(id, { include: 'calls,carriages' });
      const { callCount: callsBefore, ...plainJourney } = await service.follow(id, { include: 'calls' });
      expect([plain(followed), callCount]).toEqual([plain(plainJourney), callsBefore]);
      for (const { mode, trip_id: trip, origin, carriages, calls } of followed.journey.legs) {
        expect(carriages).toEqual(mode === 'train' ? inFeed(trip, origin.stop_id) : null);
        for (const call of mode === 'train' ? (calls ?? []) : []) {
          expect(call.carriages).toEqual(inFeed(trip, call.stop_id));
        }
      }
    }
    expect([...lengths.values()].reduce((sum, one) => sum + one)).toBeGreaterThan(5);
    expect(lengths.get(8)).toBeGreaterThan(0);
  });
});
