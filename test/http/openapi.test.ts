import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_TABLE } from '#src/errors.ts';
import { createVerdicts } from '#src/nearby/verdict.ts';
import { errorsOf, readQuery } from '#src/operation.ts';
import { createOperations } from '#src/operations.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';

const verdicts = createVerdicts(() => new Date());
const OPERATIONS = createOperations({ verdicts, docsUrl: 'https://example.test/docs' }).map(
  (operation) => [operation.path, operation] as const,
);

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into at many depths
let document: any;
let app: TestApp;

beforeAll(async () => {
  app = await buildTestApp({ upstream: 'http://127.0.0.1:1/v1/tp', now: '2026-11-20T02:00:20Z' });
  const answer = await app.inject('/openapi.json');
  expect(answer.statusCode).toBe(200);
  document = answer.json();
});

afterAll(() => app.close());

describe('the OpenAPI description', () => {
  it('is OpenAPI 3.1 without a fault or a warning', async () => {
    const config = await createConfig({ extends: ['recommended-strict'], rules: { 'no-server-example.com': 'off' } });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual(
      [],
    );
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  it('has every operation of the list and nothing else', () => {
    const streams = OPERATIONS.filter(([, { stream }]) => stream).map(([path]) => `${path}/stream`);
    expect(streams).toEqual(['/v1/departures/stream']);
    expect(Object.keys(document.paths).sort()).toEqual([...OPERATIONS.map(([path]) => path), ...streams].sort());
    for (const item of Object.values(document.paths)) expect(Object.keys(item as object)).toEqual(['get']);
  });

  it.each(OPERATIONS)('%s: parameters with their limits, defaults and what is required', (path, operation) => {
    const { parameters } = document.paths[path].get;
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual(Object.keys(operation.query.shape));
    for (const parameter of parameters) {
      expect(parameter.description, `${path} ${parameter.name}`).toBeTruthy();
      expect(parameter.schema.type, `${path} ${parameter.name}`).toBeTruthy();
    }
  });

  it.each([
    ['/v1/departures', 'limit', false, { type: 'integer', minimum: 1, maximum: 50, default: 10 }],
    ['/v1/departures', 'modes', false, { type: 'string', default: 'bus' }],
    ['/v1/departures', 'stop', true, { type: 'string', pattern: '^[Gg]?\\d{1,12}$' }],
    ['/v1/departures', 'date', false, { type: 'string', pattern: '^\\d{8}$' }],
    ['/v1/nearby', 'lat', true, { type: 'number', minimum: -90, maximum: 90 }],
    ['/v1/nearby', 'radius', false, { type: 'integer', minimum: 1, maximum: 2000, default: 500 }],
    ['/v1/stops/search', 'q', true, { type: 'string', minLength: 1 }],
    ['/v1/trips', 'arrive_by', false, { type: 'boolean', default: false }],
    ['/v1/trips', 'limit', false, { type: 'integer', minimum: 1, maximum: 6, default: 5 }],
  ])('%s: %s', (path, name, required, schema) => {
    const found = document.paths[path].get.parameters.find((parameter: { name: string }) => parameter.name === name);
    expect(Boolean(found.required)).toBe(required);
    expect(found.schema).toMatchObject(schema);
  });

  it.each(OPERATIONS)('%s: every error it can meet, with an example and the limits of the plan', (path, operation) => {
    const { responses } = document.paths[path].get;
    for (const code of errorsOf(operation)) {
      const { examples } = responses[ERROR_TABLE[code].status].content['application/json'];
      expect(examples[code].value.error).toMatchObject({ code, docs: `https://example.test/docs/errors/${code}` });
    }
    expect(Object.keys(responses[429].headers)).toContain('Retry-After');
    expect(Object.keys(responses[200].headers)).toContain('RateLimit');
  });

  it('has the stream of departures, with their parameters and errors and its own', () => {
    const [stream, board] = [document.paths['/v1/departures/stream'].get, document.paths['/v1/departures'].get];
    expect(stream.parameters.slice(0, -1)).toEqual(board.parameters);
    expect(stream.parameters.at(-1)).toMatchObject({ name: 'Last-Event-ID', in: 'header', required: false });
    expect(Object.keys(stream.responses)).toEqual(Object.keys(board.responses));
    expect(stream.responses[200].content['text/event-stream'].example).toMatch(
      /^id: .*\nevent: board\ndata: \{.*\n\n$/,
    );
    const { examples } = stream.responses[429].content['application/json'];
    expect(Object.keys(examples).sort()).toEqual(['DAILY_LIMIT_EXCEEDED', 'TOO_MANY_REQUESTS']);
  });

  it.each(OPERATIONS)('%s: the example is a body that the schema allows', (path, operation) => {
    const { example } = document.paths[path].get.responses[200].content['application/json'];
    expect(operation.body.parse(example)).toEqual(example);
    const query = Object.fromEntries(new URLSearchParams(operation.example.query));
    expect(() => readQuery(operation, query)).not.toThrow();
  });

  it('names each schema once, points to existing ones only, and binds nobody to the fields of today', () => {
    const text = JSON.stringify(document);
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => /Input$|__schema/.test(name))).toEqual([]);
    const refs = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '');
    expect([...new Set(refs)].sort()).toEqual([...names].sort());
    expect(text).not.toMatch(/additionalProperties|9007199254740991|\$defs/);
  });

  it('asks for a key as a Bearer token', () => {
    expect(document.security).toEqual([{ apiKey: [] }]);
    expect(document.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' });
  });
});
