import { setTimeout as sleep } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRedis, type SharedRedis } from '#src/core/redis/shared-redis.ts';
import { parseFeed } from '#src/realtime/feed/feed-reader.ts';
import { LiveFeeds } from '#src/realtime/live-feeds.ts';
import { UNREAD } from '#src/realtime/polling/feed-health.ts';
import { createFeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import { calendarDayAt, toDate } from '#src/timetable/service-day.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { startRedis, type TestRedis } from '#test/support/redis.ts';
import { scheduleFile } from '#test/support/schedule-file.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { timetableOf } from '#test/support/timetable.ts';
import { encodeFeed } from '../feed-bytes.ts';
import { createReader } from '../reader.ts';

const LEASE = 'tis:test:realtime:lease';
/** How often the poller renews its lease. */
const LEAD_EVERY_MS = 3000;
const TURN_MS = 1000;

let redis: TestRedis;
let admin: Redis;
let room: SharedRedis;
const join = () => createFeedSharing({ redis: room, source: 'test' }, Date.now);

beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis(redis.url);
  admin.on('error', () => {});
  room = await openRedis([redis.url], { info() {}, warn() {} });
});
beforeEach(() => admin.flushall());
afterAll(async () => {
  room.close();
  admin.disconnect();
  await redis.stop();
});

describe('feed polling shared over Redis', () => {
  it('one of four instances that start together polls', async () => {
    const responses = await Promise.all([join(), join(), join(), join()].map((one) => one.lead()));
    expect(responses.filter(Boolean)).toHaveLength(1);
  });

  it('the polling instance keeps its lease while it renews it', async () => {
    const [first, second] = [join(), join()];
    expect(await first.lead()).toBe(true);
    await admin.pexpire(LEASE, 5000);
    expect(await first.lead()).toBe(true);
    expect(await admin.pttl(LEASE)).toBeGreaterThan(5000);
    expect(await second.lead()).toBe(false);
  });

  it('another instance polls within 15 s after the polling instance is killed', async () => {
    const [first, second] = [join(), join()];
    await first.lead();
    expect((await admin.pttl(LEASE)) + LEAD_EVERY_MS + TURN_MS).toBeLessThan(15_000);
    await admin.pexpire(LEASE, 1);
    while ((await admin.exists(LEASE)) === 1);
    expect(await second.lead()).toBe(true);
    expect(await first.lead()).toBe(false);
  });

  it('another instance polls at once after the polling one closes, and closing others keeps the lease', async () => {
    const [first, second] = [join(), join()];
    await first.lead();
    await second.close();
    expect(await second.lead()).toBe(false);
    await first.close();
    expect(await second.lead()).toBe(true);
  });

  it('every instance reads when any of them last needed a feed', async () => {
    const [first, second] = [join(), join()];
    await first.publishNeeds(
      new Map([
        ['buses', 5],
        ['metro-positions', 6],
      ]),
    );
    await second.publishNeeds(new Map([['buses', 7]]));
    expect(await first.loadRequests()).toEqual(
      new Map([
        ['buses', 7],
        ['metro-positions', 6],
      ]),
    );
    expect(await admin.pttl('tis:test:realtime:needs')).toBeGreaterThan(0);
  });

  it('instances share feeds and their states', async () => {
    const [first, second] = [join(), join()];
    const packed = parseFeed(encodeFeed({ timestamp: 1_768_357_645, trips: [{ tripId: 'run 1' }] }));
    const state = { health: UNREAD, polledAt: 1 };
    await first?.publish('buses', state, packed);
    expect((await second?.loadFeed('buses'))?.packed).toEqual(packed);
    expect(await second?.loadStates()).toEqual(new Map([['buses', state]]));
    await first?.withdraw('buses');
    expect(await second?.loadStates()).toEqual(new Map());
  });

  it('an instance that does not poll predicts the feeds of the polling one by its own timetable', async () => {
    const clock = createSimulatedClock(Date.now());
    const polls: number[] = [];
    /** A timetable in which the trip is the last of several. */
    const createInstance = (instance: number, before: number) => {
      const trips = [...Array(before).keys(), 'run 1'].map((id) => ({
        id: String(id),
        days: [-1, 0, 1].map((day) => toDate(calendarDayAt(clock.now()) + day)),
        calls: [
          ['A', '00:00'],
          ['B', '23:59'],
        ] as const,
      }));
      const timetable = timetableOf(scheduleFile('buses', { stops: [{ id: 'A' }, { id: 'B' }], trips }));
      const client = {
        async fetch() {
          polls.push(instance);
          const stops = [{ stopId: 'B', arrival: { delay: 300 } }];
          return encodeFeed({ timestamp: Math.floor(clock.now() / 1000) - 3, trips: [{ tripId: 'run 1', stops }] });
        },
      };
      const sharing = join();
      const log = createTestLog();
      const reader = createReader(timetable);
      return { timetable, feeds: new LiveFeeds({ client, reader, sharing, timetable: () => timetable, clock, log }) };
    };
    const instances = [createInstance(0, 0), createInstance(1, 5)];
    const isRead = () => instances.every(({ feeds }) => feeds.snapshot()?.snapshots.length === 1);
    while (!isRead()) {
      for (const { feeds } of instances) feeds.request(['buses']);
      await clock.advance(1000);
      await sleep(10);
    }
    expect(new Set(polls).size).toBe(1);
    for (const { timetable, feeds } of instances) {
      const [snapshot] = feeds.snapshot()?.snapshots ?? [];
      expect(Array.from(snapshot?.sections.runTrip ?? [])).toEqual(timetable.listTripsBetween('run 1'));
      expect(snapshot?.sections.runTrip[0]).toBe(timetable.tripCount - 1);
      await feeds.close();
    }
  });

  it('a feed of another format version is left alone for its own instances', async () => {
    const name = 'tis:test:realtime:feed:buses';
    await admin.set(name, zstdCompressSync(Buffer.alloc(100, 7)));
    expect(await join().loadFeed('buses')).toBeNull();
    expect(await admin.exists(name)).toBe(1);
  });

  it('each instance polls for itself while Redis is unavailable', async () => {
    const [first, second] = [join(), join()];
    await first.lead();
    expect(await second.lead()).toBe(false);
    await redis.kill();
    expect(await second.lead()).toBe(true);
    expect(await second.loadRequests()).toEqual(new Map());
    expect(await second.loadStates()).toBeNull();
    expect(await second.loadFeed('buses')).toBeNull();
    await second.publish('buses', { health: UNREAD, polledAt: 1 }, null);
    await redis.restart();
  });
});
