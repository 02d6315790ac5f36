import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { quotaDay } from '#src/access/day.ts';
import { parseKey } from '#src/access/keys.ts';
import type { Accounts } from '#src/access/store.ts';
import { openAccounts } from '#src/access/stores/open-store.ts';
import { issueTestKey } from '../support/access.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

let redis: TestRedis;
let register: Accounts & { close(): Promise<void> };
let processes: ChildProcess[];

beforeAll(async () => {
  redis = await startRedis();
  const program = join(import.meta.dirname, 'admitting-process.ts');
  processes = [1, 2, 3].map(() => fork(program, [redis.url, '']));
  await Promise.all(processes.map((child) => once(child, 'message')));
  await allAnnounced();
  await allAnnounced();
  register = openAccounts({ redisUrls: [redis.url], dataDir: '' });
});
afterAll(async () => {
  for (const child of processes) child.kill();
  await register.close();
  await redis.stop();
});

/** Waits until each process has announced itself again. After two rounds, each has read how many there are. */
async function allAnnounced(): Promise<void> {
  const admin = new Redis(redis.url);
  const since = Date.now() + 1;
  const announced = async () => expect(await admin.zcount('tis:instances', since, '+inf')).toBe(3);
  await vi.waitFor(announced, 60_000);
  admin.disconnect();
}

/** Returns how many of the requests each process answers with 200. */
async function send(key: string, requests: number): Promise<number[]> {
  const responses = processes.map((child) => once(child, 'message') as Promise<[Record<string, number>]>);
  for (const child of processes) child.send({ key, requests });
  return (await Promise.all(responses)).map(([statuses]) => statuses[200] ?? 0);
}

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);

it('three processes without Redis together admit an account’s 1,000 requests and at most two more', async () => {
  const key = await issueTestKey(register);
  const { accountId = '' } = parseKey(key) ?? {};
  let served = 0;
  for (let round = 0; round < 100; round++) served += sum(await send(key, 1));
  expect(served).toBe(300);
  await redis.kill();

  const servedWhileAway = await send(key, 1000);
  served += sum(servedWhileAway);
  expect(Math.min(...servedWhileAway)).toBeGreaterThan(200);
  expect(served).toBeGreaterThanOrEqual(1000);
  expect(served).toBeLessThanOrEqual(1002);

  await redis.restart();
  const usage = () => register.loadUsage(accountId, [quotaDay(Date.now())]).catch(() => null);
  await expect.poll(usage).toEqual([served]);
  expect(sum(await send(key, 10))).toBe(0);
});
