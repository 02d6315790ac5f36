import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodePolyline, tripsResponse } from '#src/operations/trips/response.ts';
import { buildSandboxApp, type TestApp } from '#test/support/app.ts';

const NOW = '2026-11-20T02:00:20Z';
const TRIPS = '/v1/trips?from=202020&to=209573&limit=6';

let app: TestApp;
beforeAll(async () => {
  app = await buildSandboxApp(NOW);
});
afterAll(() => app.close());

const plan = async (query: string) => {
  const { statusCode, body } = await app.inject(`${TRIPS}${query}`);
  expect(statusCode, body).toBe(200);
  return { body, legs: tripsResponse.parse(JSON.parse(body)).journeys.flatMap(({ legs }) => legs) };
};

describe('the `path` parameter of journeys', () => {
  it('journeys have full paths and no polyline by default', async () => {
    const { body, legs } = await plan('');
    expect(legs.every(({ path }) => path.length >= 2)).toBe(true);
    expect(body).not.toContain('polyline');
    expect((await plan('&path=full')).body).toBe(body);
    expect((await plan('&path=')).body).toBe(body);
  });

  it('path=polyline encodes the paths of journeys and changes nothing else', async () => {
    const [full, encoded] = [await plan(''), await plan('&path=polyline')];
    const expected = full.legs.map((leg) => ({
      ...leg,
      path: [],
      polyline: encodePolyline(leg.path as [number, number][]),
    }));
    expect(encoded.legs).toEqual(expected);
  });

  it('path=none leaves out the paths of journeys and changes nothing else: all journeys fit in 40 kB', async () => {
    const [full, slim] = [await plan(''), await plan('&path=none')];
    expect(slim.legs).toEqual(full.legs.map((leg) => ({ ...leg, path: [] })));
    expect(JSON.parse(slim.body).journeys.length).toBeGreaterThanOrEqual(5);
    expect(slim.body.length).toBeLessThan(40_000);
    expect(slim.body).not.toContain('polyline');
  });

  it.each(['half', 'FULL', 'full,none'])('path=%s is refused', async (value) => {
    const response = await app.inject(`${TRIPS}&path=${value}`);
    expect(response.statusCode).toBe(400);
    expect(response.json().error.message).toBe(`\`path\` must be full, polyline or none, not "${value}".`);
  });
});
