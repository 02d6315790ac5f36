import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { utcDay } from '#src/access/day.ts';
import { parseKey } from '#src/access/keys.ts';
import type { Accounts } from '#src/access/store.ts';
import { openAccounts } from '#src/access/stores/open-store.ts';
import { issueTestKey } from '../support/access.ts';
import { type DelayingProxy, startDelayingProxy } from '../support/delaying-proxy.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

let redis: TestRedis;
let proxy: DelayingProxy;
let register: Accounts & { close(): Promise<void> };
let processes: ChildProcess[];

beforeAll(async () => {
  redis = await startRedis();
  register = openAccounts({ redisUrls: [redis.url], dataDir: '' });
  proxy = await startDelayingProxy(redis.port, 20);
  const program = join(import.meta.dirname, 'admitting-process.ts');
  processes = [1, 2, 3].map(() => fork(program, [`redis://127.0.0.1:${proxy.port}`, '']));
  await Promise.all(processes.map((child) => once(child, 'message')));
});
afterAll(async () => {
  for (const child of processes) child.kill();
  await register.close();
  await proxy.close();
  await redis.stop();
});

/** Returns the process's responses by status. */
async function ask(child: ChildProcess, key: string, requests: number): Promise<Record<string, number>> {
  const response = once(child, 'message') as Promise<[Record<string, number>]>;
  child.send({ key, requests });
  return (await response)[0];
}

it('three processes count every request exactly once while Redis freezes, is killed or loses connections', {
  timeout: 120_000,
}, async () => {
  const key = await issueTestKey(register, { plan: 'developer' });
  const { accountId = '' } = parseKey(key) ?? {};
  const totals: Record<string, number> = {};
  let isOver = false;
  const asking = processes.map(async (child) => {
    while (!isOver) {
      for (const [status, count] of Object.entries(await ask(child, key, 10))) {
        totals[status] = (totals[status] ?? 0) + count;
      }
      // Without a pause, a fast machine would reach the daily limit.
      await sleep(5);
    }
  });

  for (let n = 0; n < 3; n++) {
    await sleep(500 + Math.random() * 500);
    redis.signal('SIGSTOP');
    await sleep(Math.random() * 1000);
    redis.signal('SIGCONT');
    await sleep(500 + Math.random() * 500);
    proxy.cut();
    await sleep(500 + Math.random() * 500);
    await redis.kill();
    await sleep(Math.random() * 500);
    await redis.restart();
  }
  await sleep(1500);
  isOver = true;
  await Promise.all(asking);

  expect(Object.keys(totals)).toEqual(['200']);
  const used = () => register.readUsage(accountId, [utcDay(new Date())]);
  // Instances send the counts they made without Redis when it is back, which takes seconds on a busy machine.
  await expect.poll(used).toEqual([totals[200]]);
  await sleep(1500);
  expect(await used()).toEqual([totals[200]]);
});
