import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Front, startFront } from '#test/support/front.ts';
import { createTransit, TransitError, type TransitOptions } from '../../clients/typescript/src/transit.ts';
import { AT_TEN, AT_TWENTY, type StreamingService, startStreamingService, upstreamFailure } from './service.ts';
import { startUnreliableProxy, type UnreliableProxy } from './unreliable-proxy.ts';

const OVERLOADED = { status: 503, headers: { 'retry-after': '0' }, body: '<h1>Overloaded</h1>' };

describe('the TypeScript client', () => {
  let front: Front;
  let proxy: UnreliableProxy;
  const send = async (path: string) =>
    (await front.app.inject({ url: path, headers: { authorization: `Bearer ${front.testKey}` } })).json();
  /** Waits are short. */
  const connect = (options: Partial<TransitOptions> = {}) =>
    createTransit({ url: proxy.url, key: front.testKey, maxWaitMs: 5, ...options });
  const statuses = () => proxy.requests.map(({ status }) => status);

  beforeAll(async () => {
    front = await startFront({ now: '2026-11-20T02:00:20Z' });
    proxy = await startUnreliableProxy(front.url);
  });
  afterAll(async () => {
    await proxy?.close();
    await front?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    proxy.requests.length = 0;
  });

  it('the TypeScript client has a function for every operation', async () => {
    const { paths } = await send('/openapi.json');
    const operations = Object.values<Record<string, { operationId: string }>>(paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(Object.keys(connect()).sort()).toEqual(operations.sort());
  });

  it('the TypeScript client returns the responses of the service', async () => {
    const transit = connect({ url: `${front.url}/` });
    expect(await transit.getDepartures({ stop: '200070', modes: ['train', 'bus'], limit: 3 })).toEqual(
      await send('/v1/departures?stop=200070&modes=train,bus&limit=3'),
    );
    expect(await transit.getNearbyStops({ lat: -33.8731, lng: 151.2069, modes: ['all'] })).toEqual(
      await send('/v1/nearby?lat=-33.8731&lng=151.2069&modes=all'),
    );
    expect(await transit.searchStops({ q: "O'Connell & Co/?" })).toEqual(
      await send(`/v1/stops/search?q=${encodeURIComponent("O'Connell & Co/?")}`),
    );
    expect(await transit.getStop({ stop_id: '200070' })).toEqual(await send('/v1/stops/200070'));
    const { token } = await transit.createToken({ minutes: 5 });
    expect((await connect({ key: async () => token }).planTrips({ from: '202020', to: '209573' })).journeys).toEqual(
      (await send('/v1/trips?from=202020&to=209573')).journeys,
    );
  });

  it('the TypeScript client pages through later and earlier departures without repeating one', async () => {
    const { getDepartures } = connect();
    const query = { stop: '200070', modes: ['all' as const], limit: 4 };
    for (const rel of ['next', 'prev'] as const) {
      const pages = await take(getDepartures.pages(query, { rel }), 3);
      const rows = pages.flatMap(({ departures }) => departures.map((departure) => JSON.stringify(departure)));
      expect([pages.length, new Set(rows).size]).toEqual([3, 12]);
    }
    const [first, second] = await take(getDepartures.pages(query), 2);
    const headers = { authorization: `Bearer ${front.testKey}` };
    const { headers: sent } = await front.app.inject({ url: '/v1/departures?stop=200070&modes=all&limit=4', headers });
    const [, link = ''] = /<([^>]*)>; rel="next"/.exec(String(sent.link)) ?? [];
    expect([first, second]).toEqual([await send('/v1/departures?stop=200070&modes=all&limit=4'), await send(link)]);
  });

  it('the TypeScript client ends its pages where the list ends, and takes only the query of a link', async () => {
    const link = '<https://evil.example/v1/departures?stop=2&cursor=x>; rel="next"';
    proxy.failures.push({ status: 200, headers: { link }, body: '{}' }, { status: 200, body: '{}' });
    expect(await take(connect().getDepartures.pages({ stop: '1' }), 9)).toHaveLength(2);
    expect(proxy.requests.map(({ url }) => url)).toEqual(['/v1/departures?stop=1', '/v1/departures?stop=2&cursor=x']);
  });

  it('the TypeScript client repeats a request with its ETag, and returns the same response after a 304', async () => {
    const { getDepartures } = connect();
    const first = await getDepartures({ stop: '200070' });
    const second = await getDepartures({ stop: '200070' });
    expect([statuses(), second]).toEqual([[200, 304], first]);
    expect(second).not.toBe(first);
  });

  it('the TypeScript client repeats a request that failed for a while, and gives it up after the last attempt', async () => {
    proxy.failures.push('cut', OVERLOADED, { status: 200, body: '<h1>Sign in to this network</h1>' });
    const board = await connect().getDepartures({ stop: '200070' });
    expect([board.stop_id, proxy.requests.length]).toEqual(['200070', 4]);
    proxy.failures.push(OVERLOADED, OVERLOADED);
    const refused = connect({ retries: 1 }).getDepartures({ stop: '200070' });
    await expect(refused).rejects.toMatchObject({ code: 'UNKNOWN_RESPONSE', status: 503, retryAfter: 0 });
    proxy.failures.push('cut');
    const broken = connect({ retries: 0 }).getDepartures({ stop: '200070' });
    await expect(broken).rejects.toMatchObject({ code: 'NO_CONNECTION', status: 0, isTemporary: true });
  });

  it('the TypeScript client does not repeat a refused request, nor one that has to wait too long', async () => {
    const { getDepartures } = connect();
    const wrong = await getDepartures({ stop: 'x' }).catch((error) => error);
    expect(wrong).toBeInstanceOf(TransitError);
    expect(wrong).toMatchObject({
      code: 'INVALID_PARAMETER',
      message: expect.stringContaining('`stop` must be'),
      status: 400,
      docs: `${front.url}/docs/errors/INVALID_PARAMETER`,
      requestId: expect.any(String),
      isTemporary: false,
    });
    const body = JSON.stringify({ error: { code: 'DAILY_LIMIT_EXCEEDED', message: 'Daily limit reached.' } });
    proxy.failures.push({ status: 429, headers: { 'retry-after': '3600' }, body });
    await expect(getDepartures({ stop: '200070' })).rejects.toMatchObject({
      code: 'DAILY_LIMIT_EXCEEDED',
      retryAfter: 3600,
    });
    expect(statuses()).toEqual([400, 429]);
  });

  it('the TypeScript client stops when its signal aborts, during a request and while it waits', async () => {
    const aborted = AbortSignal.abort(new Error('no longer needed'));
    await expect(connect().getDepartures({ stop: '200070' }, { signal: aborted })).rejects.toThrow('no longer needed');
    const aborter = new AbortController();
    proxy.failures.push('cut');
    const waiting = connect({ maxWaitMs: 60_000 }).getDepartures({ stop: '200070' }, { signal: aborter.signal });
    setTimeout(() => aborter.abort(new Error('gone')), 50);
    await expect(waiting).rejects.toThrow('gone');
  });

  it('the TypeScript client shows the headers of each response', async () => {
    const notices: (string | null)[] = [];
    const { getDepartures } = connect({ onResponse: ({ headers }) => notices.push(headers.get('x-notice')) });
    await getDepartures({ stop: '200020', modes: ['metro'] });
    expect(notices).toHaveLength(1);
  });
});

describe('the streams of the TypeScript client', () => {
  let service: StreamingService;
  let proxy: UnreliableProxy;
  const connect = () => createTransit({ url: proxy.url, key: service.key, maxWaitMs: 5 });
  const lastEventIds = () => proxy.requests.map(({ headers }) => headers['last-event-id']);

  beforeAll(async () => {
    service = await startStreamingService();
    proxy = await startUnreliableProxy(service.url);
  });
  afterAll(async () => {
    await proxy?.close();
    await service?.app.close();
  });
  beforeEach(() => {
    service.leaves = [AT_TEN];
    proxy.requests.length = 0;
  });

  it('a stream of the TypeScript client yields each new board, and closes its connection when the loop ends', async () => {
    const counts: number[] = [];
    for await (const { departures } of connect().streamDepartures({ stop: '200060' })) {
      counts.push(departures.length);
      if (counts.length === 2) break;
      service.leaves = [AT_TEN, AT_TWENTY];
    }
    expect(counts).toEqual([1, 2]);
    await expect.poll(() => proxy.open()).toBe(0);
  });

  it('a stream of the TypeScript client connects again after the last event, through failures of the service', async () => {
    const boards = connect().streamDepartures({ stop: '200060' });
    await boards.next();
    proxy.failures.push('cut', OVERLOADED);
    proxy.cut();
    const next = boards.next();
    await expect.poll(() => proxy.open()).toBe(1);
    service.leaves = [AT_TWENTY];
    expect((await next).value).toMatchObject({ departures: [{ scheduled_at: AT_TWENTY }] });
    await boards.return();
    const [first, ...others] = lastEventIds();
    expect(first).toBeUndefined();
    expect(others).toEqual(Array(3).fill(expect.stringMatching(/^W\/"/)));
  });

  it('a stream of the TypeScript client continues through failures of upstream, and reports them', async () => {
    const codes: string[] = [];
    const boards = connect().streamDepartures({ stop: '200060' }, { onFailure: ({ code }) => codes.push(code) });
    await boards.next();
    service.leaves = upstreamFailure();
    const next = boards.next();
    await expect.poll(() => codes).toEqual(['UPSTREAM_ERROR']);
    service.leaves = [AT_TWENTY];
    expect((await next).value).toMatchObject({ departures: [{ scheduled_at: AT_TWENTY }] });
    await boards.return();
    expect(proxy.requests).toHaveLength(1);
  });

  it('a stream of the TypeScript client throws when the service refuses it or ends it for good', async () => {
    const wrong = createTransit({ url: proxy.url, key: 'nonsense' }).streamDepartures({ stop: '200060' });
    await expect(wrong.next()).rejects.toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    const body = JSON.stringify({ error: { code: 'TOO_MANY_REQUESTS', message: 'Too many streams.' } });
    proxy.failures.push({ status: 429, headers: { 'retry-after': '0' }, body });
    await expect(connect().streamDepartures({ stop: '200060' }).next()).rejects.toMatchObject({ status: 429 });
    const stopping = { error: { code: 'SERVICE_UNAVAILABLE', message: 'This server is stopping.' } };
    const gone = { error: { code: 'STOP_NOT_FOUND', message: 'No such stop.' } };
    const headers = { 'content-type': 'text/event-stream' };
    for (const error of [stopping, gone])
      proxy.failures.push({ status: 200, headers, body: `event: end\ndata: ${JSON.stringify(error)}\n\n` });
    await expect(connect().streamDepartures({ stop: '200060' }).next()).rejects.toMatchObject({
      code: 'STOP_NOT_FOUND',
      isTemporary: false,
    });
    expect(proxy.requests).toHaveLength(4);
  });

  it('a stream of the TypeScript client stops when its signal aborts', async () => {
    const aborter = new AbortController();
    const boards = connect().streamDepartures({ stop: '200060' }, { signal: aborter.signal });
    await boards.next();
    const next = boards.next();
    aborter.abort(new Error('gone'));
    await expect(next).rejects.toThrow('gone');
    await expect.poll(() => proxy.open()).toBe(0);
  });
});

/** The first values. */
async function take<Value>(values: AsyncGenerator<Value>, count: number): Promise<Value[]> {
  const taken: Value[] = [];
  for await (const value of values) {
    taken.push(value);
    if (taken.length === count) break;
  }
  return taken;
}
