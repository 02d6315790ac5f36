import { describe, expect, it } from 'vitest';
import { Feed } from '#src/realtime/feed/feed.ts';
import { parseFeed, UndecodableFeed } from '#src/realtime/feed/feed-reader.ts';
import { FailedPoll } from '#src/realtime/polling/feed-client.ts';
import { findFeedProblem, UNREAD } from '#src/realtime/polling/feed-health.ts';
import type { FeedSharing, PolledState } from '#src/realtime/polling/feed-sharing.ts';
import { type FeedId, intervalOf } from '#src/realtime/polling/feed-source.ts';
import { createFeedPoller } from '#src/realtime/polling/poller.ts';
import type { Snapshot } from '#src/realtime/snapshot.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { createSimulatedClock, type SimulatedClock } from '#test/support/simulated-clock.ts';
import { encodeFeed } from '../feed-bytes.ts';
import { createReader } from '../reader.ts';

/** 11:00 in Sydney. */
const NOON = '2026-01-14T00:00:00Z';
const TRIPS = Array.from({ length: 30 }, (_, run) => ({ tripId: `run ${run}` }));
const POSITIONS = 'sydneytrains-positions';
const soundAt = (now: number, trips = TRIPS) => encodeFeed({ timestamp: Math.floor(now / 1000) - 5, trips });

/** An in-memory store that the instances share. */
function createMadeUpStore(clock: SimulatedClock) {
  const needs = new Map<FeedId, number>();
  const states = new Map<FeedId, PolledState>();
  const published = new Map<FeedId, Feed>();
  let lease = { holder: 0, until: 0 };
  let instances = 0;
  return (): FeedSharing => {
    const me = ++instances;
    return {
      async lead() {
        if (lease.holder !== me && clock.now() < lease.until) return false;
        lease = { holder: me, until: clock.now() + 10_000 };
        return true;
      },
      async publishNeeds(own) {
        for (const [source, at] of own) needs.set(source, at);
      },
      loadRequests: async () => new Map(needs),
      async publish(source, state, bytes) {
        if (bytes) published.set(source, new Feed(bytes));
        states.set(source, structuredClone(state));
      },
      withdraw: async (source) => void states.delete(source),
      loadStates: async () => new Map(states),
      loadFeed: async (source) => published.get(source) ?? null,
      close: async () => {
        if (lease.holder === me) lease = { holder: 0, until: 0 };
      },
    };
  };
}

interface Instance {
  poller: ReturnType<typeof createFeedPoller>;
  /** Marks the train feed as needed. */
  need(): void;
  /** Marks the positions of trains as viewed. */
  watch(): void;
  /** Stops the instance like `kill -9`: its timers end without notice to others. */
  kill(): void;
}

function createInstances(count: number) {
  const clock = createSimulatedClock(NOON);
  const share = createMadeUpStore(clock);
  const polls: { instance: number; source: FeedId; at: number }[] = [];
  const upstream = { response: (): Buffer => soundAt(clock.now()) };
  const log = createTestLog();
  const instances = Array.from({ length: count }, (_, instance): Instance => {
    let isKilled = false;
    const poller = createFeedPoller({
      client: {
        fetch: async (source) => {
          polls.push({ instance, source, at: clock.now() });
          return upstream.response();
        },
      },
      reader: createReader(),
      isCurrent: () => true,
      sharing: share(),
      clock: { now: clock.now, after: (ms, task) => clock.after(ms, () => (isKilled ? undefined : task())) },
      log,
    });
    return {
      poller,
      need: () => poller.request(['sydneytrains']),
      watch: () => poller.request([POSITIONS]),
      kill() {
        isKilled = true;
      },
    };
  });
  return { clock, polls, upstream, instances, first: instances[0] as Instance };
}

/** Why the train feed is rejected; null if it is believed. */
function problemOf({ poller }: Instance, now: number): string | null {
  const { health } = poller.feeds.get('sydneytrains') ?? { health: UNREAD };
  return findFeedProblem(health, intervalOf('sydneytrains'), now);
}

describe('a poller on a single instance', () => {
  it('the poller polls only needed feeds, until five minutes after the last need', async () => {
    const { clock, polls, first } = createInstances(1);
    await clock.advance(60_000);
    expect(polls).toEqual([]);
    first.need();
    await clock.advance(1000);
    expect(polls).toHaveLength(1);
    await clock.advance(280_000);
    expect(polls.length).toBeGreaterThan(8);
    await clock.advance(60_000);
    polls.length = 0;
    await clock.advance(600_000);
    expect(polls).toEqual([]);
    expect(first.poller.feeds.size).toBe(0);
  });

  it('the poller polls at the interval of the feed, one poll at a time', async () => {
    const { clock, polls, first } = createInstances(1);
    first.need();
    await clock.advance(300_000);
    const gaps = polls.slice(1).map(({ at }, index) => at - (polls[index]?.at ?? 0));
    expect(new Set(gaps)).toEqual(new Set([30_000]));
  });

  it('the poller stops polling when closed', async () => {
    const { clock, polls, first } = createInstances(1);
    first.need();
    await clock.advance(60_000);
    await first.poller.close();
    polls.length = 0;
    await clock.advance(60_000);
    expect(polls).toEqual([]);
  });

  it('the poller treats an unexpected error like a bad poll', async () => {
    const { clock, polls, upstream, first } = createInstances(1);
    upstream.response = () => {
      throw new TypeError('a defect of the reader');
    };
    first.need();
    await clock.advance(300_000);
    expect(polls.length).toBeGreaterThan(3);
    expect(polls.length).toBeLessThan(12);
    expect(problemOf(first, clock.now())).not.toBeNull();
  });

  const failing = (failure: 'not 200' | 'a web page' | 'no response' | 'no calls left') => () => {
    throw new FailedPoll(failure, failure);
  };
  const undecodable = () => {
    throw new UndecodableFeed('not a protobuf message');
  };
  const frozen = soundAt(new Date(NOON).getTime() + 60_000);
  it.each([
    ['an error status', failing('not 200'), 'not 200'],
    ['a web page', failing('a web page'), 'a web page'],
    ['no response', failing('no response'), 'no response'],
    ['no calls left', failing('no calls left'), 'no calls left'],
    ['undecodable bytes', undecodable, 'undecodable'],
    ['the same feed', () => frozen, 'a frozen header'],
    ['half the runs', (now: number) => soundAt(now, TRIPS.slice(0, 10)), 'halved'],
    ['a header of tomorrow', (now: number) => soundAt(now + 86_400_000), 'a header from the future'],
  ])(
    'the poller drops the feed after polls that give only %s, and recovers when that ends',
    async (_, response, problem) => {
      const { clock, upstream, first } = createInstances(1);
      first.need();
      await clock.advance(60_000);
      expect(problemOf(first, clock.now())).toBeNull();
      upstream.response = () => response(clock.now());
      await clock.advance(180_000);
      first.need();
      expect(problemOf(first, clock.now())).toBe(problem);
      upstream.response = () => soundAt(clock.now());
      await clock.advance(121_000);
      expect(problemOf(first, clock.now())).toBeNull();
    },
  );
});

describe('predicting again', () => {
  it('predicting again includes a publication that comes meanwhile, and keeps the snapshots in use', async () => {
    const clock = createSimulatedClock(NOON);
    const by = (timetable: string) => ({ about: { timetable } }) as Snapshot;
    const hold = Promise.withResolvers<void>();
    const poller = createFeedPoller({
      client: { fetch: async () => soundAt(clock.now()) },
      reader: {
        // The thread had not yet received the other timetable.
        parse: async (_, bytes) => ({ feed: new Feed(parseFeed(Buffer.from(bytes))), snapshot: by('old') }),
        open: (_, packed) => hold.promise.then(() => ({ feed: new Feed(packed), snapshot: by('new') })),
      },
      sharing: createMadeUpStore(clock)(),
      isCurrent: ({ about }) => about.timetable === 'old',
      clock,
      log: createTestLog(),
    });
    poller.request(['sydneytrains']);
    await clock.advance(1000);
    const isPredicted = poller.predictAgain();
    await clock.advance(60_000);
    hold.resolve();
    await isPredicted;
    const state = poller.feeds.get('sydneytrains');
    expect(state?.snapshots.map(({ about }) => about.timetable)).toEqual(['old', 'new']);
    expect(state?.feed?.headerAt).toBeGreaterThan(clock.now() - 40_000);
    await poller.close();
  });
});

describe.each([2, 4])('pollers on %i instances', (count) => {
  it(`one of ${count} instances polls for the needs of all, and all have its feeds`, async () => {
    const { clock, polls, instances } = createInstances(count);
    for (const instance of instances) instance.need();
    await clock.advance(60_000);
    expect(new Set(polls.map(({ instance }) => instance)).size).toBe(1);
    expect(polls.length).toBeLessThanOrEqual(5);
    for (const instance of instances) expect(problemOf(instance, clock.now())).toBeNull();
    expect(instances.filter(({ poller }) => poller.isLeader())).toHaveLength(1);
  });

  it(`the feeds of ${count} instances continue within 15 s when the polling instance is killed`, async () => {
    const { clock, polls, instances } = createInstances(count);
    for (const instance of instances) instance.need();
    // Just before the next poll.
    await clock.advance(79_000);
    const dead = instances.find(({ poller }) => poller.isLeader()) as Instance;
    const killedAt = clock.now();
    dead.kill();
    polls.length = 0;
    const others = instances.filter((one) => one !== dead);
    for (let second = 0; second < 60; second++) {
      await clock.advance(1000);
      for (const instance of others) expect(problemOf(instance, clock.now())).toBeNull();
    }
    expect(others.filter(({ poller }) => poller.isLeader())).toHaveLength(1);
    expect((polls[0]?.at ?? Number.POSITIVE_INFINITY) - killedAt).toBeLessThanOrEqual(15_000);
  });
});

describe('polling vehicle positions', () => {
  const vehiclesAt = (now: number, count = 30) =>
    encodeFeed({
      timestamp: Math.floor(now / 1000) - 5,
      vehicles: Array.from({ length: count }, (_, id) => ({
        trip: { tripId: `run ${id}` },
        position: { latitude: -33.8, longitude: 151.2 },
        timestamp: Math.floor(now / 1000) - 5,
        vehicle: { id: `${id}` },
      })),
    });

  it('vehicle positions are polled at once when viewed, until five minutes after the last view', async () => {
    const { clock, polls, upstream, first } = createInstances(1);
    upstream.response = () => vehiclesAt(clock.now());
    await clock.advance(30_000);
    expect(polls).toEqual([]);
    first.watch();
    await clock.advance(1000);
    expect(polls.map(({ source }) => source)).toEqual([POSITIONS]);
    expect(first.poller.feeds.get(POSITIONS)?.feed?.vehicleCount).toBe(30);
    await clock.advance(310_000);
    expect(first.poller.feeds.size).toBe(0);
    polls.length = 0;
    await clock.advance(600_000);
    expect(polls).toEqual([]);
  });

  it('one instance polls vehicle positions for all, and only instances with viewers read them', async () => {
    const { clock, polls, upstream, instances } = createInstances(3);
    upstream.response = () => vehiclesAt(clock.now());
    await clock.advance(10_000);
    const [watcher, idle] = instances.filter(({ poller }) => !poller.isLeader());
    watcher?.watch();
    await clock.advance(6000);
    expect(watcher?.poller.feeds.get(POSITIONS)?.feed?.vehicleCount).toBe(30);
    expect(idle?.poller.feeds.size).toBe(0);
    expect(polls.map(({ instance }) => instances[instance]?.poller.isLeader())).toEqual([true]);
    await clock.advance(310_000);
    expect(instances.map(({ poller }) => poller.feeds.size)).toEqual([0, 0, 0]);
  });

  it.each<[string, (now: number) => Buffer, string]>([
    ['freeze', () => vehiclesAt(Date.parse(NOON) + 60_000), 'a frozen header'],
    ['halve', (now) => vehiclesAt(now, 10), 'halved'],
    ['contain trips instead', (now) => soundAt(now), 'halved'],
  ])('vehicle positions that %s are rejected', async (_, response, problem) => {
    const { clock, upstream, first } = createInstances(1);
    upstream.response = () => vehiclesAt(clock.now());
    const play = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 10) {
        first.watch();
        await clock.advance(10_000);
      }
    };
    await play(60);
    upstream.response = () => response(clock.now());
    await play(180);
    const state = first.poller.feeds.get(POSITIONS);
    expect(state && findFeedProblem(state.health, intervalOf(POSITIONS), clock.now())).toBe(problem);
  });
});
