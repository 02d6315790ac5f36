import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { countRequests, issueTestKey } from '../support/access.ts';
import { buildProbeApp, type ProbeApp } from '../support/probe-app.ts';

let store: AccountStore;
let app: ProbeApp;

beforeEach(async () => {
  store = openEmbeddedStore(':memory:');
  app = await buildProbeApp({ store, now: '2026-11-21T10:00:00Z' });
});
afterEach(async () => {
  await app.close();
  await store.close();
});

async function used(key: string, day = '20261121'): Promise<number> {
  return (await store.loadUsage(parseKey(key)?.accountId ?? '', [day]))[0] ?? 0;
}

async function use(key: string, count: number, day = '20261121'): Promise<void> {
  await countRequests(store, key, count, day);
}

describe('refunds', () => {
  it.each(['/v1/probe/failing', '/v1/probe/buggy'])(
    'a failure of ours at %s is refunded, and the response says so',
    async (url) => {
      const key = await issueTestKey(store);
      await app.send(key);
      const response = await app.send(key, url);
      expect(response.statusCode).toBeGreaterThanOrEqual(500);
      expect(response.headers.ratelimit).toBe('"daily";r=999;t=50400');
      expect(await used(key)).toBe(1);
    },
  );

  it('a 304 costs nothing without an upstream call, and one request with one', async () => {
    const key = await issueTestKey(store);
    expect((await app.send(key, '/v1/probe/unchanged-from-cache')).headers.ratelimit).toBe('"daily";r=1000;t=50400');
    expect((await app.send(key, '/v1/probe/unchanged')).headers.ratelimit).toBe('"daily";r=999;t=50400');
    expect(await used(key)).toBe(1);
  });

  it('the last request of the day is refunded if it failed on our side', async () => {
    const key = await issueTestKey(store);
    await use(key, 999);
    expect((await app.send(key, '/v1/probe/failing')).statusCode).toBe(504);
    expect((await app.send(key)).statusCode).toBe(200);
    expect((await app.send(key)).statusCode).toBe(429);
  });

  it('a request is refunded once, even if sending its response fails', async () => {
    const key = await issueTestKey(store);
    await use(key, 10);
    expect((await app.send(key, '/v1/probe/unsendable')).statusCode).toBe(500);
    expect(await used(key)).toBe(10);
    expect((await app.send(key, '/v1/probe/unsendable?failing')).statusCode).toBe(504);
    expect(await used(key)).toBe(10);
  });

  it('a refund goes to the day that was charged', async () => {
    const key = await issueTestKey(store);
    app.clock.now = new Date('2026-11-21T23:59:59.900Z');
    app.meanwhile = () => {
      app.clock.now = new Date('2026-11-22T00:00:07Z');
    };
    await use(key, 5, '20261122');
    const response = await app.send(key, '/v1/probe/failing');
    expect(response.statusCode).toBe(504);
    expect(response.headers.ratelimit).toBe('"daily";r=1000;t=0');
    expect([await used(key), await used(key, '20261122')]).toEqual([0, 5]);
  });
});

describe('the day of the quota', () => {
  it('the day of the quota ends at exactly 00:00:00 UTC without a timer', async () => {
    const key = await issueTestKey(store);
    await use(key, 1000);
    app.clock.now = new Date('2026-11-21T23:59:59.000Z');
    const last = await app.send(key);
    expect([last.statusCode, last.headers['retry-after'], last.headers.ratelimit]).toEqual([
      429,
      '1',
      '"daily";r=0;t=1',
    ]);
    app.clock.now = new Date('2026-11-21T23:59:59.999Z');
    expect((await app.send(key)).headers['retry-after']).toBe('1');

    app.clock.now = new Date('2026-11-22T00:00:00.000Z');
    const first = await app.send(key);
    expect([first.statusCode, first.headers.ratelimit]).toEqual([200, '"daily";r=999;t=86400']);
    expect(first.headers['x-ratelimit-reset']).toBe(`${Date.parse('2026-11-23T00:00:00Z') / 1000}`);
    expect([await used(key), await used(key, '20261122')]).toEqual([1000, 1]);
  });

  it.each([
    ['2026-11-21T12:59:59Z', '2026-11-21T13:00:00Z', 'in summer'],
    ['2026-07-01T13:59:59Z', '2026-07-01T14:00:00Z', 'in winter'],
    ['2026-10-03T15:59:59Z', '2026-10-03T16:00:00Z', 'when daylight saving begins'],
  ])('the day of the quota does not end at midnight in Sydney (from %s to %s, %s)', async (before, after) => {
    const key = await issueTestKey(store);
    for (const moment of [before, after]) {
      app.clock.now = new Date(moment);
      await app.send(key);
    }
    expect(await used(key, before.slice(0, 10).replaceAll('-', ''))).toBe(2);
  });
});

describe('plans', () => {
  it('the Developer plan allows 50,000 requests a day', async () => {
    const key = await issueTestKey(store, { plan: 'developer' });
    await use(key, 49_999);
    expect((await app.send(key)).headers.ratelimit).toBe('"daily";r=0;t=50400');
    const response = await app.send(key);
    expect(response.statusCode).toBe(429);
    expect(response.json().error.message).toMatch(/50,000 of 50,000 requests \(Developer\)/);
  });

  it('the Pro plan has no daily limit and no limit headers, and its requests are still counted', async () => {
    const key = await issueTestKey(store, { plan: 'pro' });
    await use(key, 100_000);
    const response = await app.send(key);
    expect(response.statusCode).toBe(200);
    expect(Object.keys(response.headers).filter((name) => /ratelimit/.test(name))).toEqual([]);
    expect(await used(key)).toBe(100_001);
  });

  it('a plan applies to the account, whichever of its keys is used', async () => {
    const [one, other] = [
      await issueTestKey(store, { email: 'two@example.com' }),
      await issueTestKey(store, { email: 'two@example.com' }),
    ];
    await use(one, 999);
    expect((await app.send(one)).statusCode).toBe(200);
    expect((await app.send(other)).statusCode).toBe(429);
  });
});

it('test keys are accepted only in the sandbox', async () => {
  const key = await issueTestKey(store, { kind: 'test' });
  expect((await app.send(key)).statusCode).toBe(401);
  const sandbox = await buildProbeApp({ store, acceptsTestKeys: true });
  expect((await sandbox.send(key)).statusCode).toBe(200);
  await sandbox.close();
});

it('one process admits exactly 1,000 of 5,000 concurrent requests', async () => {
  const key = await issueTestKey(store);
  const responses = await Promise.all(Array.from({ length: 5000 }, () => app.send(key)));
  const statuses = responses.map(({ statusCode }) => statusCode);
  expect([
    statuses.filter((status) => status === 200).length,
    statuses.filter((status) => status === 429).length,
  ]).toEqual([1000, 4000]);
  expect(await used(key)).toBe(1000);
});
