import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateKey, parseKey } from '#src/access/keys.ts';
import { DEFAULT_BURST_LIMITS, NO_BURST_LIMITS } from '#src/access/limits/burst-limits.ts';
import { PLANS } from '#src/access/plan.ts';
import type { AccountStore } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { countRequests, issueTestKey } from '#test/support/access.ts';
import { buildProbeApp, type ProbeApp } from '#test/support/probe-app.ts';

const NOW = '2026-11-21T10:00:00Z';

let store: AccountStore;
let app: ProbeApp;

beforeEach(async () => {
  store = openEmbeddedStore(':memory:');
  app = await buildProbeApp({ store, now: NOW, burstLimits: DEFAULT_BURST_LIMITS });
});
afterEach(async () => {
  await app.close();
  await store.close();
});

const later = (ms: number) => {
  app.clock.now = new Date(app.clock.now.getTime() + ms);
};

async function used(key: string): Promise<number | undefined> {
  return (await store.loadUsage(parseKey(key)?.accountId ?? '', ['20261121']))[0];
}

/** Returns how many of `requests` concurrent requests were admitted; the others must be 429 by the burst limit. */
async function countAdmitted(keys: string | readonly string[], requests: number, url?: string): Promise<number> {
  const given = [keys].flat();
  const responses = await Promise.all(
    Array.from({ length: requests }, (_, index) => app.send(given[index % given.length] ?? '', url)),
  );
  const refused = responses.filter(({ statusCode }) => statusCode === 429);
  expect(new Set(refused.map((response) => response.json().error.code)).size).toBeLessThanOrEqual(1);
  for (const response of refused) expect(response.json().error.code).toBe('TOO_MANY_REQUESTS');
  return requests - refused.length;
}

describe('the burst limit of an account', () => {
  it.each([
    ['free', 60, 10],
    ['developer', 300, 50],
  ] as const)(
    'an account on the %s plan gets a burst of %i requests, then %i per second',
    async (plan, burst, perSecond) => {
      const key = await issueTestKey(store, { plan });
      expect(await countAdmitted(key, 1000)).toBe(burst);
      expect(await countAdmitted(key, 100)).toBe(0);
      later(1000);
      expect(await countAdmitted(key, 100)).toBe(perSecond);
      later(3_600_000);
      expect(await countAdmitted(key, 1000)).toBe(burst);
      expect(await used(key)).toBe(2 * burst + perSecond);
    },
  );

  it('an account on the Pro plan has no burst limit', async () => {
    const key = await issueTestKey(store, { plan: 'pro' });
    expect(await countAdmitted(key, 2000)).toBe(2000);
  });

  it('all keys of an account share its burst limit, and other accounts are not affected', async () => {
    const email = 'two@example.com';
    const keys = [await issueTestKey(store, { email }), await issueTestKey(store, { email })];
    expect(await countAdmitted(keys, 500)).toBe(60);
    expect(await used(keys[0] ?? '')).toBe(60);
    expect((await app.send(await issueTestKey(store))).statusCode).toBe(200);
  });

  it('invalid keys with an account’s ID use up none of its burst limit', async () => {
    const key = await issueTestKey(store);
    expect((await app.send(key)).statusCode).toBe(200);
    const madeUp = Array.from({ length: 30 }, () => generateKey('live', parseKey(key)?.accountId ?? ''));
    for (const other of madeUp) expect((await app.send(other)).statusCode).toBe(401);
    expect(await countAdmitted(key, 100)).toBe(59);
  });

  it('a refusal by the burst limit names the limit and the time to wait, and is not charged', async () => {
    const key = await issueTestKey(store);
    await countAdmitted(key, 60);
    const { statusCode, headers, json } = await app.send(key);
    expect(statusCode).toBe(429);
    expect(headers).toMatchObject({ 'retry-after': '1', ratelimit: '"daily";r=940;t=50400' });
    expect(json().error.message).toBe(
      'The Free plan allows 10 requests a second, with bursts of 60. Try again in a second. This request is not counted.',
    );
    expect(await used(key)).toBe(60);
  });

  it('Retry-After is in whole seconds even when the rate is below one request a second', async () => {
    const slow = await buildProbeApp({
      store,
      now: NOW,
      burstLimits: { ...NO_BURST_LIMITS, free: { perSecond: 0.1, burst: 1 } },
    });
    const key = await issueTestKey(store);
    expect((await slow.send(key)).statusCode).toBe(200);
    slow.clock.now = new Date(slow.clock.now.getTime() + 500);
    expect((await slow.send(key)).headers['retry-after']).toBe('10');
    await slow.close();
  });

  it('the burst limit counts a five-request call once, and a free response is not refunded to it', async () => {
    const key = await issueTestKey(store);
    expect(await countAdmitted(key, 30, '/v1/probe/five')).toBe(30);
    expect(await countAdmitted(key, 70, '/v1/probe/unchanged-from-cache')).toBe(30);
    expect(await used(key)).toBe(150);
  });

  it('the burst limit also bounds requests that are refunded because we failed', async () => {
    const key = await issueTestKey(store);
    expect(await countAdmitted(key, 500, '/v1/probe/failing')).toBe(60);
    expect(await used(key)).toBe(0);
  });

  it('the burst limit is checked before the daily limit', async () => {
    const key = await issueTestKey(store);
    await countRequests(store, key, 1000, '20261121');
    const codes = [];
    for (let n = 0; n < 61; n++) codes.push((await app.send(key)).json().error.code);
    expect(codes.lastIndexOf('DAILY_LIMIT_EXCEEDED')).toBe(59);
    expect(codes[60]).toBe('TOO_MANY_REQUESTS');
  });

  it('the burst limit still holds after the clock is set back', async () => {
    const key = await issueTestKey(store);
    await countAdmitted(key, 60);
    later(-3_600_000);
    expect(await countAdmitted(key, 10)).toBe(0);
    later(1000);
    expect(await countAdmitted(key, 60)).toBe(10);
  });

  it('a change of plan changes the burst limit', async () => {
    const key = await issueTestKey(store);
    await countAdmitted(key, 60);
    await store.setPlan(parseKey(key)?.accountId ?? '', 'pro');
    later(100);
    expect(await countAdmitted(key, 1)).toBe(1);
    expect(await countAdmitted(key, 500)).toBe(500);
  });
});

it('README.md lists the actual burst limits', () => {
  const text = readFileSync('README.md', 'utf8');
  for (const { rate } of [PLANS.free, PLANS.developer]) {
    expect(text).toContain(`| ${rate.perSecond}, with bursts of ${rate.burst} |`);
  }
});
