import { describe, expect, it } from 'vitest';
import { LiveFeeds } from '#src/realtime/live-feeds.ts';
import { FailedPoll } from '#src/realtime/polling/feed-client.ts';
import { createFeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import type { FeedId } from '#src/realtime/polling/feed-source.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { scheduleFile } from '#test/support/schedule-file.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { timetableOf as buildTimetableOf } from '#test/support/timetable.ts';
import { encodeFeed, type TripSpec } from './feed-bytes.ts';
import { createReader } from './reader.ts';

const NOON = '2026-01-14T00:00:00Z';
const NIGHT = '2026-01-13T16:00:00Z';
const DAYS = ['20260113', '20260114'];
const TRIPS = Array.from({ length: 40 }, (_, run) => ({ tripId: `run ${run}` }));

/** A timetable with these trips, from 11:00 to 11:30 or at night, and with no others. */
function timetableOf(trips: readonly TripSpec[]): Timetable {
  const scheduled = (file: 'buses' | 'sydneytrains' | 'MFF') =>
    scheduleFile(file, {
      stops: [{ id: 'A' }, { id: 'B' }],
      trips: trips.flatMap(({ tripId = '' }) =>
        ['11:00', '27:00'].map((start) => ({
          id: start === '11:00' ? tripId : `${tripId} at night`,
          days: DAYS,
          calls: [
            ['A', start],
            ['B', '27:30'],
          ] as const,
        })),
      ),
    });
  return buildTimetableOf(scheduled('buses'), scheduled('sydneytrains'), scheduled('MFF'));
}

/** Feeds whose headers are 3 s old when read. The feed `failing` cannot be polled, and upstream does not answer for `hanging`. */
function startFeeds({
  start = NOON,
  failing = null as FeedId | null,
  hanging = null as FeedId | null,
  trips = TRIPS as TripSpec[],
  known = TRIPS as readonly TripSpec[],
} = {}) {
  const clock = createSimulatedClock(start);
  const polls: FeedId[] = [];
  const timetable = timetableOf(known);
  const feeds = new LiveFeeds({
    client: {
      async fetch(source) {
        polls.push(source);
        if (source === failing) throw new FailedPoll('not 200', 'status 500');
        if (source === hanging) await new Promise(() => {});
        return encodeFeed({ timestamp: clock.now() / 1000 - 3, trips });
      },
    },
    reader: createReader(timetable),
    timetable: () => timetable,
    sharing: createFeedSharing(null, clock.now),
    clock,
    log: createTestLog(),
  });
  const trusted = () => feeds.snapshot()?.snapshots.map(({ source }) => source);
  return { clock, polls, feeds, trusted };
}

describe('trusted feeds', () => {
  it('a feed is trusted once it is needed and read', async () => {
    const { clock, feeds, trusted } = startFeeds();
    expect(feeds.problemOf('buses', clock.now())).toBe('not read yet');
    feeds.request(['buses']);
    await clock.advance(2000);
    expect(trusted()).toEqual(['buses']);
    expect(feeds.problemOf('buses', clock.now())).toBeNull();
    expect(feeds.problemOf('metro', clock.now())).toBe('not read yet');
  });

  it('only the first board that needs a feed waits for it', async () => {
    const { feeds, trusted } = startFeeds();
    feeds.request(['buses']);
    // The clock stands still, so this board does not wait for the next poll.
    expect(await feeds.untilRead(['buses'], 2000).then(trusted)).toEqual(['buses']);
    await feeds.untilRead(['buses'], 2000);
    await feeds.untilRead([], 2000);
  });

  it('a board waits for a feed that cannot be polled up to its own limit, and the feed reports the problem', async () => {
    const { clock, feeds, trusted } = startFeeds({ failing: 'metro' });
    feeds.request(['metro']);
    const read = feeds.untilRead(['metro'], 2000);
    await clock.advance(2000);
    await read;
    expect(feeds.problemOf('metro', clock.now())).toBe('not 200');
    expect(trusted()).toEqual([]);
    // The feed has failed, so nothing waits for its next poll.
    await clock.advance(60_000);
    await feeds.untilRead(['metro'], 2000);
  });

  it('while upstream does not answer for a feed, boards wait two seconds for it once, not each of them', async () => {
    const { clock, feeds } = startFeeds({ hanging: 'metro' });
    let waiting = 0;
    const read = async () => {
      waiting++;
      feeds.request(['metro']);
      await feeds.untilRead(['metro'], 2000);
      waiting--;
    };
    void read();
    await clock.advance(1500);
    void read();
    await clock.advance(0);
    expect(waiting).toBe(2);
    await clock.advance(500);
    expect(waiting).toBe(0);
    await read();
    // Nobody needed it for minutes, so it counts as new.
    await clock.advance(400_000);
    void read();
    await clock.advance(1500);
    expect(waiting).toBe(1);
  });

  it('all feeds are polled once each of them was read or has failed', async () => {
    const { clock, feeds } = startFeeds({ failing: 'metro' });
    let isPolled = false;
    feeds.request(['buses', 'metro']);
    const polled = feeds.untilPolled(['buses', 'metro']).then(() => {
      isPolled = true;
    });
    expect(isPolled).toBe(false);
    await clock.advance(1000);
    await polled;
    expect(isPolled).toBe(true);
  });

  it('a needed feed is never older than 45 s', async () => {
    const { clock, feeds } = startFeeds();
    const ages: number[] = [];
    for (let second = 0; second < 300; second++) {
      feeds.request(['MFF', 'buses']);
      await clock.advance(1000);
      for (const { headerAt } of feeds.snapshot()?.snapshots ?? []) ages.push(clock.now() - headerAt);
    }
    expect(ages.length).toBeGreaterThan(590);
    expect(Math.max(...ages)).toBeLessThanOrEqual(45_000);
  });

  it('a feed unused for minutes at night is polled before it is shown again', async () => {
    const { clock, feeds, trusted, polls } = startFeeds({ start: NIGHT });
    feeds.request(['MFF']);
    await clock.advance(120_000);
    expect(polls).toEqual(['MFF']);
    expect(feeds.problemOf('MFF', clock.now())).toBe('not polled lately');
    expect(trusted()).toEqual([]);
    feeds.request(['MFF']);
    const read = feeds.untilRead(['MFF'], 2000).then(trusted);
    await clock.advance(1000);
    expect(await read).toEqual(['MFF']);
  });

  it('responses are fresh until the next of their feeds is read', async () => {
    const { clock, feeds } = startFeeds();
    feeds.request(['sydneytrains', 'MFF']);
    await feeds.untilRead(['sydneytrains', 'MFF'], 2000);
    expect(feeds.freshUntil(['MFF']) - clock.now()).toBe(42_000);
    expect(feeds.freshUntil(['sydneytrains', 'MFF']) - clock.now()).toBe(32_000);
    expect(feeds.freshUntil(['metro']) - clock.now()).toBe(1000);
  });
});

describe('a feed that is compared with the timetable', () => {
  async function problemWith(known: readonly TripSpec[], trips: TripSpec[] = TRIPS) {
    const { clock, feeds, trusted } = startFeeds({ known, trips });
    feeds.request(['buses']);
    await clock.advance(1000);
    const [about] = feeds.list();
    return { problem: feeds.problemOf('buses', clock.now()), share: about?.foundShare, snapshots: trusted()?.length };
  }
  const trusted = (share: number | null) => ({ problem: null, share, snapshots: 1 });
  const distrusted = { problem: 'runs are not found', share: 0, snapshots: 0 };

  it('a feed is trusted when the timetable has at least half of its trips', async () => {
    expect(await problemWith(TRIPS)).toEqual(trusted(1));
    expect(await problemWith(TRIPS.filter((_, run) => run % 2 === 0))).toEqual(trusted(0.5));
  });

  it('a feed is distrusted when the timetable lacks most of its trips', async () => {
    expect(await problemWith([{ tripId: 'another' }])).toEqual(distrusted);
  });

  it('a feed is distrusted when most of its trips have other stops or other days in the timetable', async () => {
    const stops = [{ stopId: 'elsewhere', departure: { delay: 60 } }];
    expect(
      await problemWith(
        TRIPS,
        TRIPS.map((trip) => ({ ...trip, stops })),
      ),
    ).toEqual(distrusted);
    const tomorrow = [{ stopId: 'A', departure: { time: Date.parse(NOON) / 1000 + 45 * 3600 } }];
    expect(
      await problemWith(
        TRIPS,
        TRIPS.map((trip) => ({ ...trip, stops: tomorrow })),
      ),
    ).toEqual(distrusted);
  });

  it('what a feed has that the timetable lacks is listed by reason, with examples', async () => {
    const { clock, feeds } = startFeeds({ known: TRIPS.slice(5) });
    feeds.request(['buses']);
    await clock.advance(1000);
    const examples = TRIPS.slice(0, 5).map(({ tripId }) => tripId);
    expect(feeds.list()[0]?.leftOut).toEqual({ 'trip not in the timetable': { count: 5, examples } });
  });

  it('a feed of trains is trusted when most of its runs are empty trains, which the timetable leaves out', async () => {
    const empty = TRIPS.map((trip) => ({ ...trip, routeId: 'RTTA_REV' }));
    const others = TRIPS.slice(0, 20).map(({ tripId }) => ({ tripId: `passengers ${tripId}`, routeId: 'NSN_1a' }));
    const { clock, feeds, trusted } = startFeeds({ trips: [...empty, ...others], known: others });
    feeds.request(['sydneytrains']);
    await clock.advance(2000);
    expect(trusted()).toEqual(['sydneytrains']);
    expect(feeds.list()[0]).toMatchObject({ foundShare: 1, leftOut: {} });
  });

  it('a feed that has few trips to compare with the timetable is trusted', async () => {
    expect((await problemWith([{ tripId: 'another' }], TRIPS.slice(0, 19))).problem).toBeNull();
    const added = TRIPS.map((trip) => ({ ...trip, scheduleRelationship: 1 }));
    expect(await problemWith([{ tripId: 'another' }], added)).toEqual(trusted(null));
  });
});
