import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectErrorObject } from '#test/contract/expect-contract.ts';
import { endpointOf, GOOD_ANSWERS, OPERATIONS } from '#test/contract/operations.ts';
import { NOW } from '#test/contract/payloads.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import { json, startUpstream, type TestUpstream } from '#test/support/upstream.ts';

const [DEPARTURES, NEARBY, SEARCH, TRIPS] = OPERATIONS;

let upstream: TestUpstream;
let app: TestApp;
/** Upstream's responses by endpoint, in place of good ones. */
const responses = new Map<string, unknown>();

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    const endpoint = endpointOf(request.url);
    const body = responses.has(endpoint) ? JSON.stringify(responses.get(endpoint)) : GOOD_ANSWERS.get(endpoint);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  app = await buildTestApp({ upstream: upstream.url, now: NOW });
});
beforeEach(() => responses.clear());
afterAll(async () => {
  await app.close();
  await upstream.close();
});

const message = (code: number, text: string) => ({ type: 'error', module: 'BROKER', code, text });
const unknownOrigin = { version: '10.6.21.17', systemMessages: [message(-8020, 'origin: no matches')] };
const noConnection = { version: '10.6.21.17', systemMessages: [message(-4000, 'no connection')] };
const board = departureMonitor('2026-04-15T06:40:00Z');

describe.each(OPERATIONS)('$name', (operation) => {
  it.each(OPERATIONS.filter(({ endpoint }) => endpoint !== operation.endpoint))(
    'a valid response of $endpoint to another endpoint’s request is an error',
    async ({ endpoint }) => {
      responses.set(operation.endpoint, JSON.parse(GOOD_ANSWERS.get(endpoint) ?? ''));
      const response = await app.inject(operation.url);
      expect(response.statusCode).toBe(502);
      expectErrorObject(response);
      expect(response.json().error.code).toBe('UPSTREAM_ERROR');
    },
  );

  it('a response with only an unknown message is an error', async () => {
    responses.set(operation.endpoint, { version: '10.6.21.17', systemMessages: [message(-77, 'something else')] });
    expect((await app.inject(operation.url)).statusCode).toBe(502);
  });
});

describe('a response without records', () => {
  it.each([
    ['departures', DEPARTURES, unknownOrigin],
    ['nearby', NEARBY, unknownOrigin],
    ['nearby', NEARBY, noConnection],
    ['stop search', SEARCH, unknownOrigin],
    ['stop search', SEARCH, noConnection],
    ['trips', TRIPS, { version: '10.6.21.17', systemMessages: [message(-8011, '')], locations: [] }],
    ['trips', TRIPS, { version: '10.6.21.17', systemMessages: [] }],
    ['departures', DEPARTURES, { version: '10.6.21.17', locations: board.locations }],
  ] as const)(
    'the empty response of another endpoint to a request for %s is an error (%#)',
    async (_name, operation, answer) => {
      responses.set(operation.endpoint, answer);
      expect((await app.inject(operation.url)).statusCode).toBe(502);
    },
  );

  it('an empty board with empty locations means an unknown stop', async () => {
    responses.set('departure_mon', { version: '10.6.21.17', systemMessages: [], locations: [], stopEvents: [] });
    const response = await app.inject(DEPARTURES.url);
    expect(response.json().error.code).toBe('STOP_NOT_FOUND');
  });

  it('an empty board with the stop’s location means that nothing leaves', async () => {
    const systemMessages = [message(-4050, 'no serving lines found')];
    responses.set('departure_mon', { version: '10.6.21.17', systemMessages, locations: board.locations });
    const response = await app.inject('/v1/departures?stop=200060');
    expect(response.statusCode).toBe(200);
    expect(response.json().departures).toEqual([]);
  });

  it('a nearby response with only a version means that there are no stops', async () => {
    responses.set('coord', { version: '10.6.21.17' });
    const response = await app.inject('/v1/nearby?lat=-38.5&lng=160.5');
    expect(response.json().stops).toEqual([]);
  });
});

describe('the board of another stop', () => {
  it('the board of another stop is an error', async () => {
    responses.set('departure_mon', board);
    const response = await app.inject('/v1/departures?stop=99999');
    expect(response.statusCode).toBe(502);
    expectErrorObject(response);
  });

  it.each([
    ['the stop itself', '200060'],
    ['the stop in its internal numbering', '10101100'],
    ['a platform that has a departure on the board', '2000335'],
    ['a platform of the stop without a departure on the board', '2000337'],
  ])('the board of a stop is accepted when %s was requested', async (_name, stop) => {
    const [location] = board.locations;
    responses.set('departure_mon', { ...board, locations: [{ ...location, properties: { stopId: '10101100' } }] });
    const response = await app.inject(`/v1/departures?stop=${stop}`);
    expect(response.statusCode).toBe(200);
    expect(response.json().departures).toHaveLength(1);
  });
});

describe('a response to another request', () => {
  it('a response to another request is not cached', async () => {
    const stopFinder = JSON.parse(GOOD_ANSWERS.get('stop_finder') ?? '');
    const service = await startProtectedApp({ now: NOW, response: json(board) });
    const first = await service.app.inject(SEARCH.url);
    service.upstream.respondWith(json(stopFinder));
    await service.clock.advance(2000);
    const second = await service.app.inject(SEARCH.url);
    await service.app.close();
    expect([first.statusCode, second.statusCode]).toEqual([502, 200]);
    expect(second.json().results.length).toBeGreaterThan(0);
  });
});
