import type { LightMyRequestResponse as Response } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { fromRoute, urlOf } from '#src/http/paths.ts';
import { plannerJourneys } from '#src/journeys/planner/planner.ts';
import { createFollowOperation } from '#src/operations/follow/operation.ts';
import { runOperation } from '#src/operations/runs/operation.ts';
import { goodAnswerTo } from '#test/contract/operations.ts';
import { buildTestApp } from '#test/support/app.ts';
import { countRequests, issueTestKey } from '../support/access.ts';
import { listRoutes } from '../support/routes.ts';
import { stopsOfTwoLines } from '../support/two-lines.ts';
import { startUpstream } from '../support/upstream.ts';

/** A journey that is over. */
const JOURNEY = createFollowOperation({
  journeys: plannerJourneys({ get: () => null }),
  listAlerts: async () => [],
}).example.query;
/** A run of another day, which is not found. */
const RUN = runOperation.example.query;

/** A valid query of each operation, including the parameters in its path. */
const VALID_QUERY: Record<string, string> = {
  '/v1/departures': 'stop=200060',
  '/v1/departures/stream': 'stop=200060',
  '/v1/arrivals': 'stop=200060',
  '/v1/boards': 'stops=200060',
  '/v1/nearby': 'lat=-33.87&lng=151.21',
  '/v1/stops/search': 'q=central',
  '/v1/places/search': 'q=central',
  '/v1/stops': 'near=-33.87,151.21',
  '/v1/stops/:stop_id': 'stop_id=200060',
  '/v1/stops.ndjson': '',
  '/v1/lines': 'q=T1',
  '/v1/lines/status': 'routes=T1',
  '/v1/lines/:line_id': 'line_id=train_T1',
  '/v1/lines/:line_id/timetable': 'line_id=train_T1',
  '/v1/lines/:line_id/punctuality': 'line_id=train_T1',
  '/v1/alerts': '',
  '/v1/alerts/stream': '',
  '/v1/alerts/:alert_id': 'alert_id=nP3k9QzVx0',
  '/v1/runs/:run_id': RUN,
  '/v1/runs/:run_id/stream': RUN,
  '/v1/vehicles': 'bbox=-33.88,151.2,-33.86,151.22',
  '/v1/vehicles/stream': 'bbox=-33.88,151.2,-33.86,151.22',
  '/v1/trips': 'from=200060&to=200070',
  '/v1/trips/:journey_id': JOURNEY,
  '/v1/trips/:journey_id/stream': JOURNEY,
  '/v1/reachable': 'from=200060',
  '/v1/travel-times': 'from=200060&to=200070',
  '/v1/carparks': '',
  '/v1/carparks/:carpark_id': 'carpark_id=486',
  '/v1/tokens': '',
};

const NOW = new Date('2026-11-21T10:00:00Z');
const DAY = '20261121';

/** Lookups of invalid keys are rate-limited, so each operation has a minute of its own. */
let minutes = 0;
const secondsLeft = () => 50_400 - minutes * 60;

const upstream = await startUpstream((request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(goodAnswerTo(request.url));
});
const store = openEmbeddedStore(':memory:');
const app = await buildTestApp({
  upstream: upstream.url,
  store,
  now: () => new Date(NOW.getTime() + minutes * 60_000),
  sendsKey: false,
  stops: stopsOfTwoLines(),
});
const operations = (await listRoutes(app)).filter((url) => /^\/v1(\/|$)/.test(url));

afterAll(async () => {
  await app.close();
  await upstream.close();
  await store.close();
});

it('every operation checks its key in one preHandler, before all others', () => {
  const hooks = app.printRoutes({ includeHooks: true, commonPrefix: false }).match(/\((?:preParsing|preHandler)\) .*/g);
  expect(hooks?.length).toBeGreaterThanOrEqual(operations.length);
  expect(new Set(hooks)).toEqual(
    new Set(['(preHandler) ["checkKey()"]', '(preHandler) ["checkKey()","parseJsonBody()"]']),
  );
});

it('this suite covers every operation of the service', () => {
  expect(operations.length).toBeGreaterThanOrEqual(4);
  expect(Object.keys(VALID_QUERY).toSorted(), '`VALID_QUERY` above has each operation').toEqual(operations.toSorted());
});

describe.each(operations.filter((route) => route in VALID_QUERY))('%s', (route) => {
  const [path = '', query = ''] = urlOf(fromRoute(route), VALID_QUERY[route] ?? '').split('?');
  const url = `${path}?${query}`;
  const takes = path === '/v1/tokens' ? 'POST' : 'GET';
  const get = (to: string, authorization?: string) =>
    app.inject({ method: takes, url: to, headers: authorization === undefined ? {} : { authorization } });
  // An admitted stream does not end, so its headers are read with HEAD.
  const method = path.endsWith('/stream') ? 'HEAD' : takes;
  const getAdmitted = (to: string, authorization: string) =>
    app.inject({ method, url: to, headers: { authorization } });
  let key: string;
  let spent: string;
  let revoked: string;

  beforeAll(async () => {
    minutes++;
    key = await issueTestKey(store);
    spent = await issueTestKey(store);
    revoked = await issueTestKey(store);
    await countRequests(store, spent, 1000, DAY);
    await store.revokeKey(parseKey(revoked)?.accountId ?? '', parseKey(revoked)?.hash ?? '', NOW.getTime());
  });

  function expectUnauthorized(response: Response, challenge: string): void {
    expect(response.statusCode).toBe(401);
    expect(response.json()).toEqual({
      error: {
        code: 'UNAUTHORIZED',
        message: expect.stringMatching(/Authorization header as a Bearer token/),
        docs: 'https://example.test/docs/errors/UNAUTHORIZED',
      },
    });
    expect(response.headers['www-authenticate']).toBe(challenge);
    expect(Object.keys(response.headers).filter((name) => /ratelimit/.test(name))).toEqual([]);
  }

  const NONE_SENT = 'Bearer realm="transit"';
  const BAD_SENT = 'Bearer realm="transit", error="invalid_token"';
  const unknown = generateKey('live', generateAccountId());

  it.each([
    ['no key', undefined, NONE_SENT],
    ['an empty header', '', NONE_SENT],
    ['another scheme', 'Basic dXNlcjpwYXNz', NONE_SENT],
    ['a scheme and no key', 'Bearer', NONE_SENT],
    ['a scheme and blanks', 'Bearer   ', NONE_SENT],
    ['something that is no key', 'Bearer hello', BAD_SENT],
    ['two keys', `Bearer ${unknown} ${unknown}`, BAD_SENT],
    ['a key cut off', `Bearer ${unknown.slice(0, -1)}`, BAD_SENT],
    ['a wrong checksum', `Bearer ${unknown.slice(0, -6)}000000`, BAD_SENT],
    ['an unknown key', `Bearer ${unknown}`, BAD_SENT],
    ['a test key', `Bearer ${generateKey('test', generateAccountId())}`, BAD_SENT],
  ])(`the operation ${route} refuses a request with %s`, async (_name, authorization, challenge) => {
    const before = upstream.requests.length;
    expectUnauthorized(await get(url, authorization), challenge);
    expectUnauthorized(await get(`${path}?limit=none`, authorization), challenge);
    expect(upstream.requests.length).toBe(before);
  });

  it(`the operation ${route} answers a revoked key exactly as an unknown one`, async () => {
    const [one, other] = [await get(url, `Bearer ${revoked}`), await get(url, `Bearer ${unknown}`)];
    expectUnauthorized(one, BAD_SENT);
    expect(one.body).toBe(other.body);
    const withoutId = ({ 'x-request-id': _, date: __, ...headers }: Response['headers']) => headers;
    expect(withoutId(one.headers)).toEqual(withoutId(other.headers));
  });

  it.each(['key', 'api_key', 'apikey', 'API_KEY', 'access_token', 'token'])(
    'the refusal of a key in the parameter `%s` asks to move it',
    async (name) => {
      for (const value of [key, 'something']) {
        const response = await get(`${url}&${name}=${value}`);
        expectUnauthorized(response, BAD_SENT);
        expect(response.json().error.message).toMatch(/Move it to the Authorization header/);
        expect(response.body).not.toContain(value);
      }
    },
  );

  it('a key in any other parameter is refused, even if the key is in the Authorization header too', async () => {
    for (const value of [key, `x${key}`, key.replace('_', '%5F'), `a&p=${key}`, `a&${key}`]) {
      expectUnauthorized(await get(`${url}&p=${value}`, `Bearer ${key}`), BAD_SENT);
    }
  });

  it(`the operation ${route} ignores a parameter named like a key if the key was sent properly`, async () => {
    expect([200, 400, 404]).toContain((await getAdmitted(`${url}&token=42`, `Bearer ${key}`)).statusCode);
  });

  it.each(['Bearer', 'bearer', 'BEARER'])(
    `the operation ${route} accepts a valid key with scheme %s and reports the remaining quota`,
    async (scheme) => {
      const before = await used(key);
      const response = await getAdmitted(url, `${scheme} ${key}`);
      expect([200, 404]).toContain(response.statusCode);
      expect(response.body).not.toContain('There is nothing at');
      const after = before + (path.endsWith('.ndjson') ? 100 : 1);
      expect(await used(key)).toBe(after);
      expect(response.headers).toMatchObject({
        'ratelimit-policy': '"daily";q=1000;w=86400',
        ratelimit: `"daily";r=${1000 - after};t=${secondsLeft()}`,
        'x-ratelimit-limit': '1000',
        'x-ratelimit-remaining': `${1000 - after}`,
        'x-ratelimit-reset': `${Date.parse('2026-11-22T00:00:00Z') / 1000}`,
      });
    },
  );

  // Two operations have no query.
  it.skipIf(path.endsWith('.ndjson') || takes === 'POST')(
    `the operation ${route} refuses an invalid request of a valid key, charges it, and reports the remaining quota`,
    async () => {
      const before = await used(key);
      const response = await get(`${path}?limit=none`, `Bearer ${key}`);
      expect(response.statusCode).toBe(400);
      expect(response.json().error.code).toBe('INVALID_PARAMETER');
      expect(response.headers.ratelimit).toBe(`"daily";r=${999 - before};t=${secondsLeft()}`);
      expect(await used(key)).toBe(before + 1);
    },
  );

  it(`the operation ${route} refuses an exhausted account, whether the request is valid or not`, async () => {
    const before = upstream.requests.length;
    for (const question of [url, `${path}?limit=none`]) {
      const response = await get(question, `Bearer ${spent}`);
      expect(response.statusCode).toBe(429);
      expect(response.json()).toEqual({
        error: {
          code: 'DAILY_LIMIT_EXCEEDED',
          message: expect.stringMatching(/1,000 of 1,000 requests \(Free\).*2026-11-22T00:00:00Z/),
          docs: 'https://example.test/docs/errors/DAILY_LIMIT_EXCEEDED',
        },
      });
      expect(response.headers).toMatchObject({
        'retry-after': String(secondsLeft()),
        'ratelimit-policy': '"daily";q=1000;w=86400',
        ratelimit: `"daily";r=0;t=${secondsLeft()}`,
        'x-ratelimit-remaining': '0',
      });
    }
    expect(await used(spent)).toBe(1000);
    expect(upstream.requests.length).toBe(before);
  });

  it.skipIf(takes === 'POST')('HEAD is charged like GET', async () => {
    const before = await used(key);
    const response = await app.inject({ method: 'HEAD', url, headers: { authorization: `Bearer ${key}` } });
    expect(response.headers.ratelimit).toBe(`"daily";r=${999 - before};t=${secondsLeft()}`);
    expect((await app.inject({ method: 'HEAD', url })).statusCode).toBe(401);
    expect(await used(key)).toBe(before + 1);
  });

  it('OPTIONS, another method and an unknown path below an operation are not charged', async () => {
    const before = await used(key);
    const headers = { authorization: `Bearer ${key}` };
    await app.inject({ method: 'OPTIONS', url, headers });
    expect((await app.inject({ method: 'PUT', url, headers })).statusCode).toBe(405);
    expect((await get(`${path}/nothing/here`, `Bearer ${key}`)).statusCode).toBe(404);
    expect((await get(`${path}/nothing/here`)).statusCode).toBe(404);
    expect(await used(key)).toBe(before);
  });

  it(`the operation ${route} requires a key for every spelling of its path`, async () => {
    expect((await get(`${path}/`)).statusCode).toBe(401);
    for (const spelling of [path.toUpperCase(), `/${path}`, path.replace('v1', '%76%31'), `/x/..${path}`]) {
      expect([401, 404]).toContain((await get(spelling)).statusCode);
    }
  });
});

async function used(key: string): Promise<number> {
  const [count] = await store.loadUsage(parseKey(key)?.accountId ?? '', [DAY]);
  return count ?? 0;
}
