import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventCounter, type Grant, keyCounter, makeGrant, parseOrigin, visitorOf } from '#src/access/grant.ts';
import { parseKey } from '#src/access/keys.ts';
import { DEFAULT_BURST_LIMITS } from '#src/access/limits/burst-limits.ts';
import { createSignedKeys, WALL_DATA_PATH } from '#src/access/signed-keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { urlOf } from '#src/http/paths.ts';
import { tokenSchema } from '#src/http/tokens.ts';
import { describedOperations } from '#test/support/operations.ts';
import { countRequests, issueTestKey } from '../support/access.ts';
import { type Front, startFront } from '../support/front.ts';
import { buildProbeApp, type ProbeApp } from '../support/probe-app.ts';
import { openTestStore, startRedis, type TestRedis } from '../support/redis.ts';

const NOW = '2026-11-21T10:20:00Z';
const DAY = '20261121';
const PAGE = 'https://www.example.org';
const signedKeys = createSignedKeys({ secrets: ['a secret of the tests, long enough for it'], kind: 'live' });

let redis: TestRedis;
const logged: string[] = [];
beforeAll(async () => {
  // Installs Redis first on a machine without it.
  redis = await startRedis();
});
afterAll(async () => redis.stop());

const keyOf = (text: string) => parseKey(text) as NonNullable<ReturnType<typeof parseKey>>;

describe.each(['SQLite', 'Redis'])('with accounts in %s', (where) => {
  let stores: AccountStore[];
  let apps: ProbeApp[];

  beforeAll(async () => {
    const file = openEmbeddedStore(':memory:');
    const open = () => openTestStore([redis.url]);
    stores = where === 'Redis' ? await Promise.all([open(), open(), open()]) : [file];
    const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
    const build = (store: AccountStore) => buildProbeApp({ store, now: NOW, signedKeys, logger });
    apps = await Promise.all((where === 'Redis' ? stores : [file, file]).map(build));
  });
  afterAll(async () => {
    for (const app of apps) await app.close();
    for (const store of stores) await store.close();
  });

  const store = () => stores[0] as AccountStore;
  const issue = (grant: Grant, plan: 'free' | 'pro' = 'free') =>
    issueTestKey(store(), { plan, grant: { origins: [PAGE], perDay: 500, perVisitorHour: 100, ...grant } });

  let turn = 0;
  /** Makes a request to the next instance in turn. An empty `origin` sends no Origin header. */
  function send(key: string, { url = '/v1/probe', ip = '203.0.113.7', ...headers }: Record<string, string> = {}) {
    const app = apps[turn++ % apps.length] as ProbeApp;
    const authorization = `Bearer ${key}`;
    const { origin = PAGE, ...others } = headers;
    const sent = { authorization, ...others, ...(origin !== '' && { origin }) };
    return app.inject({ url, remoteAddress: ip, headers: sent });
  }
  const statusOf = async (...sent: Parameters<typeof send>) => (await send(...sent)).statusCode;
  const codeOf = async (...sent: Parameters<typeof send>) => (await send(...sent)).json().error?.code;
  const usageOf = async (key: string, counter = DAY) => (await store().loadUsage(keyOf(key).accountId, [counter]))[0];

  describe('a publishable key', () => {
    it('a publishable key is accepted only from pages of its origins', async () => {
      const key = await issue({ origins: [PAGE, 'https://*.example.net', 'http://localhost:*'] });
      const without = { origin: '' };
      const allowed = [
        { origin: PAGE },
        { origin: 'https://a.b.example.net' },
        { origin: 'http://localhost:5173' },
        { ...without, referer: `${PAGE}/map?x=1` },
      ];
      for (const headers of allowed) expect(await codeOf(key, headers), JSON.stringify(headers)).toBeUndefined();
      const refused = [
        { origin: 'https://example.org' },
        { origin: 'https://www.example.org.evil.example' },
        { origin: 'https://evil.example/.example.net' },
        { origin: 'https://example.net' },
        { origin: 'https://evilexample.net' },
        { origin: 'http://www.example.org' },
        { origin: 'https://www.example.org:8443' },
        { origin: 'http://localhost.evil.example:1' },
        { origin: 'https://evil.example', referer: `${PAGE}/` },
        { origin: 'null' },
        ...[
          'NULL',
          'HTTPS://WWW.EXAMPLE.ORG',
          'https://www.example.org:443',
          'https://www.example.org.',
          'https://www.example.org/',
          'https://user@www.example.org',
          'https://www.example.org@evil.example',
          'https://www.example.org, https://evil.example',
          'https://www.xn--exmple-cua.org',
          'https://a.example.net.',
          'https://a.example.net.evil.example',
          'https://evil.example#.example.net',
          'http://localhost:80@evil.example',
        ].map((origin) => ({ origin })),
        { origin: 'null', referer: `${PAGE}/` },
        ...[
          'https://evil.example/https://www.example.org',
          'https://www.example.org@evil.example/',
          'https://www.example.org.evil.example/',
          'https://www.example.org./',
          'http://www.example.org/',
          'about:blank',
        ].map((referer) => ({ ...without, referer })),
        without,
      ];
      for (const headers of refused) {
        const response = await send(key, headers);
        expect(response.statusCode, JSON.stringify(headers)).toBe(403);
        expect(response.json().error.code).toBe('ORIGIN_NOT_ALLOWED');
      }
      expect(await usageOf(key)).toBe(allowed.length);
    });

    it('a response to a publishable key allows its origin in CORS headers, and caches store it per origin', async () => {
      const { headers } = await send(await issue({}));
      expect(headers['access-control-allow-origin']).toBe(PAGE);
      expect(headers.vary).toBe('Origin');
    });

    it('a publishable key is accepted from apps if its owner allows it, but still not from other pages', async () => {
      const key = await issue({ apps: true });
      expect(await statusOf(key, { origin: '' })).toBe(200);
      expect(await statusOf(key, { origin: 'null' })).toBe(200);
      expect(await statusOf(key, { origin: 'https://evil.example' })).toBe(403);
    });

    it('a publishable key works only for the operations that its owner has chosen', async () => {
      const key = await issue({ operations: ['/v1/probe'] });
      expect(await codeOf(key)).toBeUndefined();
      expect(await codeOf(key, { url: '/v1/probe/five' })).toBe('OPERATION_NOT_ALLOWED');
    });

    it('a publishable key gets exactly its share of the day on all instances together, and failed requests are refunded', async () => {
      const key = await issue({ perDay: 40, perVisitorHour: 1000 });
      const visitors = Array.from({ length: 60 }, (_, index) => `198.51.100.${index}`);
      for (const ip of visitors.slice(0, 10)) expect(await statusOf(key, { ip, url: '/v1/probe/failing' })).toBe(504);
      const statuses = await Promise.all(visitors.map((ip) => statusOf(key, { ip })));
      expect(statuses.filter((status) => status === 200)).toHaveLength(40);
      expect(statuses.filter((status) => status === 429)).toHaveLength(20);
      const refused = await send(key, { ip: '198.51.100.200' });
      expect(refused.json().error).toMatchObject({ code: 'DAILY_LIMIT_EXCEEDED' });
      expect(refused.json().error.message).toContain('Daily limit of this key reached: 40 of 40 requests');
      expect(await usageOf(key)).toBe(40);
      expect(await usageOf(key, keyCounter(keyOf(key).hash, DAY))).toBe(40);
    });

    it('all instances together limit one visitor of a publishable key exactly per hour', async () => {
      const key = await issue({ perVisitorHour: 10 });
      const statuses = await Promise.all(Array.from({ length: 15 }, () => statusOf(key)));
      expect(statuses.filter((status) => status === 200)).toHaveLength(10);
      const refused = await send(key);
      expect(refused.json().error.code).toBe('VISITOR_LIMIT_EXCEEDED');
      expect(refused.headers['retry-after']).toBe('2400');
      expect(await statusOf(key, { ip: '203.0.113.8' })).toBe(200);
      expect(await usageOf(key)).toBe(11);
      for (const app of apps) app.clock.now = new Date('2026-11-21T11:00:00Z');
      expect(await statusOf(key)).toBe(200);
      for (const app of apps) app.clock.now = new Date(NOW);
    });

    it('an IPv6 network, or both forms of an IPv4 address, count as one visitor', async () => {
      const key = await issue({ perVisitorHour: 2 });
      const sendAs = async (...ips: string[]) => {
        const statuses = [];
        for (const ip of ips) statuses.push(await statusOf(key, { ip }));
        return statuses;
      };
      expect(await sendAs('2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:2::3')).toEqual([200, 200, 429]);
      expect(await sendAs('2001:db8:1:3::1')).toEqual([200]);
      expect(await sendAs('203.0.113.20', '::ffff:203.0.113.20', '203.0.113.20')).toEqual([200, 200, 429]);
    });

    it('responses to a publishable key report what remains of the account’s day, the key’s day and the visitor’s hour', async () => {
      const { headers } = await send(await issue({}));
      expect(headers['ratelimit-policy']).toBe('"daily";q=1000;w=86400, "key";q=500;w=86400, "visitor";q=100;w=3600');
      expect(headers.ratelimit).toBe('"daily";r=999;t=49200, "key";r=499;t=49200, "visitor";r=99;t=2400');
      expect(headers['x-ratelimit-remaining']).toBe('999');
    });

    it('a visitor is charged for each stop of a request, all or none', async () => {
      const key = await issue({ perVisitorHour: 7 });
      expect(await statusOf(key, { url: '/v1/probe/five' })).toBe(200);
      expect(await codeOf(key, { url: '/v1/probe/five' })).toBe('VISITOR_LIMIT_EXCEEDED');
      expect(await usageOf(key)).toBe(5);
      expect(await statusOf(key)).toBe(200);
    });

    it('a publishable key of an unlimited account still has its own limits', async () => {
      const key = await issue({ perDay: 3 }, 'pro');
      const statuses = [];
      for (let n = 0; n < 5; n++) statuses.push(await statusOf(key));
      expect(statuses).toEqual([200, 200, 200, 429, 429]);
    });

    it('a revoked publishable key stops working at once', async () => {
      const key = await issue({});
      expect([await statusOf(key), await statusOf(key)]).toEqual([200, 200]);
      await store().revokeKey(keyOf(key).accountId, keyOf(key).hash, Date.parse(NOW));
      expect([await statusOf(key), await statusOf(key)]).toEqual([401, 401]);
    });

    it('the owner of a publishable key sees how often it was refused, and why', async () => {
      const operations = ['/v1/probe', '/v1/probe/five'];
      const key = await issue({ perVisitorHour: 4, perDay: 9, operations });
      const { accountId, hash } = keyOf(key);
      // The visitor has four requests an hour, too few for five stops.
      const five = { url: '/v1/probe/five' };
      expect(await codeOf(key, five)).toBe('VISITOR_LIMIT_EXCEEDED');
      for (let n = 0; n < 5; n++) await send(key);
      for (let n = 0; n < 6; n++) await send(key, { ip: '203.0.113.8' });
      for (const n of [1, 2]) await send(key, { ip: `203.0.113.9${n}` });
      await send(key, { origin: 'https://evil.example' });
      await send(key, { url: '/v1/probe/failing' });
      const other = await issue({});
      await countRequests(store(), other, 1000, DAY);
      await send(other);
      const counters = (['origin', 'operation', 'visitor', 'share', 'account'] as const).map((event) =>
        eventCounter(hash, DAY, event),
      );
      await expect.poll(() => store().loadUsage(accountId, counters)).toEqual([1, 1, 4, 1, 0]);
      const ofOther = eventCounter(keyOf(other).hash, DAY, 'account');
      await expect.poll(() => usageOf(other, ofOther)).toBe(1);
      await store().deleteAccount(accountId, Date.parse(NOW));
      expect(await store().loadUsage(accountId, [...counters, keyCounter(hash, DAY)])).toEqual([0, 0, 0, 0, 0, 0]);
    });
  });

  describe('a token', () => {
    const expiresAt = Date.parse(NOW) / 1000 + 900;
    async function tokenOf(grant: Grant = {}, plan: 'free' | 'pro' = 'free') {
      const key = await issueTestKey(store(), { plan });
      return { key, token: signedKeys.createToken({ expiresAt, id: 'one', ...grant }, keyOf(key)) };
    }

    it('a token works in place of its key and is charged to the key’s account', async () => {
      const { key, token } = await tokenOf();
      expect(await statusOf(token)).toBe(200);
      expect((await send(token)).headers['access-control-allow-origin']).not.toBe(PAGE);
      expect(await usageOf(key)).toBe(2);
    });

    it('a token stops working when it expires', async () => {
      const { token } = await tokenOf({ expiresAt: Date.parse(NOW) / 1000 });
      expect(await codeOf(token)).toBe('TOKEN_EXPIRED');
    });

    it.each(['free', 'pro'] as const)('a token stops working when its key is revoked, on the %s plan', async (plan) => {
      const { key, token } = await tokenOf({}, plan);
      expect([await statusOf(token), await statusOf(token)]).toEqual([200, 200]);
      await store().revokeKey(keyOf(key).accountId, keyOf(key).hash, Date.parse(NOW));
      for (const app of apps) app.clock.now = new Date('2026-11-21T10:20:10Z');
      expect([await statusOf(token), await statusOf(token)]).toEqual([401, 401]);
      for (const app of apps) app.clock.now = new Date(NOW);
    });

    it('all instances together allow a token exactly its number of requests', async () => {
      const { key, token } = await tokenOf({ requests: 7 }, 'pro');
      await send(token, { url: '/v1/probe/failing' });
      const statuses = await Promise.all(Array.from({ length: 12 }, () => statusOf(token)));
      expect(statuses.filter((status) => status === 200)).toHaveLength(7);
      expect(await codeOf(token)).toBe('TOKEN_EXPIRED');
      expect(await statusOf(key)).toBe(200);
    });

    it('a token is refused if a letter, its key or its grant is changed', async () => {
      const [one, other] = [await tokenOf(), await tokenOf({ operations: ['/v1/probe'] })];
      const [head = '', account = '', hash = '', signature = ''] = one.token.split('.');
      const [otherHead, otherAccount, otherHash] = other.token.split('.');
      const forged = [
        ...[0, 9, 20, 60, 100, one.token.length - 1].map(
          (at) => `${one.token.slice(0, at)}${one.token[at] === 'A' ? 'B' : 'A'}${one.token.slice(at + 1)}`,
        ),
        [otherHead, account, hash, signature].join('.'),
        [head, otherAccount, otherHash, signature].join('.'),
        [head, account, hash].join('.'),
        one.token.replace('tis_tok_', 'tis_live_'),
        `${head}.${signedKeys.createWallLink('200070', keyOf(one.key))}`,
        `tis_tok_${'x'.repeat(5000)}.a.b.c`,
      ];
      for (const token of forged) expect(await codeOf(token), token).toBe('UNAUTHORIZED');
    });

    it('a token does not work as a wall board link, nor the reverse', async () => {
      const { key, token } = await tokenOf();
      const link = signedKeys.createWallLink('200070', keyOf(key));
      expect(await codeOf(link)).toBe('UNAUTHORIZED');
      const screen = { url: '/v1/probe', headers: { authorization: `Screen ${token}` } };
      expect((await (apps[0] as ProbeApp).inject(screen)).statusCode).toBe(401);
    });
  });

  it('a response warns a page that sends a secret key, and the key’s owner is warned too', async () => {
    const key = await issueTestKey(store(), {});
    expect((await send(key)).headers['x-key-warning']).toContain('Use a publishable key');
    expect((await send(key, { origin: '' })).headers['x-key-warning']).toBeUndefined();
    const { accountId, hash } = keyOf(key);
    const counter = eventCounter(hash, DAY, 'browser');
    await expect.poll(() => store().loadUsage(accountId, [counter])).toEqual([1]);
  });

  it('the log contains neither publishable keys nor tokens', () => {
    expect(logged.length).toBeGreaterThan(100);
    expect(logged.join('')).not.toMatch(/tis_(live|pub|tok)_\w/);
  });
});

/** Issued by version 0.1.0 in November 2026; their secret is that of `signedKeys`. */
const EARLIER = {
  secretKey: 'tis_live_Acc0unt14b9qyBqaeP2plXCVD0blcK0855129DO9S',
  publishableKey: 'tis_pub_Acc0unt1VEPc8jj46gq3bZ3LLQ2nLF7Z45u2RRL2o',
  wallLink:
    'Acc0unt1.644fcf0935328ab17fecb4998ff78fcd1937e2502a0ad9ed92dd6c7450fdf129.96RNPjIOwSHxUbTsRKyIzZYPfxDa4vp0wpIY6zDKEAM',
  token:
    'tis_tok_eyJvcGVyYXRpb25zIjpbIi92MS9wcm9iZSJdLCJyZXF1ZXN0cyI6NSwic3RyZWFtcyI6MSwiZXhwaXJlc0F0IjoxNzk1MjU4ODAwLCJpZCI6ImFCM2RFNWZHIn0.Acc0unt1.644fcf0935328ab17fecb4998ff78fcd1937e2502a0ad9ed92dd6c7450fdf129.KL_ryOLjiAj9KmDfaSKXntndR8rTHcT-ZJM9sxGV030',
};

it('a secret key, publishable key, token and wall board link issued earlier keep working', async () => {
  const store = openEmbeddedStore(':memory:');
  const app = await buildProbeApp({ store, now: NOW, signedKeys });
  await store.openAccount({ id: 'Acc0unt1', email: 'earlier@example.com', plan: 'free', createdAt: NOW });
  const grant = { origins: [PAGE], apps: false, perDay: 5, perVisitorHour: 5 };
  for (const [text, granted] of [
    [EARLIER.secretKey, null],
    [EARLIER.publishableKey, grant],
  ] as const) {
    const { accountId, hash, lastFour } = keyOf(text);
    await store.addKey({ accountId, hash, lastFour, label: '', createdAt: NOW, grant: granted }, 5);
  }
  const sendFrom = async (origin: string, key: string) => {
    const response = await app.inject({ url: '/v1/probe', headers: { authorization: `Bearer ${key}`, origin } });
    return `${response.statusCode} ${response.headers['ratelimit-policy'] ?? ''}`;
  };
  const daily = '"daily";q=1000;w=86400';
  expect(await sendFrom(PAGE, EARLIER.secretKey)).toBe(`200 ${daily}`);
  const share = '"key";q=5;w=86400, "visitor";q=5;w=3600';
  expect(await sendFrom(PAGE, EARLIER.publishableKey)).toBe(`200 ${daily}, ${share}`);
  expect(await sendFrom('https://elsewhere.example', EARLIER.publishableKey)).toMatch('403');
  expect(await sendFrom(PAGE, EARLIER.token)).toBe(`200 ${daily}, "token";q=5;w=2400`);
  const wall = (stop: string) => {
    const headers = { authorization: `Screen ${EARLIER.wallLink}` };
    const request = { headers, routeOptions: { url: WALL_DATA_PATH }, params: { stop } };
    return signedKeys.parseWallLink(request as unknown as FastifyRequest);
  };
  expect(wall('200060')).toMatchObject({ accountId: 'Acc0unt1', hash: keyOf(EARLIER.secretKey).hash });
  expect(wall('200070')).toBeNull();
  await app.close();
  await store.close();
});

it('a publishable key without a known grant is refused, not treated as a secret key', async () => {
  const store = openEmbeddedStore(':memory:');
  const key = await issueTestKey(store, { grant: { origins: [PAGE], perDay: 500 } });
  const withoutGrant = { ...store, loadKey: async (sent: never) => ({ ...(await store.loadKey(sent)), grant: null }) };
  const app = await buildProbeApp({ store: withoutGrant, now: NOW });
  expect([(await app.send(key)).statusCode, (await app.send(key)).statusCode]).toEqual([401, 401]);
  await app.close();
  await store.close();
});

describe('POST /v1/tokens', () => {
  let front: Front;
  beforeAll(async () => {
    front = await startFront({ now: '2026-11-20T02:00:20Z' });
  });
  afterAll(() => front[Symbol.asyncDispose]());

  const post = (payload?: object | string, key = front.testKey) =>
    front.app.inject({
      method: 'POST',
      url: '/v1/tokens',
      headers: { authorization: `Bearer ${key}`, ...(payload !== undefined && { 'content-type': 'application/json' }) },
      ...(payload !== undefined && { payload }),
    });
  const get = (url: string, token?: string) =>
    front.app.inject({ url, ...(token && { headers: { authorization: `Bearer ${token}` } }) });

  it('POST /v1/tokens returns a token valid for fifteen minutes, even if the body is empty or missing', async () => {
    for (const body of [{}, undefined]) {
      const response = await post(body);
      expect(response.statusCode).toBe(200);
      expect(response.headers['cache-control']).toBe('no-store');
      const { token, expires_at } = tokenSchema.parse(response.json());
      expect(expires_at).toBe('2026-11-20T02:15:20Z');
      expect((await get('/v1/stops/search?q=central', token)).statusCode).toBe(200);
    }
  });

  it.each([
    [{ minutes: 61 }, '`minutes` must be a whole number from 1 to 60, not 61.'],
    [{ operations: ['/v1/departure'] }, '`operations` must be a list of operation paths'],
    [{ stops: ['central'] }, '`stops` must be a list of up to 20 stop IDs'],
    [{ request: 5 }, '`request` is not one of minutes, operations, stops, requests, streams.'],
    [[], 'The body must be a JSON object, such as {}.'],
  ])('POST /v1/tokens explains what is wrong with the body %j', async (body, message) => {
    const response = await post(body);
    expect(response.statusCode).toBe(400);
    expect(response.json().error.message).toContain(message);
  });

  it.each([
    ['no JSON', 'application/json', '{"minutes"', 400],
    ['an empty text', 'application/json', '', 400],
    ['another type', 'text/plain', '{}', 415],
    ['more than it may be', 'application/json', `"${'x'.repeat(17_000)}"`, 413],
  ])('POST /v1/tokens checks the key before the body, here a body with %s', async (_what, type, payload, status) => {
    const send = (key: string) =>
      front.app.inject({
        method: 'POST',
        url: '/v1/tokens',
        headers: { authorization: `Bearer ${key}`, 'content-type': type },
        payload,
      });
    expect((await send(front.testKey)).statusCode).toBe(status);
    expect((await send('nonsense')).statusCode).toBe(401);
  });

  it('a token or publishable key cannot create tokens, and neither opens anything but operations', async () => {
    const { token } = (await post({})).json();
    for (const key of [token, front.publishableKey]) {
      expect((await post({}, key)).json().error.code).toBe('OPERATION_NOT_ALLOWED');
      const headers = { authorization: `Bearer ${key}` };
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      expect((await front.app.inject({ method: 'POST', url: '/mcp', headers, payload: message })).statusCode).toBe(403);
      expect((await get('/board/200070', key)).statusCode).toBe(403);
    }
  });

  it('only streams accept a token in the URL', async () => {
    const { token } = (await post({ streams: 1, operations: ['/v1/departures'] })).json();
    const query = `stop=200070&modes=all&access_token=${encodeURIComponent(token)}`;
    const stream = await fetch(`${front.url}/v1/departures/stream?${query}`);
    expect(stream.status).toBe(200);
    expect([stream.headers.get('cache-control'), stream.headers.get('referrer-policy')]).toEqual([
      'private, no-store, no-transform',
      'no-referrer',
    ]);
    const second = await fetch(`${front.url}/v1/departures/stream?${query}`);
    expect([second.status, await second.text()]).toEqual([429, expect.stringContaining('VISITOR_LIMIT_EXCEEDED')]);
    await stream.body?.cancel();
    // Browsers show the error of a stream as a page, and would send its URL as the referrer when they request an icon.
    expect(second.headers.get('referrer-policy')).toBe('no-referrer');
    expect((await get(`/v1/departures?${query}`)).statusCode).toBe(401);
    expect((await get(`/v1/departures/stream?stop=200070&access_token=${front.testKey}`)).statusCode).toBe(401);
    expect((await get('/v1/alerts/stream', token)).json().error.code).toBe('OPERATION_NOT_ALLOWED');
  });

  it('a token works only for its stops, however a request writes them', async () => {
    const { token } = (await post({ stops: ['200070', '200020'] })).json();
    const [known, foreign] = ['200070', '200060'];
    for (const url of [
      `/v1/departures?stop=${known}`,
      `/v1/boards?stops=${known},200020@5`,
      `/v1/boards?stops[]=${known}&STOPS=200020`,
      `/v1/stops/${known}`,
      `/v1/alerts?stop=${known}`,
    ])
      expect((await get(url, token)).statusCode, url).toBe(200);
    const elsewhere = describedOperations().map(({ path, example }) =>
      urlOf(path, example.query.replaceAll(known, foreign)),
    );
    // Without a stop, punctuality is that of a line; with one of the token's stops it is allowed.
    const [punctuality = ''] = elsewhere.filter((url) => url.includes('/punctuality'));
    expect((await get(`${punctuality}?stop=${known}`, token)).body).not.toContain('OPERATION_NOT_ALLOWED');
    const named = ['stop', 'stops', 'stop_id', 'stop[]', 'Stop'].flatMap((name) =>
      [...elsewhere.filter((url) => url !== punctuality), '/v1/stops.ndjson'].map(
        (url) => `${url}${url.includes('?') ? '&' : '?'}${name}=${known}`,
      ),
    );
    for (const url of [
      ...elsewhere,
      ...named,
      `/v1/boards?stops[]=${foreign}&stops=${known}`,
      `/v1/boards?STOPS=${foreign}&stops=${known}`,
      `/v1/boards?stops=${known},${foreign}`,
      `/v1/departures?stop=${known}&stop=${foreign}`,
      `/v1/stops/${foreign}?stop_id=${known}`,
      '/v1/alerts',
      '/v1/departures',
    ])
      expect((await get(url, token)).json().error.code, url).toBe('OPERATION_NOT_ALLOWED');
  });
});

it('one visitor who is too fast uses up none of the account’s burst limit', async () => {
  const store = openEmbeddedStore(':memory:');
  const app = await buildProbeApp({ store, now: NOW, signedKeys, burstLimits: DEFAULT_BURST_LIMITS });
  const secret = await issueTestKey(store, { email: 'fast@example.com' });
  const grant = { origins: [PAGE], perDay: 900, perVisitorHour: 800 };
  const key = await issueTestKey(store, { email: 'fast@example.com', grant });
  const headers = { authorization: `Bearer ${key}`, origin: PAGE };
  const statuses = [];
  for (let n = 0; n < 200; n++) statuses.push((await app.inject({ url: '/v1/probe', headers })).statusCode);
  expect(statuses.filter((status) => status === 200)).toHaveLength(30);
  expect((await app.inject({ url: '/v1/probe', headers })).json().error.code).toBe('VISITOR_LIMIT_EXCEEDED');
  // A Free account may make 60 requests at once.
  for (let n = 0; n < 30; n++) expect((await app.send(secret)).statusCode).toBe(200);
  await app.close();
  await store.close();
});

it('publishable keys have their own burst bucket, and refused visitors do not use it', async () => {
  const store = openEmbeddedStore(':memory:');
  const app = await buildProbeApp({ store, now: NOW, burstLimits: DEFAULT_BURST_LIMITS });
  const email = 'beside@example.com';
  const [secret, key] = [
    await issueTestKey(store, { email }),
    await issueTestKey(store, { email, grant: { origins: [PAGE], perDay: 900, perVisitorHour: 200 } }),
  ];
  const sendAtOnce = async (times: number, remoteAddress: string, sent = key) => {
    const headers = { authorization: `Bearer ${sent}`, origin: PAGE };
    const send = () => app.inject({ url: '/v1/probe', remoteAddress, headers });
    const responses = await Promise.all(Array.from({ length: times }, send));
    return responses.map((response) => response.json().error?.code ?? 'ok');
  };
  const count = (codes: string[], wanted: string) => codes.filter((code) => code === wanted).length;
  expect(count(await sendAtOnce(100, '203.0.113.7'), 'VISITOR_LIMIT_EXCEEDED')).toBe(70);
  expect(count(await sendAtOnce(25, '203.0.113.8'), 'ok')).toBe(25);
  // A Free account may make 60 requests at once, and visitors have made 55.
  expect(await sendAtOnce(6, '203.0.113.9')).toEqual([...Array(5).fill('ok'), 'TOO_MANY_REQUESTS']);
  expect(count(await sendAtOnce(70, '203.0.113.1', secret), 'ok')).toBe(60);
  await app.close();
  await store.close();
});

it('each instance allows its share of a key’s limits while Redis is unreachable', async () => {
  const own = await startRedis();
  const store = await openTestStore([own.url]);
  const app = await buildProbeApp({ store, now: NOW, signedKeys });
  const grant = { origins: [PAGE], perDay: 100, perVisitorHour: 8 };
  const key = await issueTestKey(store, { plan: 'pro', grant });
  const send = () => app.inject({ url: '/v1/probe', headers: { authorization: `Bearer ${key}`, origin: PAGE } });
  expect((await send()).statusCode).toBe(200);
  await own.kill();
  const statuses = [];
  for (let n = 0; n < 12; n++) statuses.push((await send()).statusCode);
  expect(statuses.filter((status) => status === 200)).toHaveLength(7);
  await app.close();
  await store.close();
  await own.stop();
});

it('a refund goes to the hour that was charged', async () => {
  const store = openEmbeddedStore(':memory:');
  const app = await buildProbeApp({
    store: {
      ...store,
      async admit(request) {
        const reply = await store.admit(request);
        app.clock.now = new Date('2026-11-21T11:00:00Z');
        return reply;
      },
    },
    now: '2026-11-21T10:59:59Z',
  });
  const key = await issueTestKey(store, { grant: { origins: [PAGE], perDay: 500, perVisitorHour: 100 } });
  const { accountId, hash } = keyOf(key);
  const headers = { authorization: `Bearer ${key}`, origin: PAGE };
  expect((await app.inject({ url: '/v1/probe/five?failing', headers })).statusCode).toBe(504);
  const hours = [10, 11].map((hour) => `${keyCounter(hash, DAY)}:${hour}:${visitorOf({ hash }, '127.0.0.1')}`);
  expect(await store.loadUsage(accountId, [DAY, ...hours])).toEqual([0, 0, 0]);
  await app.close();
  await store.close();
});

it.each([
  ['https://www.example.org', 'https://www.example.org'],
  ['https://www.bücher.example', 'https://www.xn--bcher-kva.example'],
  ['https://*.Bücher.example', 'https://*.xn--bcher-kva.example'],
  ['https://www.example.org?x', null],
  ['https://www.example.org#x', null],
  ['https://www.example.org\\.evil', null],
  ['https://www.example.org:99999', null],
  ['https://*example.org', null],
  ['https://a.*.example.org', null],
  ['https://*.127.0.0.1', null],
  ['http://[::1]:*', 'http://[::1]:*'],
  [' HTTPS://WWW.Example.ORG/ ', 'https://www.example.org'],
  ['https://www.example.org:443', 'https://www.example.org'],
  ['https://*.example.org', 'https://*.example.org'],
  ['http://localhost:*', 'http://localhost:*'],
  ['https://*.org', null],
  ['https://*.github.io', null],
  ['https://*.com.au', null],
  ['https://*.example.com.au', 'https://*.example.com.au'],
  ['https://somebody.github.io', 'https://somebody.github.io'],
  ['https://*', null],
  ['*', null],
  ['null', null],
  ['https://www.example.org/map', null],
  ['https://user@example.org', null],
  ['https://example.org:*', null],
  ['ftp://example.org', null],
  ['https://*.*.example.org', null],
])('the setting of origins reads %s as %s', (text, origin) => {
  expect(parseOrigin(text)).toBe(origin);
});

it.each([
  'github.io.',
  'id.au',
  'nsw.edu.au',
  'fly.dev',
  'run.app',
  'co.uk',
  'kawasaki.jp',
  'amazonaws.com',
  's3.amazonaws.com',
  'ap-southeast-2.elb.amazonaws.com',
  'windows.net',
  'nsw.gov.au',
  'NSW.gov.au.:8443/',
  'act.gov.au',
  'nt.gov.au',
  'vic.gov.au',
  'schools.nsw.edu.au',
  'eq.edu.au',
])('the setting of origins refuses the wildcard https://*.%s, below which anyone may have a site', (host) => {
  expect(parseOrigin(`https://*.${host}`)).toBeNull();
  const { problems } = makeGrant(
    { origins: [`https://*.${host}`], apps: false, operations: [], perDay: '', perVisitorHour: '' },
    'free',
  );
  expect(problems?.origins).toContain('covers sites of many owners');
});

it.each([
  ['https://www.example.org./', 'https://www.example.org'],
  ['https://*.example.org.:8443', 'https://*.example.org:8443'],
  ['https://*.transport.nsw.gov.au', 'https://*.transport.nsw.gov.au'],
  ['https://*.maps.transport.nsw.gov.au', 'https://*.maps.transport.nsw.gov.au'],
  ['https://*.manly-h.schools.nsw.edu.au', 'https://*.manly-h.schools.nsw.edu.au'],
  ['https://www.nsw.gov.au', 'https://www.nsw.gov.au'],
  ['https://*.somebody.github.io', 'https://*.somebody.github.io'],
  ['https://*.corp.internal', 'https://*.corp.internal'],
])('the setting of origins reads %s as %s, without a dot at the end of the host', (text, origin) => {
  expect(parseOrigin(text)).toBe(origin);
});
