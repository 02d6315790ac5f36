import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { ERROR_TABLE } from '#src/errors/api-error.ts';
import { errorsOf, parseQuery } from '#src/operations/operation.ts';
import { MODES } from '#src/transit/mode.ts';
import { departureMonitorResponse, NOW } from '#test/contract/payloads.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { describedOperations } from '#test/support/operations.ts';
import { json, startUpstream } from '#test/support/upstream.ts';

const OPERATIONS = describedOperations().map((operation) => [operation.path, operation] as const);

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into at many depths
let document: any;
let app: TestApp;

beforeAll(async () => {
  app = await buildTestApp({ upstream: 'http://127.0.0.1:1/v1/tp', now: '2026-11-20T02:00:20Z' });
  const response = await app.inject('/openapi.json');
  expect(response.statusCode).toBe(200);
  document = response.json();
});

afterAll(() => app.close());

/** Headers that any HTTP response may have, and CORS headers. */
const OF_HTTP = [
  'date',
  'connection',
  'content-length',
  'content-type',
  'vary',
  'x-content-type-options',
  'access-control-allow-origin',
  'access-control-expose-headers',
];

function parameterOf(path: string, name: string) {
  return document.paths[path].get.parameters.find((parameter: { name: string }) => parameter.name === name);
}

describe('the OpenAPI description', () => {
  it('the OpenAPI description is valid OpenAPI 3.1 without warnings', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual(
      [],
    );
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  it('the OpenAPI description has every operation of the list and nothing else', () => {
    const streams = OPERATIONS.filter(([, { stream }]) => stream).map(([path]) => `${path}/stream`);
    expect(streams).toEqual([
      '/v1/departures/stream',
      '/v1/trips/{journey_id}/stream',
      '/v1/alerts/stream',
      '/v1/runs/{run_id}/stream',
      '/v1/vehicles/stream',
    ]);
    const paths = [...OPERATIONS.map(([path]) => path), ...streams, '/v1/tokens'];
    expect(Object.keys(document.paths).sort()).toEqual(paths.sort());
    for (const [path, item] of Object.entries(document.paths))
      expect(Object.keys(item as object)).toEqual([path === '/v1/tokens' ? 'post' : 'get']);
  });

  it.each(OPERATIONS)(
    'the OpenAPI description of %s has its parameters with limits, defaults and required flags',
    (path, operation) => {
      const { parameters } = document.paths[path].get;
      const queries = parameters.filter((parameter: { in?: string }) => ['query', 'path'].includes(parameter.in ?? ''));
      expect(queries.map(({ name }: { name: string }) => name)).toEqual(Object.keys(operation.query.shape));
      for (const { name, description, schema } of queries) {
        expect(description, `${path} ${name}`).toBeTruthy();
        expect(schema.type, `${path} ${name}`).toBeTruthy();
        expect(schema.default ?? schema.examples?.[0], `${path} ${name}`).toBeDefined();
      }
    },
  );

  it.each([
    ['/v1/departures', 'limit', false, { type: 'integer', minimum: 1, default: 10 }],
    ['/v1/departures', 'modes', false, { type: 'array', items: { enum: ['all', ...MODES] }, default: ['bus'] }],
    ['/v1/departures', 'routes', false, { type: 'array', items: { type: 'string' }, maxItems: 50 }],
    ['/v1/departures', 'stop', true, { type: 'string', pattern: '^([GgVv]?\\d{1,12}|\\d{1,9}[Pp]\\d{1,2})$' }],
    ['/v1/departures', 'date', false, { type: 'string', pattern: '^\\d{8}$|^\\d{4}-\\d\\d-\\d\\d$' }],
    ['/v1/nearby', 'lat', true, { type: 'number', minimum: -90, maximum: 90 }],
    ['/v1/nearby', 'radius', false, { type: 'integer', minimum: 1, default: 500 }],
    ['/v1/stops/search', 'q', true, { type: 'string', minLength: 1, maxLength: 100 }],
    ['/v1/trips', 'arrive_by', false, { type: 'boolean', default: false }],
    ['/v1/trips', 'limit', false, { type: 'integer', minimum: 1, default: 5 }],
  ])('the OpenAPI description of %s has the parameter %s with its schema', (path, name, required, schema) => {
    const found = parameterOf(path, name);
    expect(Boolean(found.required)).toBe(required);
    expect(found.schema).toMatchObject(schema);
  });

  it('the OpenAPI description has no `maximum` for a number that is reduced to a limit, and describes the limit in words', () => {
    for (const [path, name, most] of [
      ['/v1/departures', 'limit', 50],
      ['/v1/nearby', 'limit', 50],
      ['/v1/nearby', 'radius', 2000],
      ['/v1/stops/search', 'limit', 50],
      ['/v1/places/search', 'limit', 50],
      ['/v1/trips', 'limit', 6],
    ] as const) {
      const { schema, description } = parameterOf(path, name);
      expect(schema).not.toHaveProperty('maximum');
      expect(description).toContain(`Values above ${most} count as ${most}.`);
    }
  });

  it('the OpenAPI description has lists as callers write them, separated by commas', () => {
    for (const [path, name] of [
      ['/v1/departures', 'modes'],
      ['/v1/departures', 'routes'],
      ['/v1/nearby', 'modes'],
    ] as const) {
      expect(parameterOf(path, name)).toMatchObject({ style: 'form', explode: false });
    }
  });

  it.each(OPERATIONS)('the OpenAPI description of %s has If-None-Match and the freshness headers', (path) => {
    const { parameters, responses } = document.paths[path].get;
    expect(parameters).toContainEqual({ $ref: '#/components/parameters/If-None-Match' });
    expect(document.components.parameters['If-None-Match']).toMatchObject({ name: 'If-None-Match', in: 'header' });
    for (const status of [200, 304]) {
      expect(Object.keys(responses[status].headers)).toEqual(
        expect.arrayContaining(['ETag', 'Cache-Control', 'Age', 'Cache-Status', 'RateLimit', 'RateLimit-Policy']),
      );
    }
    expect(responses[304]).not.toHaveProperty('content');
    for (const status of [429, 503]) expect(Object.keys(responses[status].headers)).toContain('Retry-After');
  });

  it('the OpenAPI description lists exactly the headers that responses have', async () => {
    const upstream = await startUpstream(json({ ...departureMonitorResponse, stopEvents: [] }));
    const store = openEmbeddedStore(':memory:');
    const service = await buildTestApp({ upstream: upstream.url, now: NOW, store });
    const key = await issueTestKey(store, { plan: 'free' });
    // Some headers need a replaced key sent from a page, or an empty list.
    const { accountId = '', hash = '' } = parseKey(key) ?? {};
    await store.revokeKey(accountId, hash, Date.parse(NOW) + 7 * 86_400_000, Date.parse(NOW));
    const send = (etag: string) =>
      service.inject({
        url: '/v1/departures?stop=200020',
        headers: { authorization: `Bearer ${key}`, 'if-none-match': etag, origin: 'https://www.example.org' },
      });
    const first = await send('"other"');
    for (const response of [first, await send(String(first.headers.etag))]) {
      const { headers } = document.paths['/v1/departures'].get.responses[response.statusCode];
      const described = Object.keys(headers).map((name) => name.toLowerCase());
      expect(
        Object.keys(response.headers)
          .filter((name) => !OF_HTTP.includes(name))
          .toSorted(),
      ).toEqual(described.toSorted());
    }
    await service.close();
    await upstream.close();
  });

  it('the OpenAPI description names modes, occupancy and errors, without hiding globals', () => {
    const { schemas } = document.components;
    expect(schemas.Mode.enum).toEqual(MODES);
    expect(schemas.LegMode.enum).toEqual([...MODES, 'walk']);
    const { mode, occupancy } = schemas.Departure.properties;
    expect(mode.$ref).toBe('#/components/schemas/Mode');
    expect(occupancy.anyOf).toEqual([{ $ref: '#/components/schemas/Occupancy' }, { type: 'null' }]);
    expect(Object.keys(schemas).filter((name) => name in globalThis)).toEqual([]);
  });

  it('the OpenAPI description gives every timestamp the same format and pattern', () => {
    const found: Record<string, unknown>[] = [];
    const collect = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return;
      if ('format' in value && value.format === 'date-time') found.push(value);
      Object.values(value).forEach(collect);
    };
    collect(document.components.schemas);
    expect(found.length).toBeGreaterThan(10);
    for (const schema of found) expect(schema.pattern).toBe('^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$');
  });

  it('the OpenAPI description shows each body as an example of its schema', () => {
    for (const [path, operation] of OPERATIONS) {
      const { $ref } = document.paths[path].get.responses[200].content['application/json'].schema;
      expect(document.components.schemas[$ref.split('/').at(-1)].examples).toEqual([operation.example.body]);
    }
    const { path, routes } = {
      ...document.components.schemas.Leg.properties,
      ...document.components.schemas.NearbyStop.properties,
    };
    expect(path.items).toMatchObject({
      prefixItems: [{ type: 'number' }, { type: 'number' }],
      minItems: 2,
      maxItems: 2,
    });
    expect(routes).toMatchObject({ type: 'array', items: { type: 'string' }, maxItems: 0 });
  });

  it.each([
    ['https://transit.example.org', 'https://transit.example.org'],
    ['http://localhost:3000', '/'],
    ['http://127.0.0.1:3000', '/'],
  ])('the OpenAPI description with the public address %s names the server %s', async (publicUrl, url) => {
    const local = await buildTestApp({ upstream: 'http://127.0.0.1:1/v1/tp', now: NOW, publicUrl });
    expect((await local.inject('/openapi.json')).json().servers).toEqual([{ url }]);
    await local.close();
  });

  it.each(OPERATIONS)('the OpenAPI description of %s has every possible error with an example', (path, operation) => {
    const { responses } = document.paths[path].get;
    for (const code of errorsOf(operation)) {
      const { examples } = responses[ERROR_TABLE[code].status].content['application/json'];
      expect(examples[code].value.error).toMatchObject({ code, docs: `https://example.test/docs/errors/${code}` });
    }
    expect(Object.keys(responses[429].headers)).toContain('Retry-After');
    expect(Object.keys(responses[200].headers)).toContain('RateLimit');
  });

  it('the OpenAPI description has the stream of departures with its parameters and errors', () => {
    const [stream, board] = [document.paths['/v1/departures/stream'].get, document.paths['/v1/departures'].get];
    // A stream sends a board only when it has changed, so it has no use for If-None-Match.
    expect(stream.parameters.slice(0, -1)).toEqual(
      board.parameters.slice(0, -1).filter(({ name }: { name: string }) => name !== 'cursor'),
    );
    expect(stream.parameters.at(-1)).toMatchObject({ name: 'Last-Event-ID', in: 'header', required: false });
    expect(Object.keys(stream.responses)).toEqual(Object.keys(board.responses).filter((status) => status !== '304'));
    expect(stream.responses[200].content['text/event-stream'].example).toMatch(
      /^id: .*\nevent: board\ndata: \{.*\n\n$/,
    );
    const { examples } = stream.responses[429].content['application/json'];
    expect(Object.keys(examples).sort()).toEqual([
      'DAILY_LIMIT_EXCEEDED',
      'TOO_MANY_REQUESTS',
      'VISITOR_LIMIT_EXCEEDED',
    ]);
  });

  it.each(OPERATIONS)('the OpenAPI example of %s is a body that its schema allows', (path, operation) => {
    const { example } = document.paths[path].get.responses[200].content['application/json'];
    expect(operation.body.parse(example)).toEqual(example);
    const query = Object.fromEntries(new URLSearchParams(operation.example.query));
    expect(() => parseQuery(operation, query)).not.toThrow();
  });

  it('the OpenAPI description names each schema once, has no dangling references, and allows further fields', () => {
    const text = JSON.stringify(document);
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => /Input$|__schema/.test(name))).toEqual([]);
    const refs = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '');
    expect([...new Set(refs)].sort()).toEqual([...names].sort());
    expect(text).not.toMatch(/additionalProperties|9007199254740991|\$defs/);
  });

  it('the OpenAPI description requires a key as a Bearer token', () => {
    expect(document.security).toEqual([{ apiKey: [] }]);
    expect(document.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' });
  });
});
