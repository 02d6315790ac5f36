import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { countRequests, issueTestKey } from '#test/support/access.ts';
import { departureMonitorFor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import { type Handler, json } from '#test/support/upstream.ts';

type Service = Awaited<ReturnType<typeof startProtectedApp>>;

const NOW = '2026-04-15T06:00:10Z';
const DAY = '20260415';
const LEAVES = ['2026-04-15T06:10:00Z', '2026-04-15T06:20:30Z'];
const NO_STOP = { version: '10.2.1.42', locations: [], stopEvents: [] };
const TWENTY = Array.from({ length: 20 }, (_, index) => String(200_000 + index));

/** Upstream's responses for some stops; all others have a good board. */
let special: Record<string, Handler>;
let service: Service;
const started: Service[] = [];
const store = openEmbeddedStore(':memory:');

beforeEach(async () => {
  special = {};
  const good: Handler = (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(departureMonitorFor(request.url, ...LEAVES));
  };
  service = await startProtectedApp({
    now: NOW,
    store,
    response: (request, response) => {
      const stop = new URL(request.url, 'http://upstream.test').searchParams.get('name_dm') ?? '';
      (special[stop] ?? good)(request, response);
    },
  });
  started.push(service);
});
afterAll(() => Promise.all(started.map(({ app }) => app.close())));

const get = (url: string, key?: string, headers: Record<string, string> = {}) =>
  service.app.inject({ url, headers: { ...(key && { authorization: `Bearer ${key}` }), ...headers } });
const used = async (key: string) => (await store.loadUsage(parseKey(key)?.accountId ?? '', [DAY]))[0];
const failing: Handler = (_request, response) => response.writeHead(502).end();

describe('boards of several stops', () => {
  it('boards equal the departures of each stop, in the order of the `stops` parameter', async () => {
    const { statusCode, body } = await get('/v1/boards?stops=200070,g200098,%20200020&modes=all&limit=1');
    expect(statusCode).toBe(200);
    const { boards } = JSON.parse(body);
    expect(boards.map(({ stop_id }: { stop_id: string }) => stop_id)).toEqual(['200070', 'G200098', '200020']);
    for (const board of boards) {
      expect(board.departures).toHaveLength(1);
      const alone = await get(`/v1/departures?stop=${board.stop_id}&modes=all&limit=1`);
      expect(board).toEqual(alone.json());
    }
  });

  it('boards accept every parameter of departures', async () => {
    const parameters = 'modes=bus&routes=401&date=20260416&time=1600&limit=2&cancelled=include&include=ids';
    const [board] = (await get(`/v1/boards?stops=200070&${parameters}`)).json().boards;
    expect(board).toEqual((await get(`/v1/departures?stop=200070&${parameters}`)).json());
    expect(board.departures).toMatchObject([{ route: '401', cancelled: false, trip_id: null }]);
  });

  it('a `lead` for one stop overrides the `lead` for all boards', async () => {
    const [near, far, shared] = (await get('/v1/boards?stops=200070@20,200020@0,200060&modes=all&lead=10')).json()
      .boards;
    const times = (board: typeof near) => board.departures.map((one: { scheduled_at: string }) => one.scheduled_at);
    expect([near, far, shared].map(({ stop_id }) => stop_id)).toEqual(['200070', '200020', '200060']);
    expect([near, far, shared].map((board) => times(board).length)).toEqual([1, 2, 1]);
    const refused = await get('/v1/boards?stops=200070@61');
    expect(refused.statusCode).toBe(400);
    expect(refused.json().error.message).toContain('0 to 60 minutes');
  });

  it('a stop that fails has its error in its position among the boards', async () => {
    special = { '200070': json(NO_STOP), '200020': failing };
    const response = await get('/v1/boards?stops=200070,200060,200020');
    expect(response.statusCode).toBe(200);
    const { boards } = response.json();
    expect(boards).toMatchObject([
      { stop_id: '200070', error: { code: 'STOP_NOT_FOUND' } },
      { stop_id: '200060', departures: [{}, {}] },
      { stop_id: '200020', error: { code: 'UPSTREAM_ERROR' } },
    ]);
    for (const { stop_id, error } of [boards[0], boards[2]]) {
      expect({ error }).toEqual((await get(`/v1/departures?stop=${stop_id}`)).json());
    }
  });

  it('boards request a stop again a second after a temporary failure', async () => {
    special = { '200020': failing };
    const url = '/v1/boards?stops=200060,200020';
    await get(url);
    special = {};
    await service.clock.advance(1500);
    const { boards } = (await get(url)).json();
    expect(boards).toMatchObject([{ departures: [{}, {}] }, { departures: [{}, {}] }]);
  });

  it.each([
    [
      'none of the stops exists',
      { '1': json(NO_STOP), '2': json(NO_STOP) },
      404,
      'STOP_NOT_FOUND',
      'No stop 1, 2. Find',
    ],
    [
      'one does not exist and the other fails',
      { '1': json(NO_STOP), '2': failing },
      502,
      'UPSTREAM_ERROR',
      'No stop 1. Find',
    ],
  ])('boards fail as a whole when %s', async (_when, responses: Record<string, Handler>, status, code, told) => {
    special = responses;
    const response = await get('/v1/boards?stops=1,2');
    expect(response.statusCode).toBe(status);
    expect(response.json()).toMatchObject({
      error: { code, message: expect.stringContaining(told) },
    });
  });

  it.each(['stops=1&stops=2', 'stops[]=1&stops[]=2', 'stops%5B0%5D=1&stops=2'])(
    'boards accept a list of stops written as %s',
    async (list) => {
      const boards = (await get(`/v1/boards?${list}`)).json().boards;
      expect(boards.map(({ stop_id }: { stop_id: string }) => stop_id)).toEqual(['1', '2']);
    },
  );

  it('boards that all fail name the stops of each failure', async () => {
    special = { '1': json(NO_STOP), '2': failing, '3': failing };
    expect((await get('/v1/boards?stops=1,2,3')).json().error.message).toBe(
      '2, 3: Transport for NSW failed to respond. Try again later. No stop 1. Find IDs with /v1/stops/search or /v1/nearby.',
    );
  });

  it('boards that differ only in retrieval times have the same ETag', async () => {
    const good: Handler = (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(departureMonitorFor(request.url, '2026-04-15T06:10:59Z', '2026-04-15T08:20:59Z'));
    };
    special = { '1': good, '2': good };
    const first = await get('/v1/boards?stops=1,2');
    await service.clock.advance(40_000);
    const second = await get('/v1/boards?stops=1,2', undefined, { 'if-none-match': String(first.headers.etag) });
    expect(service.upstream.requests).toHaveLength(4);
    expect(second.statusCode).toBe(304);
    const { boards } = (await get('/v1/boards?stops=1,2')).json();
    expect(boards[0].retrieved_at).not.toBe(first.json().boards[0].retrieved_at);
  });

  it('boards for a past day have one error, not one for each stop', async () => {
    const response = await get('/v1/boards?stops=1,2&date=20260413');
    expect(response.json().error).toMatchObject({
      code: 'DATE_OUT_OF_RANGE',
      message: '`date` 20260413 is too far in the past. It must be yesterday (20260414 in Sydney) or later.',
    });
  });

  it.each([
    ['/v1/boards', 'Give one of: `stops` or `near`.'],
    ['/v1/boards?stops=,', '`stops` must be 1 to 20 stop IDs separated by commas, not ",".'],
    ['/v1/boards?stops=200060,abc,G', 'separated by commas, not "abc", "G".'],
    [`/v1/boards?stops=1,${'x'.repeat(200)}`, `separated by commas, not "${'x'.repeat(99)}…".`],
    ['/v1/boards?stops=abc', '`stops` must be 1 to 20 stop IDs separated by commas, not "abc".'],
    [`/v1/boards?stops=${TWENTY},1`, '`stops` has too many stops: 21 given, at most 20.'],
    ['/v1/boards?stops=&limit=0', '`limit` must be a whole number from 1 to 50'],
  ])('boards are refused for %s', async (url, told) => {
    const response = await get(url);
    expect(response.statusCode).toBe(400);
    expect(response.json().error).toMatchObject({ code: 'INVALID_PARAMETER', message: expect.stringContaining(told) });
  });
});

describe('the charge for boards', () => {
  it('boards are charged one request for each distinct stop', async () => {
    const key = await issueTestKey(store);
    const response = await get('/v1/boards?stops=200060,200070,200060', key);
    expect(response.json().boards).toHaveLength(2);
    expect(response.headers['x-ratelimit-remaining']).toBe('998');
    expect(await used(key)).toBe(2);
  });

  it('boards for more stops than the account has requests left are a 429 and cost nothing', async () => {
    const key = await issueTestKey(store);
    await countRequests(store, key, 981, DAY);
    const response = await get(`/v1/boards?stops=${TWENTY}`, key);
    expect(response.statusCode).toBe(429);
    expect(response.json().error.message).toContain('counts as 20 requests, but only 19 of 1,000');
    expect(await used(key)).toBe(981);
    expect(service.upstream.requests).toEqual([]);
  });

  it('malformed boards are charged one request', async () => {
    const key = await issueTestKey(store);
    await get(`/v1/boards?stops=${TWENTY},x`, key);
    expect(await used(key)).toBe(1);
  });

  it('the charge for boards is refunded when every stop fails on our side or upstream', async () => {
    special = { '1': failing, '2': failing };
    const key = await issueTestKey(store);
    expect((await get('/v1/boards?stops=1,2', key)).statusCode).toBe(502);
    expect(await used(key)).toBe(0);
  });

  it('boards are charged one request for each unknown stop even when another stop fails', async () => {
    const unknown = TWENTY.slice(0, 19);
    special = { ...Object.fromEntries(unknown.map((stop) => [stop, json(NO_STOP)])), '1': failing };
    const key = await issueTestKey(store);
    expect((await get(`/v1/boards?stops=${unknown},1`, key)).statusCode).toBe(502);
    expect(await used(key)).toBe(19);
  });

  it('failed stops cost nothing when other boards of the response succeed', async () => {
    special = { '1': failing, '2': failing };
    const key = await issueTestKey(store);
    expect((await get('/v1/boards?stops=200060,1,2', key)).statusCode).toBe(200);
    expect(await used(key)).toBe(1);
  });

  it('the charge for boards is refunded on a 304 that took no upstream call', async () => {
    const key = await issueTestKey(store);
    const { headers } = await get('/v1/boards?stops=200060,200070', key);
    const again = await get('/v1/boards?stops=200060,200070', key, { 'if-none-match': String(headers.etag) });
    expect(again.statusCode).toBe(304);
    expect(await used(key)).toBe(2);
  });

  it('boards make no upstream call for stops whose departures are cached', async () => {
    for (const stop of TWENTY.slice(0, 10)) await get(`/v1/departures?stop=${stop}&limit=1`);
    await get(`/v1/boards?stops=${TWENTY.slice(10)}&limit=1`);
    expect(service.upstream.requests).toHaveLength(20);
    const response = await get(`/v1/boards?stops=${TWENTY.toReversed()}&limit=1`);
    expect(response.json().boards).toHaveLength(20);
    expect(response.headers['cache-status']).toMatch(/^transit; hit/);
    expect(service.upstream.requests).toHaveLength(20);
  });
});
