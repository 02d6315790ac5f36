import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import { Quota } from '#src/access/quota.ts';
import type { AccountStore, AdmissionReply, QuotaStore } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { UnavailableError } from '#src/core/redis/connection.ts';
import { createPresence } from '#src/core/redis/presence.ts';
import { countRequests, issueTestKey } from '#test/support/access.ts';
import { buildProbeApp, type ProbeApp } from '#test/support/probe-app.ts';
import { openTestStore, startRedis } from '#test/support/redis.ts';

const NOW = '2026-11-21T10:00:00Z';
const DAY = '20261121';

const OPENERS = {
  'the embedded store': async () => {
    const store = openEmbeddedStore(':memory:');
    return { store, close: () => store.close() };
  },
  Redis: async () => {
    const redis = await startRedis();
    const store = await openTestStore([redis.url]);
    return { store, close: () => store.close().then(redis.stop) };
  },
} satisfies Record<string, () => Promise<{ store: AccountStore; close: () => Promise<void> }>>;

describe.each(Object.entries(OPENERS))('a request that costs five, in %s', (_name, open) => {
  let store: AccountStore;
  let app: ProbeApp;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ store, close } = await open());
    app = await buildProbeApp({ store, now: NOW });
  });
  afterAll(() => app.close().then(close));

  const used = async (key: string) => (await store.loadUsage(parseKey(key)?.accountId ?? '', [DAY]))[0];

  it('a request that costs five is charged as five, and its response says so', async () => {
    const key = await issueTestKey(store);
    const response = await app.send(key, '/v1/probe/five');
    expect(response.statusCode).toBe(200);
    expect(response.headers['x-ratelimit-remaining']).toBe('995');
    expect(await used(key)).toBe(5);
  });

  it('a request that costs five is refused as a whole, uncharged, if fewer are left', async () => {
    const key = await issueTestKey(store);
    await countRequests(store, key, 996, DAY);
    const response = await app.send(key, '/v1/probe/five');
    expect(response.statusCode).toBe(429);
    expect(response.json().error).toMatchObject({
      code: 'DAILY_LIMIT_EXCEEDED',
      message:
        'This request counts as 5 requests, but only 4 of 1,000 are left today (Free). Resets at 2026-11-22T00:00:00Z (11:00 in Sydney).',
    });
    expect(response.headers).toMatchObject({ 'x-ratelimit-remaining': '4', 'retry-after': '50400' });
    expect(await used(key)).toBe(996);
    for (let left = 3; left >= 0; left--) {
      expect((await app.send(key)).headers['x-ratelimit-remaining']).toBe(String(left));
    }
    expect((await app.send(key)).statusCode).toBe(429);
  });

  it('a request that costs five can use exactly the last five', async () => {
    const key = await issueTestKey(store);
    await countRequests(store, key, 995, DAY);
    expect((await app.send(key, '/v1/probe/five')).statusCode).toBe(200);
    expect(await used(key)).toBe(1000);
  });

  it('at most 200 of 300 concurrent requests that cost five are admitted, with exact counts', async () => {
    const key = await issueTestKey(store);
    const responses = await Promise.all(Array.from({ length: 300 }, () => app.send(key, '/v1/probe/five')));
    const served = responses.filter(({ statusCode }) => statusCode === 200).length;
    // One request of each five is counted before the other four, so some may be refused although there is just room for them.
    expect(served).toBeLessThanOrEqual(200);
    expect(served).toBeGreaterThan(100);
    expect(await used(key)).toBe(5 * served);
  });

  it('a request that costs five is refunded in full if it fails or the caller already has the response', async () => {
    const key = await issueTestKey(store);
    for (const path of ['/v1/probe/five?failing', '/v1/probe/five?unchanged']) {
      expect((await app.send(key, path)).headers['x-ratelimit-remaining']).toBe('1000');
    }
    expect(await used(key)).toBe(0);
  });

  it('a request that costs five is charged as one if it is refused before its work begins, however often', async () => {
    const key = await issueTestKey(store);
    for (let sent = 1; sent <= 110; sent++) {
      const response = await app.send(key, '/v1/probe/five?unknown');
      expect(response.statusCode).toBe(404);
      expect(response.headers['x-ratelimit-remaining']).toBe(String(1000 - sent));
    }
    expect(await used(key)).toBe(110);
  });

  it('a request that costs five is charged as five if nothing was found by its work', async () => {
    const key = await issueTestKey(store);
    const response = await app.send(key, '/v1/probe/five?searched');
    expect(response.json().error.message).toBe('No such stop. This request is counted.');
    expect(await used(key)).toBe(5);
  });

  it('a request that costs five is refunded to the day that was charged', async () => {
    const key = await issueTestKey(store);
    app.clock.now = new Date('2026-11-21T23:59:59.900Z');
    app.meanwhile = () => {
      app.clock.now = new Date('2026-11-22T00:00:00.100Z');
    };
    await app.send(key, '/v1/probe/five?failing');
    expect(await store.loadUsage(parseKey(key)?.accountId ?? '', [DAY, '20261122'])).toEqual([0, 0]);
    app.clock.now = new Date(NOW);
    app.meanwhile = () => {};
  });
});

describe('a request that costs five, while the store is unreachable', () => {
  const key = parseKey(generateKey('live', generateAccountId()));
  if (!key) throw new Error('no key');
  const log = pino({ level: 'silent' });
  let response: () => Promise<AdmissionReply>;
  let counted = 0;
  let isReachable = true;
  const probe = async () => {
    if (!isReachable) throw new UnavailableError('unreachable', 'not-sent');
  };
  const store: QuotaStore = {
    isRemote: true,
    instances: () => 1,
    presence: createPresence({ storeName: 'the store', nodeOf: () => '', probe, log, marginMs: 60 }),
    admit: () => response(),
    loadKey: async () => {
      throw new UnavailableError('unreachable', 'not-sent');
    },
    check: async () => 'writable',
    update: async ({ count, unacknowledged }) => {
      if (!isReachable) throw new UnavailableError('unreachable', 'not-sent');
      counted += count - unacknowledged;
      return 0;
    },
  };
  const quota = new Quota({ store, now: () => Date.parse(NOW), log });
  afterAll(() => quota.close());

  it('a process without the store admits a request that costs five by its own counts, all or none, and reports it later', async () => {
    response = async () => ({ kind: 'admitted', plan: 'free', used: 991, usedBySender: 1 });
    await quota.admit(key);
    isReachable = false;
    response = () => Promise.reject(new UnavailableError('unreachable', 'not-sent'));
    expect(await quota.admit(key, { count: 5 })).toMatchObject({ kind: 'admitted', used: 996, count: 5 });
    expect(await quota.admit(key, { count: 5 })).toMatchObject({ kind: 'exhausted' });
    expect(await quota.admit(key, { count: 4 })).toMatchObject({ kind: 'admitted', used: 1000, count: 4 });
    isReachable = true;
    response = async () => ({ kind: 'admitted', plan: 'free', used: 1000, usedBySender: 10 });
    await expect.poll(() => counted, { timeout: 5000 }).toBe(9);
  });
});
