import { describe, expect, it } from 'vitest';
import { readFeed } from '#src/realtime/feed/feed-reader.ts';
import { LiveFeeds } from '#src/realtime/live-feeds.ts';
import { FailedPoll } from '#src/realtime/polling/feed-client.ts';
import { createFeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import type { FeedId } from '#src/realtime/polling/feed-source.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { encodeFeed, type TripSpec } from './feed-bytes.ts';

const NOON = '2026-01-14T00:00:00Z';
const NIGHT = '2026-01-13T16:00:00Z';
const TRIPS = Array.from({ length: 40 }, (_, run) => ({ tripId: `run ${run}` }));

/** Feeds whose headers are 3 s old when read. The feed `failing` cannot be polled. */
function startFeeds({
  start = NOON,
  failing = null as FeedId | null,
  trips = TRIPS as TripSpec[],
  knowsTrip = (_tripId: string): boolean | null => null,
} = {}) {
  const clock = createSimulatedClock(start);
  const polls: FeedId[] = [];
  const feeds = new LiveFeeds({
    client: {
      async fetch(source) {
        polls.push(source);
        if (source === failing) throw new FailedPoll('not 200', 'status 500');
        return encodeFeed({ timestamp: clock.now() / 1000 - 3, trips });
      },
    },
    reader: { read: async (bytes) => readFeed(bytes as Buffer) },
    sharing: createFeedSharing(null, clock.now),
    knowsTrip,
    clock,
    log: createTestLog(),
  });
  const trusted = () => feeds.trusted(clock.now()).map(({ source }) => source);
  return { clock, polls, feeds, trusted };
}

describe('trusted feeds', () => {
  it('a feed is trusted once it is needed and read', async () => {
    const { clock, feeds, trusted } = startFeeds();
    expect(feeds.problemOf('buses', clock.now())).toBe('not read yet');
    feeds.need(['buses']);
    await clock.advance(2000);
    expect(trusted()).toEqual(['buses']);
    expect(feeds.problemOf('buses', clock.now())).toBeNull();
    expect(feeds.problemOf('metro', clock.now())).toBe('not read yet');
  });

  it('only the first board that needs a feed waits for it', async () => {
    const { feeds, trusted } = startFeeds();
    feeds.need(['buses']);
    // The clock stands still, so this board does not wait for the next poll.
    expect(await feeds.untilRead(['buses'], 2000).then(trusted)).toEqual(['buses']);
    await feeds.untilRead(['buses'], 2000);
    await feeds.untilRead([], 2000);
  });

  it('a board waits for a feed that cannot be polled up to its own limit, and the feed reports the problem', async () => {
    const { clock, feeds, trusted } = startFeeds({ failing: 'metro' });
    feeds.need(['metro']);
    const read = feeds.untilRead(['metro'], 2000);
    await clock.advance(2000);
    await read;
    expect(feeds.problemOf('metro', clock.now())).toBe('not 200');
    expect(trusted()).toEqual([]);
    // The feed has failed, so nothing waits for its next poll.
    await clock.advance(60_000);
    await feeds.untilRead(['metro'], 2000);
  });

  it('a needed feed is never older than 45 s', async () => {
    const { clock, feeds } = startFeeds();
    const ages: number[] = [];
    for (let second = 0; second < 300; second++) {
      feeds.need(['MFF', 'buses']);
      await clock.advance(1000);
      for (const { feed } of feeds.trusted(clock.now())) ages.push(clock.now() - feed.headerAt);
    }
    expect(ages.length).toBeGreaterThan(590);
    expect(Math.max(...ages)).toBeLessThanOrEqual(45_000);
  });

  it('a feed unused for minutes at night is polled before it is shown again', async () => {
    const { clock, feeds, trusted, polls } = startFeeds({ start: NIGHT });
    feeds.need(['MFF']);
    await clock.advance(120_000);
    expect(polls).toEqual(['MFF']);
    expect(feeds.problemOf('MFF', clock.now())).toBe('not polled lately');
    expect(trusted()).toEqual([]);
    feeds.need(['MFF']);
    const read = feeds.untilRead(['MFF'], 2000).then(trusted);
    await clock.advance(1000);
    expect(await read).toEqual(['MFF']);
  });

  it('responses are fresh until the next of their feeds is read', async () => {
    const { clock, feeds } = startFeeds();
    feeds.need(['sydneytrains', 'MFF']);
    await feeds.untilRead(['sydneytrains', 'MFF'], 2000);
    expect(feeds.freshUntil(['MFF']) - clock.now()).toBe(42_000);
    expect(feeds.freshUntil(['sydneytrains', 'MFF']) - clock.now()).toBe(32_000);
    expect(feeds.freshUntil(['metro']) - clock.now()).toBe(1000);
  });
});

describe('a feed that is compared with the timetable', () => {
  async function problemWith(knowsTrip: (tripId: string) => boolean | null, trips: TripSpec[] = TRIPS) {
    const { clock, feeds } = startFeeds({ knowsTrip, trips });
    feeds.need(['buses']);
    await clock.advance(1000);
    return { problem: feeds.problemOf('buses', clock.now()), share: feeds.list()[0]?.foundShare };
  }
  const isEven = (tripId: string) => Number(tripId.split(' ')[1]) % 2 === 0;

  it('a feed is trusted when the timetable has at least half of its trips', async () => {
    expect(await problemWith(() => true)).toEqual({ problem: null, share: 1 });
    expect(await problemWith(isEven)).toEqual({ problem: null, share: 0.5 });
  });

  it('a feed is distrusted when the timetable lacks most of its trips', async () => {
    expect(await problemWith(() => false)).toEqual({ problem: 'runs are not found', share: 0 });
  });

  it('a feed of trains is trusted when most of its runs are empty trains, which the timetable leaves out', async () => {
    const empty = TRIPS.map((trip) => ({ ...trip, routeId: 'RTTA_REV' }));
    const others = TRIPS.slice(0, 20).map(({ tripId }) => ({ tripId: `passengers ${tripId}`, routeId: 'NSN_1a' }));
    const knowsTrip = (tripId: string) => tripId.startsWith('passengers');
    const { clock, feeds, trusted } = startFeeds({ trips: [...empty, ...others], knowsTrip });
    feeds.need(['sydneytrains']);
    await clock.advance(2000);
    expect(trusted()).toEqual(['sydneytrains']);
    expect(feeds.list()[0]?.foundShare).toBe(1);
  });

  it('a feed that cannot be compared with the timetable is trusted', async () => {
    expect(await problemWith(() => null)).toEqual({ problem: null, share: null });
    expect((await problemWith(() => false, TRIPS.slice(0, 19))).problem).toBeNull();
    const added = TRIPS.map((trip) => ({ ...trip, scheduleRelationship: 1 }));
    expect(await problemWith(() => false, added)).toEqual({ problem: null, share: null });
  });
});
