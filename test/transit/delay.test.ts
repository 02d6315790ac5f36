import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildSandboxApp, type TestApp } from '#test/support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await buildSandboxApp('2026-11-20T02:00:20Z');
});
afterAll(() => app.close());
const get = async (url: string) => (await app.inject(url)).json();

/** The same by hand, from the two timestamps. */
const between = (planned: string | null, realtime: string | null) =>
  planned && realtime ? (Date.parse(realtime) - Date.parse(planned)) / 1000 : null;

interface Times {
  scheduled_at: string;
  realtime_at: string | null;
  arrives_at: string | null;
  arrives_at_realtime: string | null;
  departs_at: string | null;
  departs_at_realtime: string | null;
  delay_seconds?: number | null;
}
const ofCall = (call: Times) =>
  call.departs_at
    ? between(call.departs_at, call.departs_at_realtime)
    : between(call.arrives_at, call.arrives_at_realtime);

it('with `include=delay` each live time has its delay, and others have null', async () => {
  const { departures } = await get('/v1/departures?stop=200060&modes=all&limit=50&include=delay,calls,ids');
  const { arrivals } = await get('/v1/arrivals?stop=200060&modes=all&limit=50&include=delay');
  const board: Times[] = [...departures, ...arrivals];
  for (const one of board) expect(one.delay_seconds).toBe(between(one.scheduled_at, one.realtime_at));
  expect(board.some((one) => (one.delay_seconds ?? 0) > 0)).toBe(true);
  expect(board.some((one) => one.delay_seconds === null)).toBe(true);

  const run = departures.find(({ is_live }: { is_live: boolean }) => is_live).run_id;
  const { calls } = await get(`/v1/runs/${run}?include=delay`);
  const listed: Times[] = [...calls, ...departures.flatMap((one: { calls: Times[] | null }) => one.calls ?? [])];
  for (const call of listed) expect(call.delay_seconds).toBe(ofCall(call));

  const { journeys } = await get('/v1/trips?from=202020&to=209573&include=delay');
  const legs: { origin: Times; destination: Times }[] = journeys.flatMap(({ legs }: { legs: [] }) => legs);
  for (const { origin, destination } of legs) {
    expect(origin.delay_seconds).toBe(between(origin.departs_at, origin.departs_at_realtime));
    expect(destination.delay_seconds).toBe(between(destination.arrives_at, destination.arrives_at_realtime));
  }
});

it('without `include=delay` no record has a delay', async () => {
  for (const url of ['/v1/departures?stop=200060&modes=all', '/v1/trips?from=202020&to=209573']) {
    expect((await app.inject(url)).body).not.toContain('delay_seconds');
  }
});
