import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { quotaDay } from '#src/access/day.ts';
import { generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { sleep, systemClock } from '#src/core/clock.ts';
import { issueTestKey } from '../support/access.ts';
import { buildProbeApp, type ProbeApp } from '../support/probe-app.ts';

/** SQLite's own way to wait would block the event loop for two seconds. */
const BLOCKED_MS = 1500;

let directory: string;
let store: AccountStore;
let app: ProbeApp;
let other: DatabaseSync;
let lines: string[];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'transit-locked-'));
  const path = join(directory, 'accounts.db');
  lines = [];
  const write = (_fields: object, message: string) => void lines.push(message);
  store = openEmbeddedStore(path, { info: write, warn: write });
  app = await buildProbeApp({ store });
  other = new DatabaseSync(path);
  return async () => {
    await app.close();
    await store.close();
    other.close();
    rmSync(directory, { recursive: true });
  };
});

async function used(key: string): Promise<number> {
  return (await store.loadUsage(parseKey(key)?.accountId ?? '', [quotaDay(Date.now())]))[0] ?? 0;
}

describe('the account database while another process holds its file', () => {
  const lag = monitorEventLoopDelay({ resolution: 5 });
  beforeEach(() => lag.reset());
  afterEach(() => lag.disable());

  it('all keys still work while another process holds the account database, and the process stays responsive', async () => {
    const [known, newcomer] = [await issueTestKey(store), await issueTestKey(store)];
    await app.send(known);
    other.exec('BEGIN IMMEDIATE');
    lag.enable();
    for (let n = 0; n < 10; n++) {
      const [one, two] = await Promise.all([app.send(known), app.send(newcomer)]);
      expect([one.statusCode, two.statusCode]).toEqual([200, 200]);
      await sleep(systemClock, 50);
    }
    expect(lag.max / 1e6).toBeLessThan(BLOCKED_MS);
    expect(lines).toEqual(['the account database is unreachable']);

    other.exec('COMMIT');
    await expect.poll(() => lines).toEqual(['the account database is unreachable', 'the account database is back']);
    expect((await app.send(newcomer)).statusCode).toBe(200);
    // Closing sends the pending counts.
    await app.close();
    expect([await used(known), await used(newcomer)]).toEqual([11, 11]);
  });

  it('requests wait while another process holds the account database briefly, and are charged as usual', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => issueTestKey(store)));
    other.exec('BEGIN IMMEDIATE');
    setTimeout(() => other.exec('COMMIT'), 20);
    const responses = await Promise.all(keys.map((key) => app.send(key)));
    expect(responses.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(keys.map(() => '999'));
    expect(lines).toEqual([]);
  });

  it('an unknown key still gets 401 while another process holds the account database', async () => {
    other.exec('BEGIN IMMEDIATE');
    expect((await app.send(generateKey('live', generateAccountId()))).statusCode).toBe(401);
    other.exec('COMMIT');
  });

  it('a signup waits while another process holds the account database, and the process stays responsive', async () => {
    other.exec('BEGIN IMMEDIATE');
    lag.enable();
    setTimeout(() => other.exec('COMMIT'), 700);
    const key = await issueTestKey(store);
    expect(lag.max / 1e6).toBeLessThan(BLOCKED_MS);
    expect((await app.send(key)).statusCode).toBe(200);
  });
});
