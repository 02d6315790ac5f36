import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownPressureLimits, type PressureLimits } from '#src/telemetry/pressure.ts';
import { expectErrorObject } from '#test/contract/expect-contract.ts';
import { buildTestApp, type TestApp } from '../support/app.ts';
import { noAuthority } from '../support/no-authority.ts';

const OFF = { eventLoopDelayMs: 0, heapBytes: 0, memoryBytes: 0 };
/** The first sample is taken after a second. */
const FIRST_SAMPLE_MS = 1200;
const apps: TestApp[] = [];

afterAll(() => Promise.all(apps.map((app) => app.close())));

async function build(limits: Partial<PressureLimits>): Promise<TestApp> {
  const pressureLimits = { ...OFF, ...limits };
  const app = await buildTestApp({ upstream: noAuthority, now: '2026-11-21T01:00:00Z', pressureLimits });
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
    await sleep(FIRST_SAMPLE_MS);
  });

  const get = (name: string, url: string) => (built[name] as TestApp).inject(url);

  it.each(['heap', 'memory'])('over the limit of its %s refuses requests in our error shape', async (name) => {
    const answer = await get(name, '/v1/departures?stop=200060');
    expect(answer.statusCode).toBe(503);
    expectErrorObject(answer);
    expect(answer.json().error.code).toBe('SERVICE_UNAVAILABLE');
    expect(answer.headers).toMatchObject({ 'retry-after': '5', 'access-control-allow-origin': '*' });
    expect(built[name]?.logged()).toMatch(/under pressure/);
  });

  it('under pressure answers health checks', async () => {
    expect((await get('memory', '/healthz')).statusCode).toBe(200);
    expect((await get('memory', '/readyz')).statusCode).toBe(200);
  });

  it('under pressure charges nothing for a refused request', async () => {
    const answer = await get('memory', '/v1/departures?stop=200060');
    expect(Object.keys(answer.headers).filter((name) => /ratelimit/.test(name))).toEqual([]);
  });

  it('within its own limits takes requests', async () => {
    expect(own.heapBytes).toBeGreaterThan(process.memoryUsage().heapUsed);
    expect((await get('own', '/openapi.json')).statusCode).toBe(200);
  });
});

describe('an event loop', () => {
  it('that is late has requests refused, and taken again afterwards', async () => {
    const app = await build({ eventLoopDelayMs: 5 });
    const status = async () => (await app.inject('/openapi.json')).statusCode;
    const work = setInterval(() => {
      const until = performance.now() + 40;
      while (performance.now() < until);
    }, 1);
    await expect.poll(status, { timeout: 10_000 }).toBe(503);
    clearInterval(work);
    await expect.poll(status, { timeout: 10_000 }).toBe(200);
  }, 25_000);

  it('that is late for a single second, as at a start, has no request refused', async () => {
    // Far above the lateness of a busy machine, far below that of the sample in which the loop stands still.
    const app = await build({ eventLoopDelayMs: 50 });
    await sleep(FIRST_SAMPLE_MS);
    const until = performance.now() + 2500;
    while (performance.now() < until);
    const statuses = new Set<number>();
    // Until just before the next sample, which on a busy machine may be late by itself.
    while (performance.now() < until + 800) {
      statuses.add((await app.inject('/openapi.json')).statusCode);
      await sleep(50);
    }
    expect([...statuses]).toEqual([200]);
  }, 15_000);
});
