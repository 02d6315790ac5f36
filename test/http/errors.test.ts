import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError, ERROR_TABLE, type ErrorCode } from '#src/errors/api-error.ts';
import { expectErrorObject } from '#test/contract/expect-contract.ts';
import { OPERATIONS } from '#test/contract/operations.ts';
import type { TestApp } from '#test/support/app.ts';
import { buildHealthyApp } from '#test/support/healthy-upstream.ts';

const SECRET = 'what-nobody-may-see';

let app: TestApp;
let logged: () => string;
/** The error that the temporary route throws. */
let thrown: unknown;

beforeAll(async () => {
  app = await buildHealthyApp();
  ({ logged } = app);
  app.get('/throws', async () => {
    throw thrown;
  });
  app.get('/throws-at-once', () => {
    throw thrown;
  });
  app.get('/sends', (_request, reply) => {
    reply.send(thrown);
  });
  app.get('/sensible/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    const factory = app.httpErrors[name as 'notFound'];
    if (name === 'reply') return reply.notFound('Nothing by that name.');
    throw factory(`The ${name} message ${SECRET}.`);
  });
});

afterAll(() => app.close());

describe('an unexpected exception in a route', () => {
  const cyclic = new Error(SECRET);
  cyclic.cause = cyclic;

  it.each<[string, unknown]>([
    ['an error', new Error(SECRET)],
    ['an error with a cause', new Error('outer', { cause: new Error(SECRET) })],
    ['an error that is its own cause', cyclic],
    ['an error of another type', new TypeError(SECRET)],
    ['an error with a code', Object.assign(new Error(SECRET), { code: 'ENOENT' })],
    ['an error with a status of no error', Object.assign(new Error(SECRET), { statusCode: 200 })],
    ['an error with an invalid status', Object.assign(new Error(SECRET), { statusCode: 'x' })],
    ['an error with a 500', Object.assign(new Error(SECRET), { statusCode: 500 })],
    ['an error with a message that throws', Object.defineProperty(new Error(), 'message', { get: () => SECRET })],
    ['a string', SECRET],
    ['an object', { secret: SECRET }],
    ['a list', [SECRET]],
  ])('an unexpected exception (%s) is 500 INTERNAL_ERROR, with its cause only in the log', async (_name, error) => {
    thrown = error;
    for (const url of ['/throws', '/throws-at-once']) {
      const before = logged().length;
      const response = await app.inject(url);
      expect(response.statusCode).toBe(500);
      expectErrorObject(response);
      expect(response.json().error.code).toBe('INTERNAL_ERROR');
      expect(JSON.stringify(response.headers) + response.body).not.toContain(SECRET);
      expect(logged().slice(before)).toContain(SECRET);
      expect(logged().slice(before)).toContain('"level":50');
    }
  });

  it.each([null, undefined, 0, false, ''])('a route that throws %j is 500 INTERNAL_ERROR', async (value) => {
    thrown = value;
    for (const url of ['/throws', '/throws-at-once']) {
      const response = await app.inject(url);
      expect(response.statusCode).toBe(500);
      expectErrorObject(response);
      expect(response.json().error.code).toBe('INTERNAL_ERROR');
    }
  });

  it.each(OPERATIONS)('an unexpected exception in the operation $name is 500 INTERNAL_ERROR', async ({ url }) => {
    const fails = async () => {
      throw new TypeError(SECRET);
    };
    const broken = await buildHealthyApp(fails);
    const response = await broken.inject(url);
    await broken.close();
    expect(response.statusCode).toBe(500);
    expectErrorObject(response);
    expect(response.body).not.toContain(SECRET);
    expect(broken.logged()).toContain(SECRET);
  });
});

describe('an error of ours', () => {
  it.each(Object.keys(ERROR_TABLE) as ErrorCode[])(
    'error %s is sent with its status, message and headers',
    async (code) => {
      thrown = new ApiError(code, 'The message.', { cause: new Error(SECRET), headers: { 'retry-after': '3' } });
      const response = await app.inject('/throws');
      expect(response.statusCode).toBe(ERROR_TABLE[code].status);
      expect(response.json()).toStrictEqual({
        error: { code, message: 'The message.', docs: `https://example.test/docs/errors/${code}` },
      });
      expect(response.headers['retry-after']).toBe('3');
      expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    },
  );

  it('the cause of a 5xx is in the log, and a 4xx is not logged as an error', async () => {
    thrown = new ApiError('UPSTREAM_ERROR', 'The message.', { cause: new Error('the-cause-of-it') });
    await app.inject('/throws');
    expect(logged()).toContain('the-cause-of-it');
    thrown = new ApiError('STOP_NOT_FOUND', 'The message.', { cause: new Error('another-cause') });
    await app.inject('/throws');
    expect(logged()).not.toContain('another-cause');
  });
});

describe('an error of @fastify/sensible', () => {
  it.each<[name: string, status: number, code: ErrorCode]>([
    ['badRequest', 400, 'INVALID_PARAMETER'],
    ['unauthorized', 401, 'UNAUTHORIZED'],
    ['forbidden', 403, 'SUSPENDED'],
    ['notFound', 404, 'NOT_FOUND'],
    ['methodNotAllowed', 405, 'METHOD_NOT_ALLOWED'],
    ['tooManyRequests', 429, 'TOO_MANY_REQUESTS'],
    ['internalServerError', 500, 'INTERNAL_ERROR'],
    ['badGateway', 502, 'UPSTREAM_ERROR'],
    ['serviceUnavailable', 503, 'SERVICE_UNAVAILABLE'],
    ['gatewayTimeout', 504, 'UPSTREAM_TIMEOUT'],
  ])('the @fastify/sensible error %s is sent in our shape as %i %s', async (name, status, code) => {
    const response = await app.inject(`/sensible/${name}`);
    expect(response.statusCode).toBe(status);
    expectErrorObject(response);
    expect(response.json().error.code).toBe(code);
    expect(response.body.includes(SECRET)).toBe(status < 500);
  });

  it.each<[name: string, code: ErrorCode]>([
    ['conflict', 'INVALID_PARAMETER'],
    ['gone', 'INVALID_PARAMETER'],
    ['imateapot', 'INVALID_PARAMETER'],
    ['unsupportedMediaType', 'UNSUPPORTED_MEDIA_TYPE'],
    ['notImplemented', 'INTERNAL_ERROR'],
    ['insufficientStorage', 'INTERNAL_ERROR'],
  ])(
    'the @fastify/sensible error %s, which we have no code for, is sent as the closest one, %s',
    async (name, code) => {
      const response = await app.inject(`/sensible/${name}`);
      expectErrorObject(response);
      expect(response.json().error.code).toBe(code);
    },
  );

  it('a @fastify/sensible error has the same response from the reply decorator as when thrown', async () => {
    const response = await app.inject('/sensible/reply');
    expect(response.statusCode).toBe(404);
    expectErrorObject(response);
    expect(response.json().error.message).toBe('Nothing by that name.');
  });

  it('a @fastify/sensible error for an unavailable service has Retry-After', async () => {
    expect((await app.inject('/sensible/serviceUnavailable')).headers['retry-after']).toMatch(/^[1-9]\d*$/);
  });
});

describe('a body that cannot be read', () => {
  const post = (url: string, type: string, payload: string) =>
    app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload });

  it.each([
    ['application/xml', '<a/>', 415, 'UNSUPPORTED_MEDIA_TYPE', 'Send JSON as application/json.'],
    ['application/json', '{"a":', 400, 'INVALID_PARAMETER', 'is not valid JSON'],
    ['application/json', '', 400, 'INVALID_PARAMETER', 'is not valid JSON'],
    ['application/json', `"${'x'.repeat(17_000)}"`, 413, 'BODY_TOO_LARGE', 'exceeds the limit of this path'],
  ])('an unreadable body of type %s gets our own message (%#)', async (type, body, status, code, words) => {
    const response = await post('/mcp', type, body);
    expect(response.statusCode).toBe(status);
    expectErrorObject(response);
    expect(response.json().error).toMatchObject({ code, message: expect.stringContaining(words) });
  });
});

describe('the request id', () => {
  it('every response has a request id, different each time', async () => {
    thrown = new Error(SECRET);
    const urls = [...OPERATIONS.map(({ url }) => url), '/healthz', '/nothing', '/v1/trips', '/throws', '/%'];
    const ids = await Promise.all(urls.map(async (url) => (await app.inject(url)).headers['x-request-id']));
    for (const id of ids) expect(id).toMatch(/^[\da-f]{16}$/);
    expect(new Set(ids).size).toBe(urls.length);
  });

  it("the request id is never the caller's", async () => {
    const response = await app.inject({ url: '/healthz', headers: { 'x-request-id': 'mine', 'request-id': 'mine' } });
    expect(response.headers['x-request-id']).toMatch(/^[\da-f]{16}$/);
  });

  it('the request id of the response is the one in the log', async () => {
    thrown = new Error('find-me-in-the-log');
    const id = (await app.inject('/throws')).headers['x-request-id'];
    const line = logged()
      .split('\n')
      .find((one) => one.includes('find-me-in-the-log'));
    expect(JSON.parse(line ?? '{}').reqId).toBe(id);
  });
});

describe('the log', () => {
  it('the log has a line for every request: method, path, status', async () => {
    await app.inject({ method: 'POST', url: '/v1/trips?from=1' });
    const last = JSON.parse(logged().trim().split('\n').at(-1) ?? '{}');
    expect(last).toMatchObject({ level: 30, method: 'POST', path: '/v1/trips', status: 405, msg: 'answered' });
  });

  it('the log has a line for a URL that cannot be read', async () => {
    const { headers } = await app.inject('/v1/%ff?stop=1');
    const last = JSON.parse(logged().trim().split('\n').at(-1) ?? '{}');
    expect(last).toMatchObject({ reqId: headers['x-request-id'], path: '/v1/%ff', status: 400, msg: 'answered' });
  });

  it('the log contains no query', async () => {
    thrown = new Error('trouble');
    const urls = [
      ...OPERATIONS.map(({ url }) => `${url}&key=live-key-wxyz`),
      ...OPERATIONS.map(({ url }) => `${url.split('?', 1)[0]}?stop=live-key-wxyz&lat=live-key-wxyz`),
      '/nothing?key=live-key-wxyz',
      '/throws?key=live-key-wxyz',
      '/%?key=live-key-wxyz',
      '/sensible/serviceUnavailable?key=live-key-wxyz',
    ];
    for (const url of urls) await app.inject(url);
    await app.inject({ method: 'POST', url: '/v1/trips?key=live-key-wxyz' });
    expect(logged()).toContain('"path":"/v1/departures"');
    expect(logged()).not.toContain('wxyz');
  });

  it('the log contains no request headers', async () => {
    thrown = new Error('trouble');
    for (const url of [OPERATIONS[0].url, '/throws', '/nothing-of-headers']) {
      await app.inject({ url, headers: { authorization: 'Bearer live-key-wxyz', cookie: 'live-key-wxyz' } });
    }
    expect(logged()).toContain('"path":"/nothing-of-headers"');
    expect(logged()).not.toContain('wxyz');
  });
});
