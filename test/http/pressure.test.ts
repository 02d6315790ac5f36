import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sleep, systemClock } from '#src/core/clock.ts';
import { MemoryWatch, ownMemoryLimits } from '#src/core/memory-watch.ts';
import { PressureWatch } from '#src/http/pressure.ts';
import { expectErrorObject } from '#test/contract/expect-contract.ts';
import { buildTestApp, type TestApp } from '../support/app.ts';
import { noUpstream } from '../support/no-upstream.ts';
import { startServerProcess } from '../support/process.ts';
import { createSimulatedClock } from '../support/simulated-clock.ts';

const OFF = { heapBytes: 0, memoryBytes: 0 };
const SAMPLE_EVERY_MS = 1000;
const clock = createSimulatedClock(0);
const apps: TestApp[] = [];

afterAll(() => Promise.all(apps.map((app) => app.close())));

async function build({
  maxDelayMs = 0,
  ...limits
}: Partial<ReturnType<typeof ownMemoryLimits>> & { maxDelayMs?: number }) {
  const memory = new MemoryWatch({ ...OFF, ...limits }, { clock });
  const pressure = new PressureWatch({ memory, maxDelayMs, clock });
  const app = await buildTestApp({ upstream: noUpstream, now: '2026-11-21T01:00:00Z', pressure });
  apps.push(app);
  await app.ready();
  return app;
}

describe('a process', () => {
  const own = ownMemoryLimits();
  const built: Record<string, TestApp> = {};

  beforeAll(async () => {
    const limits = { heap: { heapBytes: 1 }, memory: { memoryBytes: 1 }, own: { ...own, maxDelayMs: 1000 } };
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
  const app = await build({ maxDelayMs: 50 });
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
