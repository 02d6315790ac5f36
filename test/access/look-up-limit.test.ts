import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateAccountId, generateKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildProbeApp, type ProbeApp } from '#test/support/probe-app.ts';

const FLOOD = 1000;

let store: AccountStore;
let app: ProbeApp;
let lookUps: number;

beforeEach(async () => {
  store = openEmbeddedStore(':memory:');
  lookUps = 0;
  const counting: AccountStore = {
    ...store,
    readKey: (request) => {
      lookUps++;
      return store.readKey(request);
    },
  };
  app = await buildProbeApp({ store: counting, now: '2026-11-21T10:00:00Z' });
});
afterEach(async () => {
  await app.close();
  await store.close();
});

const unknownKey = () => generateKey('live', generateAccountId());
const later = (ms: number) => {
  app.clock.now = new Date(app.clock.now.getTime() + ms);
};
const ask = (key: string, remoteAddress = '192.0.2.1') =>
  app.inject({ url: '/v1/probe', remoteAddress, headers: { authorization: `Bearer ${key}` } });

/** The statuses of requests with as many unknown keys, each from the address that its number gives. */
async function flood(requests: number, addressOf: (index: number) => string = () => '192.0.2.1') {
  const responses = await Promise.all(
    Array.from({ length: requests }, (_, index) => ask(unknownKey(), addressOf(index))),
  );
  return Map.groupBy(responses, ({ statusCode }) => statusCode);
}

describe('a flood of well-formed keys that are unknown', () => {
  it('costs 100 look-ups and then 30 a second for one address; the others are 429', async () => {
    const responses = await flood(FLOOD);
    expect([...responses].map(([status, { length }]) => [status, length])).toEqual([
      [401, 100],
      [429, FLOOD - 100],
    ]);
    expect(lookUps).toBe(100);
    later(1000);
    await flood(FLOOD);
    expect(lookUps).toBe(130);
  });

  it('is told that the key was not looked up, and when to come again', async () => {
    const [refused] = (await flood(150)).get(429) ?? [];
    expect(refused?.headers['retry-after']).toBe('1');
    expect(refused?.json().error).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      message:
        'Too many API keys that are not valid are being sent, so this one was not looked up: it may be valid or not. Try again in a second.',
    });
  });

  it('counts the /64 of an IPv6 address as one', async () => {
    await flood(FLOOD, (index) => `2001:db8:0:1::${index.toString(16)}`);
    expect(lookUps).toBe(100);
  });

  it('does not touch a key that was valid lately, from the same address either', async () => {
    const key = await issueTestKey(store);
    await ask(key);
    await flood(FLOOD);
    for (let n = 0; n < 10; n++) expect((await ask(key)).statusCode).toBe(200);
  });

  it('does not touch a key that is new to this process and comes from another address', async () => {
    await flood(FLOOD);
    const key = await issueTestKey(store, { plan: 'pro' });
    expect((await ask(key, '198.51.100.7')).statusCode).toBe(200);
  });
});

describe('keys that this process has not seen', () => {
  it('are looked up once when many requests arrive with one of them at once', async () => {
    const key = unknownKey();
    const responses = await Promise.all(Array.from({ length: 500 }, () => ask(key)));
    expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([401]));
    expect(lookUps).toBe(1);
  });

  it('are never refused while they are valid, however many come from one address', async () => {
    const keys = await Promise.all(Array.from({ length: 300 }, () => issueTestKey(store)));
    for (const key of keys) expect((await ask(key)).statusCode).toBe(200);
    const pro = await issueTestKey(store, { plan: 'pro' });
    const responses = await Promise.all(Array.from({ length: 500 }, () => ask(pro)));
    expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  });
});
