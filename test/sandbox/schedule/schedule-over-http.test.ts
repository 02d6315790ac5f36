import { expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '#sandbox/server.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { API_KEY, sandboxAt, send } from '../requests.ts';

/** 13:00 in Sydney. */
const NOW = '2026-11-20T02:00:20Z';
const BUSES = '/v1/gtfs/schedule/buses';
const TRAINS = '/v1/gtfs/schedule/sydneytrains';
const authorization = `apikey ${API_KEY}`;

function get(sandbox: { url: string }, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization, ...(init.headers as Record<string, string>) };
  return fetch(new URL(path, sandbox.url), { ...init, headers });
}

it('the sandbox serves schedule zips with their publication time, and answers HEAD', async () => {
  const sandbox = await sandboxAt(NOW);
  const whole = await get(sandbox, BUSES);
  const head = await get(sandbox, BUSES, { method: 'HEAD' });
  const zip = Buffer.from(await whole.arrayBuffer());
  expect(zip.toString('latin1', 0, 4)).toBe('PK\x03\x04');
  for (const { status, headers } of [whole, head]) {
    expect([status, headers.get('content-type')]).toEqual([200, 'application/zip']);
    expect(headers.get('content-length')).toBe(String(zip.length));
    // 01:30 in Sydney.
    expect(headers.get('last-modified')).toBe('Thu, 19 Nov 2026 14:30:00 GMT');
    expect(headers.get('content-encoding')).toBeNull();
  }
  expect((await head.arrayBuffer()).byteLength).toBe(0);
});

it('the sandbox writes the same schedule bytes every time', async () => {
  const [one, other] = await Promise.all([sandboxAt(NOW), sandboxAt('2026-11-20T09:00:00Z')]);
  const zips = await Promise.all([one, other].map(async (sandbox) => (await get(sandbox, BUSES)).arrayBuffer()));
  expect(Buffer.from(zips[0] as ArrayBuffer)).toEqual(Buffer.from(zips[1] as ArrayBuffer));
});

it('the sandbox answers 304 for a known zip until the next one is published', async () => {
  const clock = createSimulatedClock(NOW);
  const sandbox = await startSandbox({ apiKey: API_KEY, now: () => new Date(clock.now()) });
  onTestFinished(() => sandbox.close());
  const headers = { 'if-modified-since': (await get(sandbox, BUSES)).headers.get('last-modified') ?? '' };
  expect((await get(sandbox, BUSES, { headers })).status).toBe(304);
  clock.advance(13 * 3_600_000);
  expect((await get(sandbox, BUSES, { headers })).status).toBe(200);
});

it('the sandbox refuses schedule requests without the key and on other paths and methods', async () => {
  const sandbox = await sandboxAt(NOW);
  expect((await get(sandbox, BUSES, { headers: { authorization: 'apikey wrong' } })).status).toBe(401);
  // The metro schedule exists only under /v2.
  expect((await get(sandbox, '/v1/gtfs/schedule/metro')).status).toBe(404);
  expect((await get(sandbox, '/v1/gtfs/schedule/lightrail/parramatta')).status).toBe(404);
  expect((await get(sandbox, BUSES, { method: 'POST' })).status).toBe(404);
  expect((await get(sandbox, '/v1/tp/coord', { method: 'HEAD' })).status).toBe(404);
});

it('the sandbox breaks the train schedule for a day, and no other, when that is rehearsed', async () => {
  const clock = createSimulatedClock(NOW);
  const sandbox = await startSandbox({ apiKey: API_KEY, now: () => new Date(clock.now()) });
  onTestFinished(() => sandbox.close());
  const read = async (path: string, headers = {}) => {
    const response = await get(sandbox, path, { headers });
    const { length } = Buffer.from(await response.arrayBuffer());
    return { status: response.status, length, headers: { 'if-modified-since': response.headers.get('last-modified') } };
  };
  const [trains, buses] = [await read(TRAINS), await read(BUSES)];
  expect((await send(sandbox, 'departure_mon', { name_dm: '99000011' })).status).toBe(200);
  const broken = await read(TRAINS, trains.headers);
  expect([broken.status, broken.length]).toEqual([200, trains.length >> 1]);
  expect((await read(BUSES, buses.headers)).status).toBe(304);
  clock.advance(24 * 3_600_000);
  expect((await read(TRAINS, broken.headers)).length).toBeGreaterThan(broken.length);
});
