import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { parseDepartureMonitor } from '#src/efa/payload.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { departuresResponse } from '#src/operations/departures/departure.ts';
import { countRequests, issueTestKey } from '#test/support/access.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { openStream, type ReadStream } from './reading.ts';

const NOW = '2026-04-15T06:00:10Z';
const DAY = '20260415';
/** Far apart, so that each effect in a test has one cause. */
const QUICK = { minMs: 10, commentMs: 60_000, commentsPerCharge: 4 };
const TEN = '2026-04-15T06:10:00Z';
const TWENTY = '2026-04-15T06:20:00Z';

/** The departures, or upstream's failure. */
let leaves: string[] | ApiError;
let requests: number;
/** Whether each request for a board costs an upstream call. */
let source: 'cache' | 'upstream';
/** Each test has its own stop and account; all share one service. */
let stop: number = 2_000_600;
let board: string;
let url: string;
const times = { ...QUICK };
/** How long upstream responses stay fresh. */
let freshMs: number;
let app: TestApp;
let store: AccountStore;
let key: string;
let streams: ReadStream[];

const queryUpstream = (async ({ stopId }: { stopId: string }) => {
  if (stopId === String(stop)) requests += 1;
  if (leaves instanceof ApiError) throw leaves;
  const retrievedAt = Date.parse(NOW);
  const times = { retrievedAt, freshUntil: retrievedAt + freshMs, staleUntil: retrievedAt + freshMs };
  const payload = parseDepartureMonitor(departureMonitor(...leaves));
  return { payload, retrievedAt: Date.parse(NOW), freshness: { ...times, source, shortage: null } };
}) as unknown as QueryUpstream;

beforeAll(async () => {
  store = openEmbeddedStore(':memory:');
  app = await startService();
});
afterAll(() => app.close());

beforeEach(async () => {
  leaves = [TEN];
  requests = 0;
  source = 'cache';
  freshMs = 0;
  streams = [];
  Object.assign(times, QUICK);
  app.clock.now = new Date(NOW);
  stop += 1;
  board = `/v1/departures?stop=${stop}`;
  url = `/v1/departures/stream?stop=${stop}`;
  key = await issueTestKey(store);
});
afterEach(() => {
  for (const stream of streams) stream.close();
});

async function startService(): Promise<TestApp> {
  const service = await buildTestApp({ upstream: queryUpstream, now: NOW, store, streamTimes: times });
  await service.listen({ host: '127.0.0.1', port: 0 });
  return service;
}

async function open(path = url, headers: Record<string, string> = {}, service = app): Promise<ReadStream> {
  const stream = await openStream(service, path, { key, ...headers });
  streams.push(stream);
  return stream;
}

const used = async (of = key) => (await store.loadUsage(parseKey(of)?.accountId ?? '', [DAY]))[0];
const failure = new ApiError('UPSTREAM_ERROR', 'Transport for NSW could not be reached.');

describe('a stream of departures', () => {
  it('a stream of departures begins with the board that /v1/departures returns', async () => {
    const stream = await open(`${url}&modes=all&limit=1`);
    expect(stream.status).toBe(200);
    expect(Object.fromEntries(stream.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'private, no-store, no-transform',
      'x-accel-buffering': 'no',
      'access-control-allow-origin': '*',
      'x-ratelimit-remaining': '999',
    });
    const sent = await stream.next('board');
    expect(sent).toEqual((await app.inject(`${board}&modes=all&limit=1`)).json());
    expect(stream.events[0]).toMatchObject({ event: 'greeting', retry: '5000' });
  });

  it('a stream of departures accepts every parameter of departures', async () => {
    const sent = await (await open(`${url}&cancelled=include&include=ids`)).next('board');
    expect(sent).toMatchObject({ departures: [{ cancelled: false, trip_id: null }] });
  });

  it('a stream of departures sends the whole board again when it changes, and nothing while it does not', async () => {
    const stream = await open();
    await stream.next('board');
    const before = requests;
    await expect.poll(() => requests).toBeGreaterThan(before + 3);
    expect(stream.events.map(({ event }) => event)).toEqual(['greeting', 'board']);
    leaves = [TEN, TWENTY];
    const changed = departuresResponse.parse(await stream.next('board'));
    expect(changed.departures).toHaveLength(2);
  });

  it('a stream does not resend the board that Last-Event-ID identifies', async () => {
    const { headers } = await app.inject(board);
    const again = await open(url, { 'last-event-id': String(headers.etag) });
    await expect.poll(() => requests).toBeGreaterThan(3);
    expect(again.events.map(({ event }) => event)).toEqual(['greeting']);
    leaves = [TWENTY];
    await again.next('board');
    expect(again.events[1]?.id).toMatch(/^W\/"/);
    const other = await open(url, { 'last-event-id': String(headers.etag) });
    await other.next('board');
  });

  it('all readers of a stream together cost upstream one request', async () => {
    freshMs = 60_000;
    leaves = ['2026-04-15T09:00:00Z'];
    const readers = await Promise.all(Array.from({ length: 9 }, () => open()));
    await Promise.all(readers.map((reader) => reader.next('board')));
    const pro = await open(url, { key: app.apiKey });
    await pro.next('board');
    await app.inject(board);
    expect(requests).toBe(1);
  });

  it('a stream is refreshed once for all its readers, until the last one has gone', async () => {
    const readers = await Promise.all([open(), open(), open()]);
    await Promise.all(readers.map((reader) => reader.next('board')));
    leaves = [TWENTY];
    const boards = await Promise.all(readers.map((reader) => reader.next('board')));
    expect(new Set(boards.map((one) => JSON.stringify(one))).size).toBe(1);
    for (const reader of readers) reader.close();
    await Promise.all(readers.map(({ ended }) => ended));
    await expect
      .poll(async () => {
        const before = requests;
        await new Promise((resolve) => setTimeout(resolve, 100));
        return requests - before;
      })
      .toBe(0);
  });

  it('a stream sends comments', async () => {
    Object.assign(times, { commentMs: 10, commentsPerCharge: 1e9 });
    const stream = await open();
    expect(await stream.next('comment')).toBe('still here');
    expect(await stream.next('comment')).toBe('still here');
  });

  it('a stream answers HEAD with its headers and ends', async () => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await app.inject({ method: 'HEAD', url, headers });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    // Like GET, whose response has no length known in advance.
    expect(response.headers).not.toHaveProperty('content-length');
  });
});

describe('failures in a stream', () => {
  it('a stream reports a failure once while it lasts, and sends the board when it is over', async () => {
    const stream = await open();
    await stream.next('board');
    leaves = failure;
    expect(await stream.next('failure')).toMatchObject({ error: { code: 'UPSTREAM_ERROR' } });
    const before = requests;
    await expect.poll(() => requests).toBeGreaterThan(before + 2);
    leaves = [TEN];
    await stream.next('board');
    expect(stream.events.map(({ event }) => event)).toEqual(['greeting', 'board', 'failure', 'board']);
  });

  it('a failure before a stream begins is an ordinary error response', async () => {
    leaves = failure;
    const response = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
    expect(response.statusCode).toBe(502);
    expect(response.json().error.code).toBe('UPSTREAM_ERROR');
    expect(await used()).toBe(0);
    expect((await app.inject('/v1/departures/stream')).json().error.code).toBe('INVALID_PARAMETER');
  });

  it('a permanent failure ends a stream, which says why', async () => {
    const stream = await open(`${url}&date=20260415&time=1700`);
    await stream.next('board');
    app.clock.now = new Date('2026-04-16T14:00:10Z');
    expect(await stream.next('end')).toMatchObject({ error: { code: 'DATE_OUT_OF_RANGE' } });
    await stream.ended;
  });
});

describe('the cost of a stream', () => {
  it('a stream costs one request at its start and one after each minute', async () => {
    Object.assign(times, { commentMs: 10, commentsPerCharge: 4 });
    const stream = await open();
    await stream.next('board');
    await expect.poll(() => used()).toBeGreaterThanOrEqual(3);
    const comments = stream.events.filter(({ event }) => event === 'comment').length;
    stream.close();
    expect(await used()).toBeLessThanOrEqual(2 + Math.ceil((comments + 8) / 4));
  });

  it('a stream costs nothing for minutes without a response', async () => {
    Object.assign(times, { commentMs: 10, commentsPerCharge: 1 });
    await countRequests(store, key, 500, DAY);
    const stream = await open();
    leaves = failure;
    await stream.next('failure');
    const before = (await used()) ?? 0;
    for (let comment = 0; comment < 5; comment++) await stream.next('comment');
    expect(await used()).toBeLessThanOrEqual(before + 1);
  });

  it('a stream that makes more than one call a minute costs one request for each', async () => {
    Object.assign(times, { commentMs: 200, commentsPerCharge: 1 });
    source = 'upstream';
    const stream = await open();
    await stream.next('board');
    await expect.poll(() => requests, { timeout: 30_000 }).toBeGreaterThan(50);
    source = 'cache';
    await expect.poll(() => used(), { timeout: 30_000 }).toBeGreaterThanOrEqual(50);
  });

  it('a stream ends when the daily limit is used up, and says so', async () => {
    Object.assign(times, { commentMs: 10, commentsPerCharge: 1 });
    await countRequests(store, key, 995, DAY);
    const stream = await open();
    expect(await stream.next('end')).toMatchObject({ error: { code: 'DAILY_LIMIT_EXCEEDED' } });
    await stream.ended;
    expect(await used()).toBe(1000);
  });

  it('a stream ends when its key is revoked', async () => {
    Object.assign(times, { commentMs: 10, commentsPerCharge: 1 });
    const stream = await open();
    await stream.next('board');
    const { accountId = '', hash = '' } = parseKey(key) ?? {};
    await store.revokeKey(accountId, hash, Date.parse(NOW));
    expect(await stream.next('end')).toMatchObject({ error: { code: 'UNAUTHORIZED' } });
    await stream.ended;
  });

  it.each([
    ['with its next comment', [TEN]],
    ['even while it has no response', failure],
  ])('a stream ends when its key is revoked, %s', async (_when, later) => {
    Object.assign(times, { commentMs: 10, commentsPerCharge: 1e9 });
    const stream = await open();
    await stream.next('board');
    leaves = later;
    const { accountId = '', hash = '' } = parseKey(key) ?? {};
    await store.revokeKey(accountId, hash, Date.parse(NOW));
    app.clock.now = new Date(app.clock.now.getTime() + 10_000);
    expect(await stream.next('end')).toMatchObject({ error: { code: 'UNAUTHORIZED' } });
    await stream.ended;
  });

  it('a stream ends with the next comment when its token expires', async () => {
    const headers = { authorization: `Bearer ${key}` };
    const { token } = (await app.inject({ method: 'POST', url: '/v1/tokens', headers })).json();
    Object.assign(times, { commentMs: 10, commentsPerCharge: 1e9 });
    const stream = await open(url, { key: token });
    await stream.next('board');
    app.clock.now = new Date(app.clock.now.getTime() + 15 * 60_000);
    expect(await stream.next('end')).toMatchObject({ error: { code: 'TOKEN_EXPIRED' } });
    await stream.ended;
  });

  it('a Free account’s eleventh stream is refused, uncharged, until another one is closed', async () => {
    const ten = await Promise.all(Array.from({ length: 10 }, (_, index) => open(`${url}${index}`)));
    await Promise.all(ten.map((stream) => stream.next('board')));
    const refused = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
    expect(refused.statusCode).toBe(429);
    expect(refused.json().error).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      message: 'All 10 streams of your account (Free) are open. Close one first.',
    });
    expect(refused.headers).toMatchObject({ 'retry-after': '10', 'x-ratelimit-remaining': '990' });
    const other = await open(url, { key: await issueTestKey(store) });
    expect(other.status).toBe(200);
    ten[0]?.close();
    await expect.poll(async () => (await open()).status).toBe(200);
  });

  it('a few visitors of a page cannot hold all streams of its account: once half are open, a visitor gets one at most', async () => {
    const grant = { apps: true, perDay: 500, perVisitorHour: 100 };
    const pub = await issueTestKey(store, { grant });
    const upstream = { upstream: queryUpstream, now: NOW, store, streamTimes: times };
    const service = await buildTestApp({ ...upstream, trustProxy: ['127.0.0.1'] });
    await service.listen({ host: '127.0.0.1', port: 0 });
    const statusOf = async (visitor: number) =>
      (await open(url, { key: pub, 'x-forwarded-for': `198.51.100.${visitor}` }, service)).status;
    const threeOf = async (visitor: number) => [
      await statusOf(visitor),
      await statusOf(visitor),
      await statusOf(visitor),
    ];
    expect(await threeOf(1)).toEqual([200, 200, 200]);
    expect(await threeOf(2)).toEqual([200, 200, 429]);
    for (const visitor of [3, 4, 5, 6, 7]) expect(await threeOf(visitor)).toEqual([200, 429, 429]);
    expect(await statusOf(8)).toBe(429);
    await service.close();
  });

  it('an account’s streams are free again after errors, HEAD and readers that have gone', async () => {
    const headers = { authorization: `Bearer ${key}` };
    for (let time = 0; time < 12; time++) {
      await app.inject({ method: 'HEAD', url, headers });
      leaves = failure;
      await app.inject({ url: `${url}&limit=${time + 1}`, headers });
      leaves = [TEN];
      const stream = await open();
      await stream.next('board');
      stream.close();
      await stream.ended;
    }
    await expect.poll(async () => (await open()).status).toBe(200);
  });
});

describe('a clean stop with open streams', () => {
  it('a clean stop ends every stream with an event that says why, and refuses new ones', async () => {
    const stopping = await startService();
    const readers = await Promise.all([open(url, {}, stopping), open(`${url}1`, {}, stopping)]);
    await Promise.all(readers.map((reader) => reader.next('board')));
    const closing = stopping.close();
    for (const reader of readers) {
      expect(await reader.next('end')).toMatchObject({
        error: { code: 'SERVICE_UNAVAILABLE', message: 'This server is stopping. Connect again.' },
      });
      await reader.ended;
    }
    await closing;
  });
});
