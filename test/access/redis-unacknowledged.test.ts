import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { issueTestKey } from '#test/support/access.ts';
import { openTestStore, startRedis, type TestRedis } from '#test/support/redis.ts';

const DAY = '20261121';

let redis: TestRedis;
let store: AccountStore;
let accountId: string;
let keyHash: string;

beforeAll(async () => {
  redis = await startRedis();
  store = await openTestStore([redis.url]);
});
afterAll(async () => {
  await store.close();
  await redis.stop();
});
beforeEach(async () => {
  const key = parseKey(await issueTestKey(store));
  if (!key) throw new Error('no key');
  ({ accountId, hash: keyHash } = key);
});

const admit = () => store.admit({ accountId, keyHash, day: DAY, sender: 'a' });
/** Requests served, and how many of them lost their response from Redis. */
const update = (number: number, count: number, unacknowledged: number) =>
  store.update({ accountId, day: DAY, count, unacknowledged, usedBySenderBefore: 0, sender: 'a', number });
const used = async () => (await store.loadUsage(accountId, [DAY]))[0];

it('a sender’s updates are counted after its unacknowledged requests are reconciled', async () => {
  await admit();
  await update(1, 1, 1);
  await update(2, 5, 0);
  expect(await used()).toBe(6);
});

it('unacknowledged requests sent in two updates are reconciled like those sent in one', async () => {
  await admit();
  await admit();
  await update(1, 1, 1);
  await update(2, 2, 2);
  expect(await used()).toBe(3);
});

it('a sender whose unacknowledged requests are reconciled can admit nothing more', async () => {
  await admit();
  await update(1, 1, 1);
  await expect(admit()).rejects.toMatchObject({ reason: 'refused' });
  expect(await used()).toBe(1);
});
