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
    loadKey: (request) => {
      lookUps++;
      return store.loadKey(request);
    },
  };
  app = await buildProbeApp({ store: counting, now: '2026-11-21T10:00:00Z' });
});
afterEach(async () => {
  await app.close();
  await store.close();
});

const unknownKey = () => generateKey('live', generateAccountId());
const countStatuses = async (keys: string[]) => {
  const responses = await Promise.all(keys.map((key) => app.send(key)));
  return Object.fromEntries(
    [...Map.groupBy(responses, ({ statusCode }) => statusCode)].map(([status, { length }]) => [status, length]),
  );
};

describe('a flood of well-formed but unknown keys', () => {
  it('a flood of unknown keys causes no refusal of valid keys from the same network, new to this process or not', async () => {
    const known = await issueTestKey(store);
    expect((await app.send(known)).statusCode).toBe(200);
    expect(await countStatuses(Array.from({ length: FLOOD }, unknownKey))).toEqual({ 401: FLOOD });
    expect((await app.send(known)).statusCode).toBe(200);
    expect((await app.send(await issueTestKey(store))).statusCode).toBe(200);
  });

  it('a flood of unknown keys causes one lookup per key in five seconds', async () => {
    const key = unknownKey();
    for (let count = 0; count < 50; count++) expect((await app.send(key)).statusCode).toBe(401);
    expect(lookUps).toBe(1);
    app.clock.now = new Date(app.clock.now.getTime() + 5000);
    await app.send(key);
    expect(lookUps).toBe(2);
  });
});

it('valid keys new to this process are never refused, however many come from one network', async () => {
  const keys = await Promise.all(Array.from({ length: 300 }, () => issueTestKey(store)));
  expect(await countStatuses(keys)).toEqual({ 200: 300 });
  const pro = await issueTestKey(store, { plan: 'pro' });
  expect(await countStatuses(Array(500).fill(pro))).toEqual({ 200: 500 });
});
