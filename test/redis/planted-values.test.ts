import { zstdCompressSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEfaClient } from '#src/efa/client.ts';
import { UNREAD } from '#src/realtime/polling/feed-health.ts';
import { createFeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import { openRedis, type SharedRedis } from '#src/redis/shared-redis.ts';
import { SharedTraffic } from '#src/telemetry/shared-traffic.ts';
import { coordinateThrough, protectUpstream } from '#src/upstream/protection.ts';
import { departureMonitorFor } from '#test/support/departure-monitor.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { startRedis, type TestRedis } from '#test/support/redis.ts';
import { startUpstream, type TestUpstream } from '#test/support/upstream.ts';

/*
 * Values in Redis that are broken, or that another version of the service wrote: they count as nothing, are replaced, and
 * cost one call of the authority at most.
 */

const QUESTION = { kind: 'departureMonitor', stopId: '200060', modes: ['bus'], at: null } as const;
const LIMITS = { rps: 100, dailyBudget: 60_000_000 };

let redis: TestRedis;
let admin: Redis;
let room: SharedRedis;
let upstream: TestUpstream;
/** Another one for each test: an instance may share its response only after the test that it served is over. */
let source = 'test';
let sourceCount = 0;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis(redis.url);
  room = await openRedis([redis.url], { info() {}, warn() {} });
  upstream = await startUpstream((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(departureMonitorFor(request.url ?? '', '2026-04-15T06:10:00Z'));
  });
}, 300_000);
beforeEach(async () => {
  await admin.flushall();
  source = `test-${++sourceCount}`;
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
  const raw = createEfaClient({ url: upstream.url, apiKey: 'test-key', timeoutMs: 1500, now: () => new Date() });
  closing.push(raw.close);
  const shared = coordinateThrough(room, { source, apiKeys: ['test-key'], limits: LIMITS });
  const efa = protectUpstream({
    asks: [raw.ask],
    limits: LIMITS,
    log: createTestLog(),
    shared,
    deadlines: { callMs: 1500, callWithRetryMs: 2000, requestMs: 4000, closeMs: 4500 },
  });
  return { efa, store: shared.store };
}

/** The name under which a response to the request is shared. */
async function nameOfAnswer(): Promise<string> {
  const { efa } = startInstance();
  await efa.ask(QUESTION);
  await expect.poll(() => admin.keys(`{tis:${source}:*}:answer:*`)).toHaveLength(1);
  upstream.requests.length = 0;
  return (await admin.keys(`{tis:${source}:*}:answer:*`))[0] as string;
}

const moment = (at: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(at);
  return bytes;
};
/** 12 KB that become 300 MB. */
const bomb = () => zstdCompressSync(Buffer.alloc(300_000_000));

describe('a response that is shared', () => {
  it.each<[string, () => Buffer]>([
    [
      'is not compressed data',
      () => Buffer.concat([moment(Date.now()), Buffer.from('28b52ffd', 'hex'), Buffer.alloc(9)]),
    ],
    ['is no JSON', () => Buffer.concat([moment(Date.now()), zstdCompressSync('{"locations": [')])],
    ['is no response', () => Buffer.concat([moment(Date.now()), zstdCompressSync('null')])],
    [
      'is a response to another request',
      () => Buffer.concat([moment(Date.now()), zstdCompressSync('{"journeys": []}')]),
    ],
    ['is a bomb', () => Buffer.concat([moment(Date.now()), bomb()])],
    ['is of no time', () => Buffer.concat([moment(Number.NaN), zstdCompressSync('{}')])],
    ['is of a year to come', () => Buffer.concat([moment(Date.now() + 3e10), zstdCompressSync('{}')])],
    ['is larger than any', () => Buffer.alloc(5_000_000, 1)],
  ])('%s: costs one call and is replaced', async (_name, planted) => {
    const name = await nameOfAnswer();
    const bytes = planted();
    await admin.set(name, bytes, 'PX', 60_000);
    const before = process.memoryUsage().rss;

    const { efa } = startInstance();
    const { payload, freshness } = await efa.ask(QUESTION);
    expect(payload.stopEvents).toHaveLength(1);
    expect(freshness?.source).toBe('upstream');
    expect(process.memoryUsage().rss - before).toBeLessThan(150e6);
    await efa.ask(QUESTION);
    expect(upstream.requests).toHaveLength(1);
    await expect.poll(() => admin.strlen(name), { timeout: 5000 }).not.toBe(bytes.length);
    expect((await startInstance().efa.ask(QUESTION)).freshness?.source).toBe('cache');
  });

  it('is another type of value: the request is answered', async () => {
    const name = await nameOfAnswer();
    await admin.del(name);
    await admin.lpush(name, 'x');
    expect((await startInstance().efa.ask(QUESTION)).payload.stopEvents).toHaveLength(1);
  });
});

describe('a lock', () => {
  const LOCK = (name: string) => `tis:${source}:lock:${name.split(':answer:')[1]}`;

  it('without an expiry is given one, and the request is answered', async () => {
    const name = await nameOfAnswer();
    await admin.del(name);
    await admin.set(LOCK(name), 'left behind');
    const { payload } = await startInstance().efa.ask(QUESTION);
    expect(payload.stopEvents).toHaveLength(1);
    expect(upstream.requests).toHaveLength(1);
  });

  it('that stays is not asked for any more when nobody waits', async () => {
    const name = await nameOfAnswer();
    await admin.del(name);
    await admin.set(LOCK(name), 'held', 'PX', 60_000);
    await expect(startInstance().efa.ask(QUESTION)).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    const tries = async () => Number(/cmdstat_set:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const afterwards = await tries();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await tries()).toBe(afterwards);
  });

  it.each([
    ['of an unknown code', '{"code":"NO_SUCH_CODE","message":"m","headers":{}}'],
    ['that is no JSON', '{'],
    ['of an error that no call has', '{"code":"UNAUTHORIZED","message":"m","headers":{}}'],
    ['without a message', '{"code":"UPSTREAM_ERROR","headers":{}}'],
    [
      'with a made-up header',
      '{"code":"UPSTREAM_ERROR","message":"m","headers":{"retry-after":"1\\r\\nset-cookie: a"}}',
    ],
  ])('with a note of a failure %s: the request is asked', async (_name, note) => {
    const name = await nameOfAnswer();
    await admin.del(name);
    await admin.set(LOCK(name), `failed:${note}`, 'PX', 500);
    const { payload } = await startInstance().efa.ask(QUESTION);
    expect(payload.stopEvents).toHaveLength(1);
  });

  it('with a note of a failure of a call passes on the time to wait and no other header', async () => {
    const name = await nameOfAnswer();
    await admin.del(name);
    const headers = { 'retry-after': '7', 'set-cookie': 'a=b', location: 'https://elsewhere.example' };
    const note = JSON.stringify({ code: 'UPSTREAM_UNAVAILABLE', message: 'Not now.', headers });
    await admin.set(LOCK(name), `failed:${note}`, 'PX', 5000);
    const failure = await startInstance()
      .efa.ask(QUESTION)
      .catch((error) => error);
    expect([failure.code, failure.headers]).toEqual(['UPSTREAM_UNAVAILABLE', { 'retry-after': '7' }]);
  });
});

describe('what is known of feeds', () => {
  const STATES = 'tis:test:realtime:states';
  const join = () => createFeedSharing({ redis: room, source: 'test' }, Date.now);
  const state = { health: UNREAD, polledAt: 1 };

  it('a feed of another version, and states that are broken, are passed over', async () => {
    await join().publish('metro', state, null);
    await admin.hset(STATES, {
      hovercraft: JSON.stringify(state),
      toString: JSON.stringify(state),
      buses: '{"health":null}',
      MFF: '{',
    });
    expect(await join().readStates()).toEqual(new Map([['metro', state]]));
  });

  it('needs that are broken are passed over, and none lies in the future', async () => {
    await admin.hset('tis:test:realtime:needs', { hovercraft: '5', buses: 'null', MFF: '-1', metro: '9e15' });
    const before = Date.now();
    const [[feed, at] = [], ...more] = await join().readNeeds();
    expect([feed, more]).toEqual(['metro', []]);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it.each([
    ['broken', () => Buffer.from('no feed')],
    ['a bomb', bomb],
  ])('a feed that is %s counts as none, and is deleted', async (_name, bytes) => {
    await admin.set('tis:test:realtime:feed:buses', bytes());
    const before = process.memoryUsage().rss;
    expect(await join().readFeed('buses')).toBeNull();
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
    expect(await admin.exists('tis:test:realtime:feed:buses')).toBe(0);
  });

  it('a lease without an expiry is taken over', async () => {
    await admin.set('tis:test:realtime:lease', 'nobody');
    expect(await join().lead()).toBe(false);
    expect(await admin.pttl('tis:test:realtime:lease')).toBeGreaterThan(0);
  });
});

describe('other numbers and notes', () => {
  it('counts and reports of the status that are broken are passed over', async () => {
    await admin.hset('{tis:traffic:test}:instances', { broken: '{', other: '{"at":"now"}' });
    await admin.hset('{tis:traffic:test}:minute:100', {
      departures: 5,
      liveDepartures: 'many',
      'answered /v1/trips': 'x',
    });
    await admin.set('{tis:traffic:test}:last-answer', 'yesterday');
    const health = { budgetLeft: 1, isBreakerOpen: false };
    const now = () => new Date(100 * 60_000);
    const traffic = new SharedTraffic({ redis: room, source: 'test', health: () => health, now });
    const view = await traffic.view();
    expect(view.scope).toEqual({ instances: 1 });
    expect(view.lastUpstreamResponse).toBeNull();
    expect(view.recent(1)).toMatchObject({ departures: 5, liveDepartures: 0 });
    await traffic.close();
  });

  it('a count of calls that is no number is counted anew', async () => {
    const { efa } = startInstance();
    await efa.ask(QUESTION);
    const [spent = ''] = await admin.keys('*:spent:*');
    await admin.set(spent, 'many');
    await efa.ask({ ...QUESTION, stopId: '200061' });
    expect(Number(await admin.get(spent))).toBeGreaterThan(0);
  });
});
