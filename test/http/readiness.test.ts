import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createStoreProbe } from '#src/http/readiness.ts';
import { expectErrorObject } from '#test/contract/expect-contract.ts';
import { buildTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { noUpstream } from '../support/no-upstream.ts';
import { openConnection, readResponses } from './socket.ts';

const NOW = '2026-11-21T01:00:00Z';
let app: TestApp;

afterEach(() => app.close());

let clock = 0;

async function build(probe: () => Promise<unknown>, more: Partial<TestAppOptions> = {}): Promise<void> {
  const { servesKnownKeys } = createStoreProbe(
    async () => {
      await probe();
      return 'writable';
    },
    { graceMs: 10 * 60_000, now: () => clock },
  );
  app = await buildTestApp({ upstream: noUpstream, now: NOW, isStoreReachable: servesKnownKeys, ...more });
}

it('the service is ready while the account store responds, without a key or an upstream call', async () => {
  await build(async () => null);
  const response = await app.inject({ url: '/readyz', headers: { authorization: '' } });
  expect([response.statusCode, response.json()]).toEqual([200, { status: 'ready' }]);
  expect(response.headers['cache-control']).toBe('no-store');
});

it.each([
  ['fails', () => Promise.reject(new Error('secret'))],
  ['says nothing', () => new Promise(() => {})],
])('the service is not ready but alive while the account store %s', async (_name, probe) => {
  await build(probe);
  const response = await app.inject('/readyz');
  expect(response.statusCode).toBe(503);
  expectErrorObject(response);
  expect(response.json().error).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: 'Not ready: the account store does not answer.',
  });
  expect((await app.inject('/healthz')).json()).toMatchObject({ status: 'ok' });
});

it('a silent store gets one probe, however many health checks wait', async () => {
  let probes = 0;
  await build(() => {
    probes++;
    return new Promise(() => {});
  });
  const responses = await Promise.all([1, 2, 3].map(() => app.inject('/readyz')));
  expect(responses.map(({ statusCode }) => statusCode)).toEqual([503, 503, 503]);
  expect(probes).toBe(1);
});

it('the service stays ready without the store while known keys work', async () => {
  let isUnreachable = false;
  await build(async () => {
    if (isUnreachable) throw new Error('away');
  });
  const status = async () => (await app.inject('/readyz')).statusCode;
  expect(await status()).toBe(200);
  isUnreachable = true;
  clock += 9.9 * 60_000;
  expect(await status()).toBe(200);
  clock += 0.2 * 60_000;
  expect(await status()).toBe(503);
});

it('the service is ready again when the store responds again', async () => {
  let isUnreachable = true;
  await build(async () => {
    if (isUnreachable) throw new Error('away');
  });
  expect((await app.inject('/readyz')).statusCode).toBe(503);
  isUnreachable = false;
  expect((await app.inject('/readyz')).statusCode).toBe(200);
});

it('the service is not ready once a stop begins', async () => {
  await build(async () => null);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const connection = await openConnection((app.server.address() as AddressInfo).port);
  const closed = app.close();
  connection.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n');
  const [response] = readResponses(await connection.closed);
  await closed;
  expect(response?.status).toBe(503);
  expect(JSON.parse(response?.body ?? '').error.message).toBe('Not ready: this process is shutting down.');
});

it('with DRAIN_SECONDS the service is not ready but serves requests until the drain ends, and then closes', async () => {
  const drain = Promise.withResolvers<void>();
  const drains: number[] = [];
  const sleep = (ms: number) => {
    drains.push(ms);
    return ms === 15_000 ? drain.promise : new Promise(() => {});
  };
  await build(async () => null, { drainMs: 15_000, sleep });
  const base = await app.listen({ port: 0, host: '127.0.0.1' });
  const statusOf = async (path: string) => (await fetch(base + path)).status;
  expect(await statusOf('/readyz')).toBe(200);
  const closed = app.close();
  await expect.poll(() => drains).toContain(15_000);
  expect([await statusOf('/readyz'), await statusOf('/healthz')]).toEqual([503, 200]);
  drain.resolve();
  await closed;
  await expect(fetch(`${base}/healthz`)).rejects.toThrow();
});
