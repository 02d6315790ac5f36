import { afterAll, describe, expect, it } from 'vitest';
import { fromRoute } from '#src/http/paths.ts';
import { OPERATION_ROUTES, OTHER_ROUTES, streamPath } from '#src/routes.ts';
import { FRESHNESS_WINDOWS } from '#src/transit/freshness.ts';
import { buildSandboxApp } from '#test/support/app.ts';
import { describedOperations } from '#test/support/operations.ts';
import { listRoutes } from '#test/support/routes.ts';

const operations = describedOperations();
const rows = Object.entries(OPERATION_ROUTES);
const app = await buildSandboxApp('2026-11-20T02:00:20Z');
/** Boards for terminals and wall displays are pages. */
const PAGES = /^\/(board|live-board)/;

afterAll(() => app.close());

describe('the page of routes', () => {
  it('the service serves exactly the routes on the page, apart from pages for people', async () => {
    const served = (await listRoutes(app)).map(fromRoute).filter((route) => !PAGES.test(route) && route !== '*');
    const streams = rows.filter(([, { event }]) => event).map(([, row]) => streamPath(row));
    const listed = [...rows.map(([, { path }]) => path), ...streams, ...Object.values(OTHER_ROUTES)];
    expect(served.toSorted()).toEqual(listed.toSorted());
  });

  it('the page names the ID and errors of every operation, and whether it has a stream', () => {
    const onPage = rows.map(([id, { path, errors, event }]) => ({ id, path, errors, isStreamed: event !== null }));
    expect(
      operations.map(({ id, path, errors, stream }) => ({ id, path, errors, isStreamed: stream !== undefined })),
    ).toEqual(onPage);
  });

  it('the page names the parameter with the stops of every operation', () => {
    const stopsIn = ({ query }: (typeof operations)[number]) =>
      ['stop', 'stops', 'stop_id'].find((name) => name in query.shape) ?? null;
    expect(operations.map((one) => [one.path, stopsIn(one)])).toEqual(rows.map(([, { path, stops }]) => [path, stops]));
  });

  it.each([
    ['getDepartures', '/v1/departures?stop=200070&modes=all'],
    ['getArrivals', '/v1/arrivals?stop=200070&modes=all'],
    ['getBoards', '/v1/boards?stops=200070,200060&modes=all'],
    ['getNearbyStops', '/v1/nearby?lat=-33.8731&lng=151.2069&modes=all'],
    ['searchStops', '/v1/stops/search?q=town%20hall'],
    ['searchPlaces', '/v1/places/search?q=town%20hall'],
    ['listStops', '/v1/stops?bbox=-33.9,151.1,-33.8,151.3'],
    ['planTrips', '/v1/trips?from=200070&to=202020'],
    ['listAlerts', '/v1/alerts'],
    ['listCarParks', '/v1/carparks'],
  ] as const)('responses of %s are fresh for no longer than the page says', async (id, url) => {
    const { statusCode, headers } = await app.inject(url);
    expect(statusCode).toBe(200);
    const [, seconds = ''] = /max-age=(\d+)/.exec(String(headers['cache-control'])) ?? [];
    const secondsLeft = Number(seconds) - Number(headers.age);
    expect(secondsLeft * 1000).toBeLessThanOrEqual(FRESHNESS_WINDOWS[OPERATION_ROUTES[id].fresh].freshMs);
  });
});
