import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectContract, expectErrorObject } from '#test/contract/expect-contract.ts';
import { OPERATIONS } from '#test/contract/operations.ts';
import { buildHealthyApp } from '#test/support/healthy-upstream.ts';

let app: FastifyInstance;

beforeAll(async () => {
  app = await buildHealthyApp();
});

afterAll(() => app.close());

const ROUTES = [...OPERATIONS.map(({ url }) => url.split('?', 1)[0] as string), '/healthz', '/readyz'];

describe('an unknown path', () => {
  it.each([
    '/',
    '/v1',
    '/v1/',
    '/v1/nothing?key=1',
    '/v2/departures?stop=200020',
    '/v1/departures/200020',
    '/V1/Departures?stop=200020',
    '//v1/departures',
    '/v1//departures',
    '/v1/departures//',
    '/v1/departures%2f',
    '/v1/stopz',
    '/favicon.ico',
    '/__proto__',
    '/constructor',
    `/${'a'.repeat(5000)}`,
    '/%00',
    '/%F0%9F%9A%86',
  ])('the unknown path %s is 404 NOT_FOUND', async (url) => {
    const response = await app.inject(url);
    expect(response.statusCode).toBe(404);
    expectErrorObject(response);
    expect(response.json().error.code).toBe('NOT_FOUND');
    expect(response.headers['x-request-id']).toMatch(/\S/);
  });

  it('a path parameter of any length is refused with our headers and format', async () => {
    const response = await app.inject(`/v1/stops/${'9'.repeat(5000)}`);
    expect(response.statusCode).toBe(400);
    expectErrorObject(response);
    expect(response.headers['x-request-id']).toMatch(/\S/);
  });

  it.each([
    ['/v1/departures/200020', 'Did you mean /v1/departures?'],
    ['/api/v1/Departure', 'Did you mean /v1/departures?'],
    ['/v1/stopz', 'Did you mean /v1/stops?'],
    ['/v1/stop/200070', 'Did you mean /v1/stops/200070?'],
    ['/v1/run/abc?x=1', 'Did you mean /v1/runs/abc?'],
    ['/stop/200070', 'Did you mean /v1/stops/200070?'],
    ['/v1/journeys', '; /docs describes them.'],
    ['/swagger', 'The API has /v1/departures, '],
  ])('the unknown path %s gets a hint: %s', async (url, told) => {
    expect((await app.inject(url)).json().error.message).toContain(told);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)(
    '%s of an unknown path is 404 too',
    async (method) => {
      const response = await app.inject({
        method,
        url: '/v1/nothing',
        body: 'x',
        headers: { 'content-type': 'text/x' },
      });
      expect(response.statusCode).toBe(404);
      expectErrorObject(response);
    },
  );

  it('a 404 repeats the path without its query, up to a limited length', async () => {
    const response = await app.inject(`/v1/${'a'.repeat(1000)}?where=secret`);
    expect(response.json().error.message).not.toContain('secret');
    // The message names the operations and repeats 120 letters of the path.
    expect(response.json().error.message.length).toBeLessThan(500);
    expect(response.json().error.message).not.toContain('a'.repeat(121));
  });
});

describe.each(ROUTES)('%s with another method', (path) => {
  const bodies: [name: string, headers: Record<string, string>, body?: string][] = [
    ['no body', {}],
    ['a JSON body', { 'content-type': 'application/json' }, '{"stop":1}'],
    ['broken JSON', { 'content-type': 'application/json' }, '{'],
    ['an empty body said to be JSON', { 'content-type': 'application/json' }, ''],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'stop=1'],
    ['an unknown content type', { 'content-type': 'application/x-nothing' }, 'x'],
    ['an invalid content type', { 'content-type': ';;;' }, 'x'],
    ['a body larger than any we take', { 'content-type': 'text/plain' }, 'x'.repeat(2_000_000)],
  ];

  describe.each(['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE'])('the method %s', (method) => {
    it.each(bodies)(`${method} ${path} with %s is 405 with Allow`, async (_name, headers, body) => {
      const response = await app.inject({ method: method as 'POST', url: path, headers, ...(body && { body }) });
      expect(response.statusCode).toBe(405);
      expectErrorObject(response);
      expect(response.headers.allow).toBe('GET, HEAD, OPTIONS');
      expect(response.headers['x-request-id']).toMatch(/\S/);
      expect(response.json().error.message).toContain(method);
    });
  });

  it.each([
    ['a trailing slash', `${path}/`],
    ['a query', `${path}?stop=1`],
    ['a trailing slash and a query', `${path}/?stop=1`],
    ['a letter percent-encoded', path.replace('a', '%61')],
  ])(`another method of ${path} is 405 with %s too`, async (_name, url) => {
    const response = await app.inject({ method: 'POST', url });
    expect(response.statusCode).toBe(405);
    expectErrorObject(response);
    expect(response.headers.allow).toBe('GET, HEAD, OPTIONS');
  });
});

describe.each(OPERATIONS)('$name', (operation) => {
  const [path, query] = operation.url.split('?') as [string, string];

  it.each([
    ['a trailing slash', `${path}/?${query}`],
    ['a letter percent-encoded', `${path.replace('a', '%61')}?${query}`],
  ])(`the operation ${operation.name} answers its path with %s`, async (_name, url) => {
    const response = await app.inject(url);
    expect(response.statusCode).toBe(200);
    expectContract(response, operation);
    expect(response.json()).toStrictEqual((await app.inject(operation.url)).json());
  });

  it.each([
    ['the answer', operation.url],
    ['a 400', path],
    ['a 404', `${path}/nothing`],
  ])(`the operation ${operation.name} answers HEAD like GET without the body, for %s`, async (_name, url) => {
    const get = await app.inject({ method: 'GET', url });
    const head = await app.inject({ method: 'HEAD', url });
    expect(head.statusCode).toBe(get.statusCode);
    expect(head.body).toBe('');
    const { 'x-request-id': getId, date: _getDate, ...getHeaders } = get.headers;
    const { 'x-request-id': headId, date: _headDate, ...headHeaders } = head.headers;
    expect(headHeaders).toStrictEqual(getHeaders);
    expect(headId).not.toBe(getId);
  });

  it(`the operation ${operation.name} ignores a body, whatever its type`, async () => {
    const response = await app.inject({
      url: operation.url,
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect(response.statusCode).toBe(200);
  });

  it(`the operation ${operation.name} ignores the Accept header`, async () => {
    const response = await app.inject({ url: operation.url, headers: { accept: 'text/html' } });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  });
});

describe('a malformed URL', () => {
  it.each(['/%', '/v1/%zz', '/v1/departures%', '/%C3%28?stop=1'])('the malformed URL %s is 400', async (url) => {
    const response = await app.inject(url);
    expect(response.statusCode).toBe(400);
    expectErrorObject(response);
    expect(response.json().error.code).toBe('INVALID_PARAMETER');
    expect(response.headers['x-request-id']).toMatch(/\S/);
  });
});
