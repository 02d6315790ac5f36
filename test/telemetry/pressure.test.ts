import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { ownPressureLimits } from '#src/telemetry/pressure.ts';
import { expectErrorObject } from '#test/contract/expect-contract.ts';
import { buildTestApp, type TestApp } from '../support/app.ts';
import { noAuthority } from '../support/no-authority.ts';

const OFF = { eventLoopDelayMs: 0, heapBytes: 0, memoryBytes: 0 };
let app: TestApp;

afterEach(() => app.close());

async function build(limits: Partial<typeof OFF>): Promise<void> {
  app = await buildTestApp({
    upstream: noAuthority,
    now: '2026-11-21T01:00:00Z',
    pressureLimits: { ...OFF, ...limits },
  });
  await app.ready();
  // The first sample is taken after a second.
  await sleep(1200);
}

it.each([{ heapBytes: 1 }, { memoryBytes: 1 }])(
  'refuses requests in our error shape over the limit %o',
  async (limits) => {
    await build(limits);
    const answer = await app.inject('/v1/departures?stop=200060');
    expect(answer.statusCode).toBe(503);
    expectErrorObject(answer);
    expect(answer.json().error.code).toBe('SERVICE_UNAVAILABLE');
    expect(answer.headers).toMatchObject({ 'retry-after': '5', 'access-control-allow-origin': '*' });
    expect(app.logged()).toMatch(/under pressure/);
  },
);

it('refuses requests while the event loop is late, and takes them again afterwards', async () => {
  await build({ eventLoopDelayMs: 5 });
  const status = async () => (await app.inject('/openapi.json')).statusCode;
  const work = setInterval(() => {
    const until = performance.now() + 40;
    while (performance.now() < until);
  }, 1);
  await expect.poll(status, { timeout: 10_000 }).toBe(503);
  clearInterval(work);
  await expect.poll(status, { timeout: 10_000 }).toBe(200);
});

it('takes requests after a single late second, as there is at a start', async () => {
  // Far above the lateness of a busy machine, far below that of the sample in which the loop stands still.
  await build({ eventLoopDelayMs: 50 });
  const until = performance.now() + 2500;
  while (performance.now() < until);
  const statuses = new Set<number>();
  for (let n = 0; n < 20; n++) {
    statuses.add((await app.inject('/openapi.json')).statusCode);
    await sleep(50);
  }
  expect([...statuses]).toEqual([200]);
});

it('answers health checks under pressure', async () => {
  await build({ memoryBytes: 1 });
  expect((await app.inject('/healthz')).statusCode).toBe(200);
  expect((await app.inject('/readyz')).statusCode).toBe(200);
});

it('charges nothing for a refused request', async () => {
  await build({ memoryBytes: 1 });
  const answer = await app.inject('/v1/departures?stop=200060');
  expect(Object.keys(answer.headers).filter((name) => /ratelimit/.test(name))).toEqual([]);
});

it('takes requests within the limits of its own process', async () => {
  const limits = ownPressureLimits();
  expect(limits.heapBytes).toBeGreaterThan(process.memoryUsage().heapUsed);
  await build(limits);
  expect((await app.inject('/openapi.json')).statusCode).toBe(200);
});
