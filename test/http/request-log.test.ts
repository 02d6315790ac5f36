import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { quotaDay } from '#src/access/day.ts';
import { type ApiKey, generateAccountId, generateKey, keyId, parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { OPERATIONS } from '#test/contract/operations.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildTestApp, type TestApp, type TestAppOptions } from '#test/support/app.ts';
import { buildHealthyApp, healthyUpstream } from '#test/support/healthy-upstream.ts';

const [{ url }] = OPERATIONS;
const ACCOUNT = expect.stringMatching(/^\w{8}$/);

let app: TestApp;
afterEach(() => app.close());

async function linesOf(upstream: QueryUpstream | undefined, sent: string): Promise<Record<string, unknown>[]> {
  app = await buildHealthyApp(upstream);
  await app.inject(sent);
  const lines = app.logged().trim().split('\n');
  return lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 30);
}

it('a refusal has one log line, with account, reason and cause, and without a stack', async () => {
  const refuse = async () => {
    throw new ApiError('UPSTREAM_UNAVAILABLE', 'Try later.', { cause: new Error('the budget is used up') });
  };
  const lines = await linesOf(refuse, url);
  expect(lines).toEqual([
    expect.objectContaining({
      level: 40,
      status: 503,
      account: ACCOUNT,
      plan: 'pro',
      reason: 'UPSTREAM_UNAVAILABLE',
      cause: 'the budget is used up',
    }),
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/stack|\.ts:\d/);
});

it('an invalid request is logged with the reason, without its query', async () => {
  const [line, ...more] = await linesOf(undefined, '/v1/nearby?lat=-33.8731&lng=east');
  expect(line).toMatchObject({ level: 30, status: 400, account: ACCOUNT, reason: 'INVALID_PARAMETER' });
  expect(JSON.stringify([line, more])).not.toMatch(/33\.87|east/);
});

it('a bug of ours is logged with its stack', async () => {
  const lines = await linesOf(async () => {
    throw new TypeError('a bug');
  }, url);
  expect(lines).toEqual([
    expect.objectContaining({ level: 50, err: expect.objectContaining({ stack: expect.stringContaining('a bug') }) }),
    expect.objectContaining({ status: 500, reason: 'INTERNAL_ERROR', account: ACCOUNT }),
  ]);
});

it('above LOG_REQUESTS a second, successful requests are only counted, while every refusal is logged', async () => {
  app = await buildTestApp({ upstream: healthyUpstream, now: '2026-11-21T01:00:00Z', loggedPerSecond: 2 });
  const logged = () =>
    app
      .logged()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'answered')
      .map(({ status, omitted }) => [status, omitted]);
  for (let request = 0; request < 5; request++) await app.inject(url);
  await app.inject('/v1/nearby?lat=no');
  expect(logged()).toEqual([
    [200, undefined],
    [200, undefined],
    [400, undefined],
  ]);
  app.clock.now = new Date(app.clock.now.getTime() + 1000);
  await app.inject(url);
  expect(logged().at(-1)).toEqual([200, 3]);
});

it('a slow request is logged with account and source, a fast one with neither', async () => {
  let waitedMs = 0;
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + waitedMs);
  onTestFinished(() => clock.mockRestore());
  const slow: QueryUpstream = async (request, options) => {
    waitedMs = 1050;
    return healthyUpstream(request, options);
  };
  expect(await linesOf(slow, url)).toEqual([
    expect.objectContaining({ status: 200, account: ACCOUNT, plan: 'pro', source: 'upstream' }),
  ]);
  await app.close();
  const [line] = await linesOf(undefined, url);
  expect(line).not.toHaveProperty('account');
});

it('a request for boards is logged with each source and why it was chosen, even for a cache hit', async () => {
  const byMonitor = { source: 'planner', reason: 'there is no timetable' };
  const board = '/v1/departures?stop=200070';
  const [first] = await linesOf(undefined, board);
  expect(first).toMatchObject({ status: 200, boards: [byMonitor] });
  const lastOf = async (sent: string) => {
    await app.inject(sent);
    return JSON.parse(app.logged().trim().split('\n').at(-1) ?? '{}');
  };
  expect(await lastOf(board)).toMatchObject({ boards: [byMonitor] });
  expect(await lastOf('/board/200070')).toMatchObject({ boards: [byMonitor] });
  expect(await lastOf('/v1/boards?stops=200070,200060')).toMatchObject({ boards: [byMonitor, byMonitor] });
  expect(await lastOf('/v1/stops?q=central')).not.toHaveProperty('boards');
});

describe('the log line of a refused request', () => {
  const NOW = new Date('2026-04-15T00:00:00Z');
  const store = openEmbeddedStore(':memory:');
  afterAll(() => store.close());

  const lastLine = () => JSON.parse(app.logged().trim().split('\n').at(-1) ?? '{}');
  async function lineFor(options: Partial<TestAppOptions>, sent: string, authorization?: string) {
    app = await buildTestApp({ upstream: healthyUpstream, now: NOW.toISOString(), store, ...options });
    await app.inject({ url: sent, ...(authorization && { headers: { authorization } }) });
    return lastLine();
  }
  const idOf = (text: string) => keyId(parseKey(text) as ApiKey);

  it('the log line of a refused key says whether it is unknown or revoked, and which one it is', async () => {
    const unknown = generateKey('live', generateAccountId());
    const expected = { status: 401, reason: 'UNAUTHORIZED', problem: 'unknown', key: idOf(unknown) };
    expect(await lineFor({}, url, `Bearer ${unknown}`)).toMatchObject(expected);
    // The second time, the process knows this without the store.
    await app.inject({ url, headers: { authorization: `Bearer ${unknown}` } });
    expect(lastLine()).toMatchObject(expected);
    await app.close();

    const revoked = await issueTestKey(store, { now: NOW });
    const { accountId, hash } = parseKey(revoked) as ApiKey;
    await store.revokeKey(accountId, hash, NOW.getTime());
    const line = await lineFor({}, url, `Bearer ${revoked}`);
    expect(line).toMatchObject({ status: 401, problem: 'revoked', key: idOf(revoked) });
    expect(app.logged()).not.toContain(revoked.slice(9));
  });

  it.each([
    ['missing', 'Bearer '],
    ['no Bearer', 'Basic YTpi'],
    ['malformed', 'Bearer tis_live_short'],
    ['test key', `Bearer ${generateKey('test', generateAccountId())}`],
  ])('the log line of a refused key gives the problem "%s"', async (problem, authorization) => {
    expect(await lineFor({ sendsKey: false }, url, authorization)).toMatchObject({ status: 401, problem });
  });

  it.each([
    ['limit, modes', '/v1/departures?stop=200060&limit=none&modes=rocket'],
    ['lat', '/v1/nearby?lat=200&lng=151'],
    ['latitude', '/v1/stops/search?q=a&latitude[-33.87]=1'],
    ['date', '/v1/departures?stop=200060&date=20200101'],
    ['cursor', '/v1/departures?stop=200060&cursor=none'],
  ])('the log line of an invalid request names the parameter %s', async (parameter, sent) => {
    expect(await lineFor({}, sent)).toMatchObject({ status: 400, parameter });
  });

  it('the log line of a 429 says which limit was reached', async () => {
    const burst = { perSecond: 1, burst: 1 };
    app = await buildTestApp({
      upstream: healthyUpstream,
      now: NOW.toISOString(),
      store,
      burstLimits: { free: burst, developer: null, pro: null },
    });
    const key = await issueTestKey(store, { plan: 'free', now: NOW });
    const headers = { authorization: `Bearer ${key}` };
    for (let request = 0; request < 2; request++) await app.inject({ url, headers });
    expect(lastLine()).toMatchObject({ status: 429, limit: 'burst', key: idOf(key), plan: 'free' });

    const spent = await issueTestKey(store, { plan: 'free', now: NOW });
    await store.raiseUsage((parseKey(spent) as ApiKey).accountId, quotaDay(NOW.getTime()), 1000);
    await app.inject({ url, headers: { authorization: `Bearer ${spent}` } });
    expect(lastLine()).toMatchObject({ status: 429, limit: 'day', key: idOf(spent) });
  });
});
