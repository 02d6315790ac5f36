import { zstdCompressSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRedis, type SharedRedis } from '#src/core/redis/shared-redis.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { SharedTraffic } from '#src/extensions/telemetry/shared-traffic.ts';
import { UNREAD } from '#src/realtime/polling/feed-health.ts';
import { createFeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import { createSharedMeters, protectUpstream } from '#src/upstream/protection.ts';
import { departureMonitorFor } from '#test/support/departure-monitor.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { startRedis, type TestRedis } from '#test/support/redis.ts';
import { startUpstream, type TestUpstream } from '#test/support/upstream.ts';

/*
 * Values in Redis that are corrupt, or were written by another version of the service, count as absent and are replaced.
 */

const QUESTION = { kind: 'departureMonitor', stopId: '200060', modes: ['bus'], at: null } as const;
const LIMITS = { rps: 100, dailyBudget: 60_000_000 };

let redis: TestRedis;
let admin: Redis;
let room: SharedRedis;
let upstream: TestUpstream;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis(redis.url);
  room = await openRedis([redis.url], { info() {}, warn() {} });
  upstream = await startUpstream((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(departureMonitorFor(request.url ?? '', '2026-04-15T06:10:00Z'));
  });
});
beforeEach(async () => {
  await admin.flushall();
  upstream.requests.length = 0;
});
afterAll(async () => {
  for (const close of closing) await close();
  room.close();
  admin.disconnect();
  await upstream.close();
  await redis.stop();
});

function startInstance() {
  const raw = createEfaClient({ url: upstream.url, apiKey: 'test-key', timeoutMs: 1500, now: Date.now });
  closing.push(raw.close);
  const meters = createSharedMeters(room, { apiKeys: ['test-key'], limits: LIMITS });
  const efa = protectUpstream({
    callByKey: [raw.callUpstream],
    limits: LIMITS,
    log: createTestLog(),
    meters,
    deadlines: { callMs: 1500, callWithRetryMs: 2000, requestMs: 4000, closeMs: 4500 },
  });
  return { efa };
}

/** 12 KB that decompress to 300 MB. */
const bomb = () => zstdCompressSync(Buffer.alloc(300_000_000));

describe('feeds in Redis', () => {
  const STATES = 'tis:test:realtime:states';
  const join = () => createFeedSharing({ redis: room, source: 'test' }, Date.now);
  const state = { health: UNREAD, polledAt: 1 };

  it('feeds of another version and corrupt feed states in Redis are ignored', async () => {
    await join().publish('metro', state, null);
    await admin.hset(STATES, {
      hovercraft: JSON.stringify(state),
      toString: JSON.stringify(state),
      buses: '{"health":null}',
      MFF: '{',
    });
    expect(await join().loadStates()).toEqual(new Map([['metro', state]]));
  });

  it('corrupt needs for feeds in Redis are ignored, and a time in the future counts as now', async () => {
    await admin.hset('tis:test:realtime:needs', { hovercraft: '5', buses: 'null', MFF: '-1', metro: '9e15' });
    const before = Date.now();
    const [[feed, at] = [], ...more] = await join().loadRequests();
    expect([feed, more]).toEqual(['metro', []]);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it.each([
    ['broken', () => Buffer.from('no feed')],
    ['a bomb', bomb],
  ])('a feed in Redis that is %s is ignored and deleted', async (_name, bytes) => {
    await admin.set('tis:test:realtime:feed:buses', bytes());
    const before = process.memoryUsage().rss;
    expect(await join().loadFeed('buses')).toBeNull();
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
    expect(await admin.exists('tis:test:realtime:feed:buses')).toBe(0);
  });

  it('a lease without an expiry in Redis is taken over', async () => {
    await admin.set('tis:test:realtime:lease', 'nobody');
    expect(await join().lead()).toBe(false);
    expect(await admin.pttl('tis:test:realtime:lease')).toBeGreaterThan(0);
  });
});

describe('other values in Redis', () => {
  it('corrupt counts and status reports in Redis are ignored', async () => {
    await admin.hset('{tis:traffic:test}:instances', { broken: '{', other: '{"at":"now"}' });
    await admin.hset('{tis:traffic:test}:minute:100', {
      departures: 5,
      liveDepartures: 'many',
      'answered /v1/trips': 'x',
    });
    await admin.set('{tis:traffic:test}:last-answer', 'yesterday');
    const health = { budgetLeft: 1, isBreakerOpen: false };
    const now = () => new Date(100 * 60_000);
    const traffic = new SharedTraffic({ redis: room, source: 'test', now: () => now().getTime() });
    traffic.health = () => health;
    const view = await traffic.getView();
    expect(view.scope).toEqual({ instances: 1 });
    expect(view.lastUpstreamResponse).toBeNull();
    expect(view.recent(1)).toMatchObject({ departures: 5, liveDepartures: 0 });
    await traffic.close();
  });

  it('a count of calls in Redis that is not a number starts again', async () => {
    const { efa } = startInstance();
    await efa.queryUpstream(QUESTION);
    const [spent = ''] = await admin.keys('*:spent:*');
    await admin.set(spent, 'many');
    await efa.queryUpstream({ ...QUESTION, stopId: '200061' });
    expect(Number(await admin.get(spent))).toBeGreaterThan(0);
  });
});
