import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeGrant } from '#src/access/grant.ts';
import { parseKey } from '#src/access/keys.ts';
import { sandboxKey } from '#src/access/sandbox-key.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { buildProbeApp } from '../support/probe-app.ts';
import { openTestStore } from '../support/redis.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'transit-sandbox-key-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

async function start(directory = dataDir): Promise<string> {
  const store = await openTestStore([], directory);
  const key = await sandboxKey(store, directory, NOW.getTime());
  await store.close();
  return key;
}

it('a data directory has the same sandbox key at each start, and another directory has another key', async () => {
  const key = await start();
  expect(key).toMatch(/^tis_test_/);
  expect([await start(), await start()]).toEqual([key, key]);
  expect(await start(join(dataDir, 'other'))).not.toBe(key);
});

it('the sandbox key works only in the sandbox', async () => {
  const store = openEmbeddedStore(join(dataDir, 'accounts.db'));
  const key = await sandboxKey(store, dataDir, NOW.getTime());
  for (const acceptsTestKeys of [true, false]) {
    const app = await buildProbeApp({ store, acceptsTestKeys });
    expect((await app.send(key)).statusCode).toBe(acceptsTestKeys ? 200 : 401);
    await app.close();
  }
  await store.close();
});

it('the sandbox key is recreated if the store has lost it', async () => {
  const key = await start();
  rmSync(join(dataDir, 'accounts.db'));
  const other = await start();
  expect(other).not.toBe(key);
  expect(await start()).toBe(other);
});

it('several data directories can store their sandbox keys in one store', async () => {
  const store = openEmbeddedStore(':memory:');
  const keys = [];
  for (let n = 0; n < 12; n++) keys.push(await sandboxKey(store, join(dataDir, `${n}`), NOW.getTime()));
  expect(new Set(keys).size).toBe(12);
  expect(await sandboxKey(store, join(dataDir, '11'), NOW.getTime())).toBe(keys[11]);
  await store.close();
});

it('the sandbox’s publishable key has the limits of a new key in production', async () => {
  const store = openEmbeddedStore(':memory:');
  const key = parseKey(await sandboxKey(store, dataDir, NOW.getTime(), 'pub'));
  const [record] = await store.listKeys(key?.accountId ?? '');
  const { grant } = makeGrant({ origins: [], apps: true, operations: [], perDay: '', perVisitorHour: '' }, 'developer');
  expect(grant?.perVisitorHour).toBe(600);
  expect(record?.grant).toMatchObject({ perDay: grant?.perDay, perVisitorHour: 600 });
  await store.close();
});

it('only its owner can read the sandbox key file', async () => {
  await start();
  expect(statSync(join(dataDir, 'sandbox-key')).mode & 0o077).toBe(0);
});
