import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildProbeApp, type ProbeApp } from '#test/support/probe-app.ts';
import { openTestStore, startRedis, type TestRedis } from '#test/support/redis.ts';

/** The longest time until a revocation or a change of plan is in force everywhere, as docs/operations.md gives it. */
const IN_FORCE_AFTER_MS = 10_000;
const DAY_MS = 86_400_000;

let redis: TestRedis;
let admin: Redis;
let stores: AccountStore[];
let apps: [ProbeApp, ProbeApp];

beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis(redis.url);
  stores = [await openTestStore([redis.url]), await openTestStore([redis.url])];
  const now = '2026-11-21T10:00:00Z';
  const [one, other] = await Promise.all(stores.map((store) => buildProbeApp({ store, now })));
  apps = [one as ProbeApp, other as ProbeApp];
});
afterAll(async () => {
  for (const app of apps) await app.close();
  for (const store of stores) await store.close();
  admin.disconnect();
  await redis.stop();
});

const register = () => stores[0] as AccountStore;
const keyOf = (text: string) => parseKey(text) as NonNullable<ReturnType<typeof parseKey>>;

function setClocks(moment: string | number): void {
  for (const { clock } of apps) clock.now = new Date(moment);
}
function later(ms: number): void {
  setClocks(apps[0].clock.now.getTime() + ms);
}

/** The statuses of one request to each instance. */
const sendBoth = async (key: string) =>
  (await Promise.all(apps.map((app) => app.send(key)))).map((response) => response.statusCode);

async function revoke(key: string): Promise<void> {
  const { accountId, hash } = keyOf(key);
  await register().revokeKey(accountId, hash, apps[0].clock.now.getTime());
}

describe('a key known to both instances', () => {
  it.each(['free', 'developer'] as const)(
    'a revoked key on the %s plan is refused by both instances at once',
    async (plan) => {
      const key = await issueTestKey(register(), { plan });
      expect(await sendBoth(key)).toEqual([200, 200]);
      await revoke(key);
      expect(await sendBoth(key)).toEqual([401, 401]);
    },
  );

  it('a revoked key on the Pro plan is refused by both instances within ten seconds', async () => {
    const key = await issueTestKey(register(), { plan: 'pro' });
    expect(await sendBoth(key)).toEqual([200, 200]);
    await revoke(key);
    later(IN_FORCE_AFTER_MS - 1);
    expect(await sendBoth(key)).toEqual([200, 200]);
    later(1);
    expect(await sendBoth(key)).toEqual([401, 401]);
  });

  it.each([
    ['free', 'pro'],
    ['free', 'developer'],
    ['pro', 'free'],
    ['pro', 'developer'],
    ['developer', 'free'],
  ] as const)(
    'a change of plan from %s to %s is in force on both instances within ten seconds',
    async (before, after) => {
      const key = await issueTestKey(register(), { plan: before });
      await sendBoth(key);
      await register().setPlan(keyOf(key).accountId, after);
      later(IN_FORCE_AFTER_MS);
      const limits = await Promise.all(apps.map(async (app) => (await app.send(key)).headers['x-ratelimit-limit']));
      const expected = { free: '1000', developer: '50000', pro: undefined }[after];
      expect(limits).toEqual([expected, expected]);
    },
  );

  it('an exhausted account is admitted again by both instances when it gets a larger plan', async () => {
    const key = await issueTestKey(register());
    const { accountId, hash } = keyOf(key);
    const day = '20261121';
    await register().admit({ accountId, keyHash: hash, day, count: 1000, sender: 'test' });
    expect(await sendBoth(key)).toEqual([429, 429]);
    await register().setPlan(accountId, 'developer');
    later(IN_FORCE_AFTER_MS);
    expect(await sendBoth(key)).toEqual([200, 200]);
  });
});

describe('two instances under load', () => {
  /** Sends requests to both instances; some fail and are refunded. Returns the number of served requests. */
  async function load(key: string, rounds: number, between: (round: number) => unknown): Promise<number> {
    let served = 0;
    const sent: Promise<void>[] = [];
    const send = async (app: ProbeApp, url: string) => {
      const { statusCode } = await app.send(key, url);
      if (url.endsWith('failing')) expect(statusCode).toBe(504);
      else expect(statusCode).toBe(200);
      if (statusCode === 200) served++;
    };
    for (let round = 0; round < rounds; round++) {
      for (const app of apps) sent.push(send(app, '/v1/probe'), send(app, '/v1/probe/failing'), send(app, '/v1/probe'));
      await between(round);
    }
    await Promise.all(sent);
    return served;
  }

  const usageOf = async (key: string, days: string[]) => register().loadUsage(keyOf(key).accountId, days);
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);

  it.each(['free', 'pro'] as const)(
    'two instances on the %s plan count every request once, on one of the two days, when the day ends',
    async (plan) => {
      const key = await issueTestKey(register(), { plan });
      setClocks('2026-11-21T23:59:59.900Z');
      const served = await load(key, 40, (round) => {
        later(5);
        return round % 10 === 0 ? apps[0].send(key) : undefined;
      });
      await expect.poll(async () => sum(await usageOf(key, ['20261121', '20261122']))).toBe(served + 4);
      expect(Math.min(...(await usageOf(key, ['20261121', '20261122'])))).toBeGreaterThan(0);
    },
  );

  it.each(['free', 'pro'] as const)(
    'two instances on the %s plan count every request once when their clocks jump back and forth',
    async (plan) => {
      const key = await issueTestKey(register(), { plan });
      const noon = Date.parse('2026-11-25T12:00:00Z');
      const moments = [0, 3_600_000, -3_600_000, DAY_MS, -DAY_MS, 0, 59_000, -59_000].map((ms) => noon + ms);
      const served = await load(key, moments.length * 3, async (round) => {
        setClocks(moments[round % moments.length] ?? noon);
        await new Promise(setImmediate);
      });
      await expect.poll(async () => sum(await usageOf(key, ['20261124', '20261125', '20261126']))).toBe(served);
    },
  );
});

it('a Redis that lost all data causes no 5xx: keys are unknown, and restored accounts count again', async () => {
  setClocks('2026-12-01T10:00:00Z');
  const day = '20261201';
  const texts = [await issueTestKey(register()), await issueTestKey(register(), { plan: 'pro' })];
  const statuses = new Set<number>();
  const saved = await Promise.all(
    texts.map(async (text) => {
      const { accountId, hash } = keyOf(text);
      const account = await register().loadAccount(accountId);
      const record = (await register().listKeys(accountId)).find((key) => key.hash === hash);
      if (!account || !record) throw new Error('the account is there');
      const { revokedAt: _revokedAt, lastUsedOn: _lastUsedOn, ...kept } = record;
      return { account, record: kept };
    }),
  );
  const send = async () => {
    for (const text of texts) for (const status of await sendBoth(text)) statuses.add(status);
  };

  await send();
  for (let round = 0; round < 20; round++) await Promise.all([send(), round === 10 ? admin.flushall() : send()]);
  later(IN_FORCE_AFTER_MS);
  expect(await Promise.all(texts.map(sendBoth))).toEqual([
    [401, 401],
    [401, 401],
  ]);
  expect([...statuses].sort()).toEqual([200, 401]);

  for (const { account, record } of saved) {
    await register().openAccount(account);
    await register().addKey(record, 5);
  }
  later(IN_FORCE_AFTER_MS);
  for (let round = 0; round < 5; round++)
    expect(await Promise.all(texts.map(sendBoth))).toEqual([
      [200, 200],
      [200, 200],
    ]);
  for (const text of texts) {
    await expect.poll(() => register().loadUsage(keyOf(text).accountId, [day])).toEqual([10]);
  }
});
