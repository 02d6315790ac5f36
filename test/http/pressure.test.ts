import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sleep, systemClock } from '#src/core/clock.ts';
import { ownPressureLimits, PressureWatch } from '#src/http/pressure.ts';
import { expectErrorObject } from '#test/contract/expect-contract.ts';
import { buildTestApp, type TestApp } from '../support/app.ts';
import { noUpstream } from '../support/no-upstream.ts';
import { startServerProcess } from '../support/process.ts';
import { createSimulatedClock } from '../support/simulated-clock.ts';

const OFF = { eventLoopDelayMs: 0, heapBytes: 0, memoryBytes: 0 };
const SAMPLE_EVERY_MS = 1000;
const clock = createSimulatedClock(0);
const apps: TestApp[] = [];

afterAll(() => Promise.all(apps.map((app) => app.close())));

async function build(limits: Partial<ReturnType<typeof ownPressureLimits>>): Promise<TestApp> {
  const pressure = new PressureWatch({ ...OFF, ...limits }, { clock });
  const app = await buildTestApp({ upstream: noUpstream, now: '2026-11-21T01:00:00Z', pressure });
  apps.push(app);
  await app.ready();
  return app;
}

describe('a process', () => {
  const own = ownPressureLimits();
  const built: Record<string, TestApp> = {};

  beforeAll(async () => {
    const limits = { heap: { heapBytes: 1 }, memory: { memoryBytes: 1 }, own };
    for (const [name, some] of Object.entries(limits)) built[name] = await build(some);
    await clock.advance(SAMPLE_EVERY_MS);
  });

  const get = (name: string, url: string) => (built[name] as TestApp).inject(url);

  it.each(['heap', 'memory'])(
    'a process over the limit of its %s refuses requests in our error shape',
    async (name) => {
      const response = await get(name, '/v1/departures?stop=200060');
      expect(response.statusCode).toBe(503);
      expectErrorObject(response);
      expect(response.json().error.code).toBe('SERVICE_UNAVAILABLE');
      expect(response.headers).toMatchObject({ 'retry-after': '5', 'access-control-allow-origin': '*' });
      expect(built[name]?.logged()).toMatch(/under pressure/);
    },
  );

  it('a process under pressure is alive but not ready, and says why', async () => {
    expect((await get('memory', '/healthz')).statusCode).toBe(200);
    const response = await get('memory', '/readyz');
    expect(response.statusCode).toBe(503);
    expect(response.json().error.message).toBe('Not ready: this process is under pressure.');
    expect((await get('own', '/readyz')).statusCode).toBe(200);
  });

  it.runIf(process.platform === 'linux')(
    'the file cache of the operating system does not put a process over its memory limit',
    async () => {
      const watch = new PressureWatch({ ...OFF, memoryBytes: process.memoryUsage.rss() - 8e6 }, { clock });
      await clock.advance(SAMPLE_EVERY_MS);
      expect(watch.exceeded()).toBeNull();
      watch.close();
    },
  );

  it('a process under pressure charges nothing for a refused request', async () => {
    const response = await get('memory', '/v1/departures?stop=200060');
    expect(response.statusCode).toBe(503);
    expect(Object.keys(response.headers).filter((name) => /ratelimit/.test(name))).toEqual([]);
  });

  it('a process within its own limits accepts requests', async () => {
    expect(own.heapBytes).toBeGreaterThan(process.memoryUsage().heapUsed);
    // V8 gives up when the old generation is full, which is the heap minus 48 MiB.
    expect(own.heapBytes).toBeLessThan(0.85 * (getHeapStatistics().heap_size_limit - 48 * 2 ** 20));
    expect((await get('own', '/openapi.json')).statusCode).toBe(200);
  });
});

it('an event loop that is late in two consecutive samples causes refusals until it recovers', async () => {
  const app = await build({ eventLoopDelayMs: 50 });
  const status = async () => (await app.inject('/openapi.json')).statusCode;
  const sample = async (isLate: boolean) => {
    for (let turn = 0; isLate && turn < 5; turn++) {
      const until = performance.now() + 100;
      while (performance.now() < until);
      await nextTurn();
    }
    await clock.advance(SAMPLE_EVERY_MS);
  };
  // The first one covers the start too.
  await sample(false);
  await sample(false);
  await sample(true);
  expect(await status()).toBe(200);
  await sample(true);
  expect(await status()).toBe(503);
  // The first one may be late by the request.
  await sample(false);
  await sample(false);
  expect(await status()).toBe(200);
});

describe('a process whose memory runs short', () => {
  const LIMIT = 1000;
  /** The process's reaction to this many bytes of memory. */
  const watched: Record<number, { shares: number[]; exceeded: string | null }> = {};

  beforeAll(async () => {
    const watches = [800, 920, LIMIT + 1].map((bytes) => {
      const shares: number[] = [];
      const limits = { ...OFF, memoryBytes: LIMIT };
      const shrink = (keptShare: number) => void shares.push(keptShare);
      const watch = new PressureWatch(limits, { countBytes: () => bytes, countGroupBytes: () => 0, shrink, clock });
      return { bytes, watch, shares };
    });
    await clock.advance(SAMPLE_EVERY_MS);
    for (const { bytes, watch, shares } of watches) {
      watch.close();
      expect(watch.shrunk).toBe(shares.length);
      watched[bytes] = { shares, exceeded: watch.exceeded() };
    }
  });

  it('a process short of memory shrinks its caches by half before it refuses requests', () => {
    expect(watched[920]).toEqual({ shares: [0.5], exceeded: null });
  });

  it('a process short of memory empties its caches when it refuses requests', () => {
    expect(watched[LIMIT + 1]).toEqual({ shares: [0], exceeded: `the process has ${LIMIT + 1} bytes` });
  });

  it('caches refill when the freed memory is not returned, and shrink again when the process grows', async () => {
    const shares: number[] = [];
    let bytes = 920;
    const limits = { ...OFF, memoryBytes: LIMIT };
    const shrink = (keptShare: number) => void shares.push(keptShare);
    const watch = new PressureWatch(limits, { countBytes: () => bytes, countGroupBytes: () => 0, shrink, clock });
    await clock.advance(30 * SAMPLE_EVERY_MS);
    expect(shares).toEqual([0.5]);
    bytes = 955;
    await clock.advance(30 * SAMPLE_EVERY_MS);
    expect(shares).toEqual([0.5, 0.5]);
    watch.close();
  });

  it('a process beside which an import takes the rest of the memory shrinks its caches, but refuses nothing', async () => {
    const shares: number[] = [];
    const measures = { countBytes: () => 700, countGroupBytes: () => LIMIT + 50 };
    const shrink = (keptShare: number) => void shares.push(keptShare);
    const watch = new PressureWatch({ ...OFF, memoryBytes: LIMIT }, { ...measures, shrink, clock });
    await clock.advance(SAMPLE_EVERY_MS);
    expect(shares).toEqual([0]);
    expect(watch.exceeded()).toBeNull();
    watch.close();
  });

  const GROUPS = ['/sys/fs/cgroup/memory.stat', '/sys/fs/cgroup/memory/memory.stat'];
  it.runIf(GROUPS.some((path) => existsSync(path)))(
    'the memory of the other processes of the control group counts',
    async () => {
      const shares: number[] = [];
      const shrink = (keptShare: number) => void shares.push(keptShare);
      const watch = new PressureWatch({ ...OFF, memoryBytes: 1000 }, { countBytes: () => 1, shrink, clock });
      await clock.advance(SAMPLE_EVERY_MS);
      watch.close();
      expect(shares).toEqual([0]);
    },
  );

  it('a process with enough memory leaves its caches alone', () => {
    expect(watched[800]).toEqual({ shares: [], exceeded: null });
  });
});

it('a process out of file descriptors continues, and accepts connections again when some are free', async () => {
  const server = await startServerProcess({}, { maxDescriptors: 200 });
  const { hostname, port } = new URL(server.baseUrl);
  const sockets = Array.from({ length: 300 }, () => connect(Number(port), hostname).on('error', () => {}));
  // Waits for a sample, which opens a file.
  await sleep(systemClock, 1.2 * SAMPLE_EVERY_MS);
  expect(server.process.exitCode).toBeNull();
  for (const socket of sockets) socket.destroy();
  const status = () => fetch(`${server.baseUrl}/readyz`).then((response) => response.status, String);
  await expect.poll(status).toBe(200);
  expect(await server.stop()).toBe(0);
});
