import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Check, createCheck } from './check.ts';
import { exampleUrl, operationOf } from './document.ts';
import { documentedRequests } from './request.ts';
import { type DocumentedService, startDocumentedService } from './service.ts';

const REQUESTS = 1500;
const SEED = 20261121;

let service: DocumentedService;
let check: Check;
beforeAll(async () => {
  service = await startDocumentedService();
  check = createCheck(service.document);
});
afterAll(() => service[Symbol.asyncDispose]());

it(`${REQUESTS} requests generated from the OpenAPI document are answered as documented`, async () => {
  const wrong: string[] = [];
  const statuses = new Set<number>();
  for (const request of documentedRequests(service.document, REQUESTS, SEED)) {
    const response = await service.send(request);
    statuses.add(response.status);
    const problem = check(request, response);
    if (problem) wrong.push(`${problem}: ${JSON.stringify(request)}`);
  }
  expect(wrong).toEqual([]);
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 401, 405]));
});

it.each([
  // All parameters together may match nothing.
  ['all', [200, 404]],
  ['required', [200]],
] as const)('the examples of the OpenAPI document work with %s parameters', async (which, allowed) => {
  const { document } = service;
  for (const path of Object.keys(document.paths)) {
    const url = exampleUrl(document, path, which);
    const { method } = operationOf(document, path);
    const response = await service.sendExample(method, url);
    // Some paths require one of several parameters, and boards not both, which OpenAPI cannot express. The example run
    // is from another day, and the example alert may have ended. `via` and a rider's choices need a timetable.
    const isElsewhere = path.startsWith('/v1/runs/') || path === '/v1/alerts/{alert_id}';
    const isEither = ['/v1/stops', '/v1/boards'].includes(path) || path.startsWith('/v1/vehicles');
    const isRefused = which === 'required' ? isEither : ['/v1/trips', '/v1/boards'].includes(path);
    const either = isRefused ? [400] : isElsewhere ? [404] : allowed;
    expect(either, `${url}: ${response.body}`).toContain(response.status);
    expect(check({ method, path, query: [], headers: [], key: 'valid' }, response)).toBeNull();
  }
});

describe('the check of a response against the document', () => {
  const request = { method: 'GET', path: '/v1/stops/search', query: [], headers: [], key: 'valid' } as const;
  const headers = { 'x-request-id': 'a', 'content-type': 'application/json; charset=utf-8' };
  const error = '{"error":{"code":"INVALID_PARAMETER","message":"a","docs":"https://example.test"}}';
  it.each([
    ['with a 5xx', { status: 500, headers, body: error }, 'a 500'],
    ['with a status that the document does not have', { status: 418, headers, body: error }, 'not documented'],
    ['with a body that the schema forbids', { status: 200, headers, body: '{"stops":[{}]}' }, 'must have'],
    ['with a body that is not JSON', { status: 200, headers, body: '<p>' }, 'not JSON'],
    [
      'with a body of another type',
      { status: 200, headers: { ...headers, 'content-type': 'text/html' }, body: '' },
      'type',
    ],
  ])('the check rejects a response %s', (_name, response, problem) => {
    expect(check({ ...request, query: [], headers: [] }, response)).toContain(problem);
  });

  it('the check rejects a success without a valid key', () => {
    const response = { status: 200, headers, body: '{}' };
    expect(check({ ...request, query: [], headers: [], key: 'none' }, response)).toContain('without a valid key');
  });
});
