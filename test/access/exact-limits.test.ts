import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quotaDay } from '#src/access/day.ts';
import { parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { issueTestKey } from '../support/access.ts';
import { openTestStore, startRedis, startRedisCluster } from '../support/redis.ts';

/** Stores that four processes can share. */
const SHARED = {
  'one Redis': async () => {
    const redis = await startRedis();
    return { redisUrl: redis.url, dataDir: '', stop: redis.stop };
  },
  'a Redis cluster of three nodes': async () => {
    const cluster = await startRedisCluster();
    return { redisUrl: cluster.url, dataDir: '', stop: cluster.stop };
  },
  'one embedded file': async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'transit-exact-'));
    return { redisUrl: '', dataDir, stop: async () => rmSync(dataDir, { recursive: true }) };
  },
};

describe.each(Object.entries(SHARED))('four processes on %s', (_name, open) => {
  let processes: ChildProcess[];
  let store: AccountStore;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    const shared = await open();
    store = await openTestStore(shared.redisUrl.split(',').filter(Boolean), shared.dataDir);
    const program = join(import.meta.dirname, 'admitting-process.ts');
    processes = [1, 2, 3, 4].map(() => fork(program, [shared.redisUrl, shared.dataDir]));
    await Promise.all(processes.map((child) => once(child, 'message')));
    stop = async () => {
      for (const child of processes) child.kill();
      await store.close();
      await shared.stop();
    };
  });
  afterAll(() => stop());

  /** Returns the number of responses by status, over all processes. */
  async function send(key: string, requests: readonly number[]): Promise<Record<string, number>> {
    const totals: Record<string, number> = {};
    const responses = processes.map((child) => once(child, 'message') as Promise<[Record<string, number>]>);
    for (const [index, child] of processes.entries()) child.send({ key, requests: requests[index] ?? 0 });
    for (const [statuses] of await Promise.all(responses)) {
      for (const [status, count] of Object.entries(statuses)) totals[status] = (totals[status] ?? 0) + count;
    }
    return totals;
  }

  it('only one of four processes can use a link', async () => {
    const { accountId = '' } = parseKey(await issueTestKey(store)) ?? {};
    for (let issuedAt = 1; issuedAt <= 20; issuedAt++) {
      const reports = processes.map((child) => once(child, 'message') as Promise<[boolean]>);
      for (const child of processes) child.send({ link: accountId, issuedAt });
      expect((await Promise.all(reports)).flat().filter(Boolean)).toHaveLength(1);
    }
  });

  it.each([
    ['5,000 requests, evenly spread', [1250, 1250, 1250, 1250], { 200: 1000, 429: 4000 }],
    ['5,000 requests, 98 % of them at one process', [4900, 34, 33, 33], { 200: 1000, 429: 4000 }],
    ['1,000 requests, evenly spread', [250, 250, 250, 250], { 200: 1000 }],
    ['1,000 requests, 98 % of them at one process', [980, 7, 7, 6], { 200: 1000 }],
  ])('four processes together admit exactly 1,000 of %s', async (_case, requests, expected) => {
    const key = await issueTestKey(store);
    const days = [quotaDay(Date.now())];
    const answered = await send(key, requests);
    days.push(quotaDay(Date.now()));
    expect(answered).toEqual(expected);
    expect(await store.loadUsage(parseKey(key)?.accountId ?? '', [...new Set(days)])).toEqual([1000]);
  });
});
