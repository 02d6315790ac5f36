import { afterAll, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { type BurstLimits, NO_BURST_LIMITS } from '#src/access/limits/burst-limits.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildTestApp } from '#test/support/app.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { noUpstream } from '#test/support/no-upstream.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import { emptyReach } from '#test/support/reach.ts';
import { json } from '#test/support/upstream.ts';

const NOW = '2026-11-21T10:00:00Z';
const URL = '/v1/departures?stop=200060';
const REQUESTS = 1000;

type Service = Awaited<ReturnType<typeof startProtectedApp>>;
const store = openEmbeddedStore(':memory:');
const started: Service[] = [];

afterAll(async () => {
  await Promise.all(started.map(({ app }) => app.close()));
  await store.close();
});

async function start(options: { burstLimits?: BurstLimits } = {}): Promise<Service> {
  const response = json(departureMonitor('2026-11-21T10:10:00Z', '2026-11-21T12:20:00Z'));
  const service = await startProtectedApp({ now: NOW, response, store, ...options });
  started.push(service);
  return service;
}

async function used(key: string): Promise<number | undefined> {
  return (await store.loadUsage(parseKey(key)?.accountId ?? '', ['20261121']))[0];
}

/** Makes requests with an unknown parameter that differs each time. */
async function flood({ app }: Service, key: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < REQUESTS; n++) {
    const headers = { authorization: `Bearer ${key}`, 'if-none-match': '*' };
    statuses.push((await app.inject({ url: `${URL}&_=${n}`, headers })).statusCode);
  }
  return statuses;
}

it(`each of ${REQUESTS} requests with "If-None-Match: *" and a changing cache-busting name is charged, and all share one response`, async () => {
  const service = await start({ burstLimits: NO_BURST_LIMITS });
  const key = await issueTestKey(store);
  expect(new Set(await flood(service, key))).toEqual(new Set([304]));
  expect(await used(key)).toBe(REQUESTS);
  expect(service.upstream.requests).toHaveLength(1);
});

it(`the burst limit admits and charges 60 of ${REQUESTS} requests with "If-None-Match: *", and refuses the others`, async () => {
  const key = await issueTestKey(store);
  const statuses = await flood(await start(), key);
  expect(statuses.filter((status) => status === 304)).toHaveLength(60);
  expect(statuses.filter((status) => status === 429)).toHaveLength(REQUESTS - 60);
  expect(await used(key)).toBe(60);
});

it('a 304 to a caller that names the response it has is free', async () => {
  const { app } = await start();
  const key = await issueTestKey(store);
  const authorization = `Bearer ${key}`;
  const { headers } = await app.inject({ url: URL, headers: { authorization } });
  const again = await app.inject({ url: URL, headers: { authorization, 'if-none-match': String(headers.etag) } });
  expect(again.statusCode).toBe(304);
  expect(await used(key)).toBe(1);
});

it('a 304 whose response had to be computed is charged, also if it cost no upstream call', async () => {
  // This response is never fresh, so the cache never has it.
  const app = await buildTestApp({ upstream: noUpstream, now: NOW, store, reach: emptyReach(Date.parse(NOW)) });
  const key = await issueTestKey(store);
  const send = (etag: string) =>
    app.inject({
      url: '/v1/reachable?from=200060&minutes=30',
      headers: { authorization: `Bearer ${key}`, 'if-none-match': etag },
    });
  const { headers, statusCode } = await send('"other"');
  expect(statusCode).toBe(200);
  for (let poll = 0; poll < 3; poll++) expect((await send(String(headers.etag))).statusCode).toBe(304);
  expect(await used(key)).toBe(4);
  await app.close();
});
