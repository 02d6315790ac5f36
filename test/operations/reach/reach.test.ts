import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { timetableReach } from '#src/journeys/reach.ts';
import { createReachOperation } from '#src/operations/reach/operation.ts';
import { createTimesOperation } from '#src/operations/reach/times-operation.ts';
import { noReach } from '#src/operations/sources.ts';
import { buildTestApp, type TestApp } from '../../support/app.ts';
import { createInlineEngine } from '../../support/inline-engine.ts';
import { importSandbox } from '../../support/sandbox-timetable.ts';
import { currentOf } from '../../support/timetable.ts';

/** A Thursday, 11:00 in Sydney. */
const NOW = '2026-11-26T00:00:00Z';
const FROM = 'from=200060&time=0830&date=20261127';

let app: TestApp;
let calls = 0;
const get = async (path: string) => (await app.inject(path)).json();

beforeAll(async () => {
  const now = Date.parse(NOW);
  const timetable = await importSandbox(indexNetwork(loadNetwork()), now);
  app = await buildTestApp({
    now: NOW,
    upstream: async () => {
      calls++;
      throw new Error('no call is needed');
    },
    reach: timetableReach({
      timetable: currentOf(timetable),
      engines: createInlineEngine(timetable),
      feeds: null,
      now: () => now,
    }),
  });
});

afterAll(async () => {
  expect(calls).toBe(0);
  await app.close();
});

describe('/v1/reachable', () => {
  it('/v1/reachable lists stops as documented, earliest first and within the minutes', async () => {
    const body = createReachOperation({ reach: noReach }).body.parse(
      await get(`/v1/reachable?${FROM}&minutes=30&limit=5000`),
    );
    expect(body.origin).toEqual({ stop_id: '200060', name: 'Central Station' });
    expect(body.departs_at).toBe('2026-11-26T21:30:00Z');
    const durations = body.stops?.map((stop) => stop.duration_minutes) ?? [];
    expect(durations.length).toBe(body.total);
    expect(durations.length).toBeGreaterThan(20);
    expect(durations).toEqual(durations.toSorted((one, other) => one - other));
    expect(durations.at(-1)).toBeLessThanOrEqual(30);
    expect(body.stops?.map((stop) => stop.stop_id)).not.toContain('200060');
  });

  it('/v1/reachable returns the area as one GeoJSON feature', async () => {
    const body = createReachOperation({ reach: noReach }).body.parse(
      await get(`/v1/reachable?${FROM}&format=geojson&minutes=15`),
    );
    expect(body).toMatchObject({
      type: 'FeatureCollection',
      features: [{ geometry: { type: 'MultiPolygon' }, properties: { minutes: 15 } }],
    });
    expect(body.stops).toBeUndefined();
  });

  it('/v1/reachable agrees with the travel time to each stop', async () => {
    const { stops } = await get(`/v1/reachable?${FROM}&minutes=45&limit=10`);
    const ids = stops.map((stop: { stop_id: string }) => stop.stop_id);
    const { destinations } = createTimesOperation({ reach: noReach }).body.parse(
      await get(`/v1/travel-times?${FROM}&to=${ids}`),
    );
    expect(destinations.map(({ stop_id, best }) => [stop_id, best?.arrives_at, best?.changes])).toEqual(
      stops.map((stop: { stop_id: string; arrives_at: string; changes: number }) => [
        stop.stop_id,
        stop.arrives_at,
        stop.changes,
      ]),
    );
  });

  it('/v1/reachable answers 404 for a stop that the timetable lacks', async () => {
    for (const path of ['/v1/reachable?from=999999', '/v1/travel-times?from=200060&to=999999']) {
      const response = await app.inject(path);
      expect(response.statusCode).toBe(404);
      expect(response.json().error).toMatchObject({
        code: 'STOP_NOT_FOUND',
        message: expect.stringContaining('999999'),
      });
    }
  });
});
