import { describe, expect, it } from 'vitest';
import { Feed } from '#src/realtime/feed/feed.ts';
import { readFeed, UndecodableFeed } from '#src/realtime/feed/feed-reader.ts';
import { findGap } from '#src/realtime/live-feeds.ts';
import { FailedPoll } from '#src/realtime/polling/feed-client.ts';
import type { InstanceDemand } from '#src/realtime/polling/feed-demand.ts';
import { findFeedProblem } from '#src/realtime/polling/feed-health.ts';
import type { FeedSharing, PolledState } from '#src/realtime/polling/feed-sharing.ts';
import type { FeedId, FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { createFeedPoller } from '#src/realtime/polling/poller.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { createSimulatedClock, type SimulatedClock } from '#test/support/simulated-clock.ts';
import { encodeFeed } from '../feed-bytes.ts';

/** 11:00 in Sydney. */
const NOON = '2026-01-14T00:00:00Z';
const TRIPS = Array.from({ length: 30 }, (_, run) => ({ tripId: `run ${run}` }));
const soundAt = (now: number, trips = TRIPS) => encodeFeed({ timestamp: Math.floor(now / 1000) - 5, trips });

/** The store that instances share, in the memory of the test. */
function createMadeUpStore(clock: SimulatedClock) {
  const demands = new Map<number, InstanceDemand>();
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
      tellDemand: async (own) => void demands.set(me, structuredClone(own)),
      readDemand: async () => [...demands].filter(([one]) => one !== me).map(([, demand]) => demand),
      async publish(source, state, bytes) {
        if (bytes) published.set(source, new Feed(bytes));
        states.set(source, structuredClone(state));
      },
      withdraw: async (source) => void states.delete(source),
      readStates: async () => new Map(states),
      readFeed: async (source) => published.get(source) ?? null,
      close: async () => {
        if (lease.holder === me) lease = { holder: 0, until: 0 };
      },
    };
  };
}

interface Instance {
  poller: ReturnType<typeof createFeedPoller>;
  /** Boards of trains that are asked for in an hour, beyond what one response serves. */
  ask(savedAnHour: number): void;
  /** Somebody looks at the positions of trains. */
  watch(): void;
  /** Ends it as `kill -9` does: nothing runs any more, and nobody is told. */
  kill(): void;
}

function createInstances(count: number, { pollStretch = 1, areCallsFree = false } = {}) {
  const clock = createSimulatedClock(NOON);
  const share = createMadeUpStore(clock);
  const polls: { instance: number; source: FeedId; at: number }[] = [];
  const authority = { response: (): Buffer => soundAt(clock.now()) };
  const log = createTestLog();
  const instances = Array.from({ length: count }, (_, instance): Instance => {
    let demand: InstanceDemand = { demand: [], askedAt: {}, watchedAt: {} };
    let isKilled = false;
    const poller = createFeedPoller({
      client: {
        fetch: async (source) => {
          polls.push({ instance, source, at: clock.now() });
          return authority.response();
        },
      },
      reader: { read: async (bytes) => readFeed(bytes as Buffer) },
      sharing: share(),
      demand: () => demand,
      pollStretch: () => pollStretch,
      areCallsFree,
      clock: { now: clock.now, after: (ms, task) => clock.after(ms, () => (isKilled ? undefined : task())) },
      log,
    });
    return {
      poller,
      ask(savedAnHour) {
        const sources: FeedSourceId[] = ['sydneytrains'];
        demand = { demand: [{ sources, savedAnHour }], askedAt: { sydneytrains: clock.now() }, watchedAt: {} };
      },
      watch() {
        demand = { ...demand, watchedAt: { 'sydneytrains-positions': clock.now() } };
      },
      kill() {
        isKilled = true;
      },
    };
  });
  return { clock, polls, authority, instances, first: instances[0] as Instance };
}

/** The reason why a board of trains is not made of the feed; null when it can be. */
function problemOf({ poller }: Instance, now: number): string | null {
  return findGap(['sydneytrains'], poller.feeds, now)?.problem ?? null;
}

describe('a poller by itself', () => {
  it('polls nothing while nobody asks, and stops when nobody asks any more', async () => {
    const { clock, polls, first } = createInstances(1);
    await clock.advance(60_000);
    expect(polls).toEqual([]);
    first.ask(1000);
    await clock.advance(60_000);
    expect(polls.length).toBeGreaterThan(2);
    first.ask(0);
    await clock.advance(20_000);
    polls.length = 0;
    await clock.advance(600_000);
    expect(polls).toEqual([]);
  });

  it('polls no feed that saves fewer calls than it costs', async () => {
    const { clock, polls, first } = createInstances(1);
    first.ask(240);
    await clock.advance(120_000);
    expect(polls).toEqual([]);
  });

  it('polls whatever a board needs while calls are free, until no board has needed it for five minutes', async () => {
    const { clock, polls, first } = createInstances(1, { areCallsFree: true });
    await clock.advance(60_000);
    expect(polls).toEqual([]);
    first.ask(0);
    await clock.advance(200_000);
    expect(polls.length).toBeGreaterThan(5);
    await clock.advance(120_000);
    polls.length = 0;
    await clock.advance(600_000);
    expect(polls).toEqual([]);
  });

  it('polls at the interval of the feed, one poll at a time', async () => {
    const { clock, polls, first } = createInstances(1);
    first.ask(1000);
    await clock.advance(300_000);
    const gaps = polls.slice(1).map(({ at }, index) => at - (polls[index]?.at ?? 0));
    expect(new Set(gaps)).toEqual(new Set([15_000]));
  });

  it('polls less often when calls are very short, and boards go on being made of the feed', async () => {
    const { clock, polls, first } = createInstances(1, { pollStretch: 4 });
    first.ask(1000);
    await clock.advance(60_000);
    for (let second = 0; second < 300; second++) {
      first.ask(1000);
      await clock.advance(1000);
      expect(problemOf(first, clock.now())).toBeNull();
    }
    const gaps = polls.slice(1).map(({ at }, index) => at - (polls[index]?.at ?? 0));
    expect(new Set(gaps)).toEqual(new Set([60_000]));
  });

  it('polls nothing after it is closed', async () => {
    const { clock, polls, first } = createInstances(1);
    first.ask(1000);
    await clock.advance(60_000);
    await first.poller.close();
    polls.length = 0;
    await clock.advance(60_000);
    expect(polls).toEqual([]);
  });

  const failing = (failure: 'not 200' | 'a web page' | 'no response' | 'no calls left') => () => {
    throw new FailedPoll(failure, failure);
  };
  const undecodable = () => {
    throw new UndecodableFeed('not a protobuf message');
  };
  const frozen = soundAt(new Date(NOON).getTime() + 60_000);
  it.each([
    ['not 200', failing('not 200'), 'not 200'],
    ['a page', failing('a web page'), 'a web page'],
    ['nothing', failing('no response'), 'no response'],
    ['no calls', failing('no calls left'), 'no calls left'],
    ['garbage', undecodable, 'undecodable'],
    ['the same feed for ever', () => frozen, 'a frozen header'],
    ['a feed of half the runs', (now: number) => soundAt(now, TRIPS.slice(0, 10)), 'halved'],
    ['a feed of tomorrow', (now: number) => soundAt(now + 86_400_000), 'a header of the future'],
  ])('gives the feed up when the authority has only %s, and takes it up again', async (_, response, problem) => {
    const { clock, authority, first } = createInstances(1);
    first.ask(1000);
    await clock.advance(60_000);
    expect(problemOf(first, clock.now())).toBeNull();
    authority.response = () => response(clock.now());
    await clock.advance(180_000);
    expect(problemOf(first, clock.now())).toBe(problem);
    authority.response = () => soundAt(clock.now());
    await clock.advance(121_000);
    expect(problemOf(first, clock.now())).toBeNull();
  });
});

describe.each([2, 4])('%i instances', (count) => {
  it('have one poller for the demand of all, and all have its feeds', async () => {
    const { clock, polls, instances } = createInstances(count);
    // No instance alone asks for so much that polling would save calls.
    for (const instance of instances) instance.ask(600 / count);
    await clock.advance(60_000);
    expect(new Set(polls.map(({ instance }) => instance)).size).toBe(1);
    expect(polls.length).toBeLessThanOrEqual(5);
    for (const instance of instances) expect(problemOf(instance, clock.now())).toBeNull();
    expect(instances.filter(({ poller }) => poller.isLeader())).toHaveLength(1);
  });

  it('go on within 15 s when the poller is killed, from the feeds that it left', async () => {
    const { clock, polls, instances } = createInstances(count);
    for (const instance of instances) instance.ask(1000);
    await clock.advance(60_000);
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

describe('positions of vehicles', () => {
  const POSITIONS = 'sydneytrains-positions';
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

  it('are polled at once when somebody looks at them, and no more a minute after the last look', async () => {
    const { clock, polls, authority, first } = createInstances(1);
    authority.response = () => vehiclesAt(clock.now());
    await clock.advance(30_000);
    expect(polls).toEqual([]);
    first.watch();
    await clock.advance(1000);
    expect(polls.map(({ source }) => source)).toEqual([POSITIONS]);
    expect(first.poller.feeds.get(POSITIONS)?.feed?.vehicleCount).toBe(30);
    await clock.advance(75_000);
    expect(first.poller.feeds.size).toBe(0);
    expect(polls.length).toBeLessThanOrEqual(5);
    polls.length = 0;
    await clock.advance(600_000);
    expect(polls).toEqual([]);
  });

  it('are polled by one instance for all, and read by those alone whose callers look at them', async () => {
    const { clock, polls, authority, instances } = createInstances(3);
    authority.response = () => vehiclesAt(clock.now());
    await clock.advance(10_000);
    const [watcher, idle] = instances.filter(({ poller }) => !poller.isLeader());
    watcher?.watch();
    await clock.advance(6000);
    expect(watcher?.poller.feeds.get(POSITIONS)?.feed?.vehicleCount).toBe(30);
    expect(idle?.poller.feeds.size).toBe(0);
    expect(polls.map(({ instance }) => instances[instance]?.poller.isLeader())).toEqual([true]);
    await clock.advance(75_000);
    expect(instances.map(({ poller }) => poller.feeds.size)).toEqual([0, 0, 0]);
  });

  it('do not make the feeds of trip updates worth their polls', async () => {
    const { clock, polls, first } = createInstances(1);
    first.ask(100);
    first.watch();
    await clock.advance(30_000);
    expect(new Set(polls.map(({ source }) => source))).toEqual(new Set([POSITIONS]));
  });

  it.each<[string, (now: number) => Buffer, string]>([
    ['freeze', () => vehiclesAt(Date.parse(NOON) + 60_000), 'a frozen header'],
    ['halve', (now) => vehiclesAt(now, 10), 'halved'],
    ['are those of trips', (now) => soundAt(now), 'halved'],
  ])('that %s are not believed', async (_, response, problem) => {
    const { clock, authority, first } = createInstances(1);
    authority.response = () => vehiclesAt(clock.now());
    const play = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 10) {
        first.watch();
        await clock.advance(10_000);
      }
    };
    await play(60);
    authority.response = () => response(clock.now());
    await play(180);
    const state = first.poller.feeds.get(POSITIONS);
    expect(state && findFeedProblem(state.health, state.intervalMs, clock.now())).toBe(problem);
  });
});
