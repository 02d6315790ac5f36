import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRedis } from '#src/core/redis/shared-redis.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { BudgetExhaustedError } from '#src/upstream/budget/budget.ts';
import { presumedSpent } from '#src/upstream/budget/pace.ts';
import { createSharedMeters, protectUpstream } from '#src/upstream/protection.ts';
import { departureMonitorFor } from '#test/support/departure-monitor.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { startRedis, startRedisCluster, type TestRedis } from '#test/support/redis.ts';
import { type Handler, startUpstream, type TestUpstream } from '#test/support/upstream.ts';

const FIRST = { kind: 'departureMonitor', stopId: '200060', modes: ['bus'], at: null } as const;
const answer: Handler = ({ url }, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(departureMonitorFor(url, '2026-04-15T06:10:00Z'));
};

let redis: TestRedis;
let upstream: TestUpstream;
let admin: Redis;
const closing: (() => unknown)[] = [];
/** Redis dies in one of the tests, and a connection that monitors it would treat what comes afterwards as replies. */
const monitors: Redis[] = [];

beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis(redis.url);
  admin.on('error', () => {});
  upstream = await startUpstream(answer);
});
beforeEach(async () => {
  await admin.flushall();
  upstream.requests.length = 0;
  upstream.respondWith(answer);
});
afterEach(() => {
  // A test that failed may have left it frozen.
  redis.signal('SIGCONT');
  for (const monitor of monitors.splice(0)) monitor.disconnect();
});
afterAll(async () => {
  for (const close of closing) await close();
  admin.disconnect();
  await upstream.close();
  await redis.stop();
});

/** One instance in this process. */
async function startInstance(urls = [redis.url]) {
  const limits = { rps: 5, dailyBudget: 60_000 };
  const log = createTestLog();
  const room = await openRedis(urls, log);
  const raw = createEfaClient({ url: upstream.url, apiKey: 'test-key', timeoutMs: 5000, now: Date.now });
  const meters = createSharedMeters(room, { apiKeys: ['test-key'], limits });
  closing.push(room.close, raw.close);
  const efa = protectUpstream({ callByKey: [raw.callUpstream], limits, log, meters });
  /** A busy machine may need longer than a request may wait for its call. Such a request made no call. */
  async function sendUntilCalled(sent: Parameters<typeof efa.queryUpstream>[0]): Promise<unknown> {
    for (;;) {
      try {
        return await efa.queryUpstream(sent);
      } catch (error) {
        if (!(error instanceof BudgetExhaustedError && error.unavailable === 'rate')) throw error;
      }
    }
  }
  return { efa, sendUntilCalled, log, room };
}

async function startProcess(rps = '5'): Promise<ChildProcess> {
  const child = fork(new URL('./coordination-process.ts', import.meta.url), [redis.url, upstream.url, rps]);
  closing.push(() => child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

/** Collects the times at which Redis lets calls begin, by its own clock, so that the load on this machine does not matter. */
async function watchStarts(): Promise<number[]> {
  const starts: number[] = [];
  const monitor = await admin.monitor();
  monitors.push(monitor);
  monitor.on('monitor', (_time: string, [command = '', key = '', moment = '']: string[]) => {
    if (command.toUpperCase() === 'LPUSH' && key.endsWith(':starts')) starts.push(Number(moment));
  });
  return starts;
}

async function expectFiveASecond(starts: readonly number[]): Promise<void> {
  await expect.poll(() => starts.length).toBeGreaterThan(5);
  const gaps = starts.slice(5).map((start, index) => start - (starts[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000);
}

async function send(child: ChildProcess, stops: string[], times = 1): Promise<{ ok: number; errors: string[] }> {
  const id = randomUUID();
  const { promise, resolve } = Promise.withResolvers<{ ok: number; errors: string[] }>();
  child.on('message', (report: { id: string; ok: number; errors: string[] }) => {
    if (report.id === id) resolve({ ok: report.ok, errors: report.errors });
  });
  child.send({ id, stops, times });
  return promise;
}

describe('instances with one Redis', () => {
  it('instances with one Redis share five calls a second', async () => {
    const starts = await watchStarts();
    const processes = await Promise.all([1, 2, 3].map(() => startProcess()));
    for (const round of [0, 1]) {
      const stopsOf = (index: number) => [1, 2, 3, 4, 5].map((stop) => `${round}${index}${stop}`);
      await Promise.all(processes.map((child, index) => send(child, stopsOf(index))));
    }
    await expectFiveASecond(starts);
  });

  it('instances with one Redis share five calls a second with feed polls', async () => {
    const starts = await watchStarts();
    const instances = await Promise.all([startInstance(), startInstance()]);
    const poll = async () => {};
    await Promise.allSettled(instances.flatMap(({ efa }) => Array.from({ length: 4 }, () => efa.callForFeed(poll))));
    await expectFiveASecond(starts);
  });

  it('instances with one Redis all pause when upstream refuses calls', async () => {
    const [one, other] = await Promise.all([startInstance(), startInstance()]);
    upstream.respondWith((_request, response) => void response.writeHead(429, { 'retry-after': '60' }).end());
    await expect(one.efa.queryUpstream(FIRST)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    await expect(other.efa.queryUpstream({ ...FIRST, stopId: '2' })).rejects.toMatchObject({
      headers: { 'retry-after': '60' },
    });
    expect(upstream.requests).toHaveLength(1);
  });

  it('instances continue alone while Redis is unreachable, pause once, and reconcile when it is back', async () => {
    const { sendUntilCalled, log, room } = await startInstance();
    await sendUntilCalled(FIRST);
    redis.signal('SIGSTOP');
    await sendUntilCalled({ ...FIRST, stopId: '11' });
    // From now on nothing waits for Redis.
    expect(room.presence.isUnreachable('')).toBe(true);
    for (const stopId of ['12', '13', '14']) await sendUntilCalled({ ...FIRST, stopId });
    await sendUntilCalled({ ...FIRST, stopId: '11' });
    expect(upstream.requests).toHaveLength(5);
    expect(room.presence.isUnreachable('')).toBe(true);

    redis.signal('SIGCONT');
    await expect.poll(() => log.lines.some(({ level }) => level === 'info')).toBe(true);
    await sendUntilCalled({ ...FIRST, stopId: '15' });
    const [spentKey = ''] = await admin.keys('*:spent:*');
    const spent = Number(await admin.get(spentKey));
    // Six calls in all; the one sent to the frozen Redis may also have been counted there.
    const before = spent - upstream.requests.length;
    expect(Math.abs(before - presumedSpent(Date.now(), { rps: 5, dailyBudget: 60_000 }))).toBeLessThanOrEqual(15);
  });

  it('instances share the calls of a day through a Redis cluster too', async () => {
    const cluster = await startRedisCluster();
    closing.push(cluster.stop);
    const urls = cluster.url.split(',');
    const [one, other] = await Promise.all([startInstance(urls), startInstance(urls)]);
    const left = () => [one, other].map(({ efa }) => efa.state().callsLeft[0]);
    await one.sendUntilCalled(FIRST);
    const [before = 0] = left();
    await other.sendUntilCalled(FIRST);
    expect(left()[1]).toBe(before - 1);
    expect([...one.log.lines, ...other.log.lines]).toEqual([]);
  });

  it('instances survive a Redis that dies and comes back empty', async () => {
    const { sendUntilCalled, log } = await startInstance();
    await sendUntilCalled(FIRST);
    await redis.kill();
    await sendUntilCalled({ ...FIRST, stopId: '21' });
    await redis.restart();
    await admin.flushall().catch(() => {});
    await expect.poll(() => log.lines.some(({ level }) => level === 'info')).toBe(true);
    await sendUntilCalled({ ...FIRST, stopId: '22' });
    expect(upstream.requests).toHaveLength(3);
  });
});
