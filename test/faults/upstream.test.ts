import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import nock from 'nock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectContract, expectErrorObject } from '#test/contract/expect-contract.ts';
import { GOOD_ANSWERS, OPERATIONS, type Operation } from '#test/contract/operations.ts';
import { NOW } from '#test/contract/payloads.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';

const ORIGIN = 'https://upstream.test';
const UPSTREAM_URL = `${ORIGIN}/v1/tp`;
/** A text in every bad response. It must not reach a caller. */
const SECRET = 'upstream-said-this';
const JSON_HEADERS = { 'content-type': 'application/json' };
const TOO_LARGE = 6_000_001;
const GZIP_BOMB = gzipSync(Buffer.alloc(TOO_LARGE, ' '));

/** A list that any endpoint could send. */
const manyRecords = (record: string) => `{"locations":[${Array(1_400_000).fill(record).join()}]}`;

interface Reply {
  status?: number;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

let app: TestApp;

beforeAll(async () => {
  nock.disableNetConnect();
  app = await buildTestApp({
    upstream: UPSTREAM_URL,
    now: NOW,
    upstreamKey: 'the-secret-key',
  });
});

afterEach(() => nock.cleanAll());

afterAll(async () => {
  await app.close();
  nock.enableNetConnect();
  nock.restore();
});

/** Makes upstream answer that endpoint once with this reply. */
function answerOnce(endpoint: string, { status = 200, body = '', headers = {} }: Reply): void {
  nock(ORIGIN)
    .get(`/v1/tp/${endpoint}`)
    .query(true)
    .reply(status, typeof body === 'string' ? Buffer.from(body) : body, headers);
}

/** Makes upstream answer well from now on. */
function answerWell(): void {
  for (const [endpoint, answer] of GOOD_ANSWERS) {
    nock(ORIGIN).get(`/v1/tp/${endpoint}`).query(true).times(20).reply(200, answer, JSON_HEADERS);
  }
}

/** Expects our error for the reply, and a good response afterwards. */
async function expectFailure(
  operation: Operation,
  reply: Reply,
  expected: { status: number; code: string; retryAfter?: string },
) {
  answerOnce(operation.endpoint, reply);
  answerWell();
  const response = await app.inject(operation.url);
  expect(response.statusCode).toBe(expected.status);
  expectErrorObject(response);
  expect(response.json().error.code).toBe(expected.code);
  expect(response.headers['retry-after']).toBe(expected.retryAfter);
  expect(JSON.stringify(response.headers) + response.body).not.toMatch(/upstream-said-this|secret|ErrorDetails/i);

  const next = await app.inject(operation.url);
  expect(next.statusCode).toBe(200);
  expectContract(next, operation);
}

const UPSTREAM_ERROR = { status: 502, code: 'UPSTREAM_ERROR' };
const unavailable = (retryAfter: string) => ({ status: 503, code: 'UPSTREAM_UNAVAILABLE', retryAfter });

const unauthenticated = JSON.stringify({
  ErrorDetails: {
    TransactionId: '00000166e5649f43-1b648765',
    ErrorDateTime: '2026-04-14T22:25:56.881-07:00',
    Message: `The calling application is unauthenticated. ${SECRET}`,
    RequestedUrl: '/v1/tp/trip',
    RequestMethod: 'GET',
  },
});
const overRate = JSON.stringify({ code: 403, message: `Account over rate limit ${SECRET}` });
const overQuota = JSON.stringify({ code: 403, message: `Account over quota limit ${SECRET}` });

/** An error of the gateway in front of upstream. */
const SOAP_FAULT = `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" soapenv:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/">
    <soapenv:Body>
        <soapenv:Fault>
            <faultcode>soapenv:Server</faultcode>
            <faultstring>Policy Falsified</faultstring>
            <faultactor>https://upstream.test/v1/tp/trip?name_origin=${SECRET}</faultactor>
            <detail><l7:policyResult status="Error in Assertion Processing" xmlns:l7="http://www.layer7tech.com/ws/policy/fault"/></detail>
        </soapenv:Fault>
    </soapenv:Body>
</soapenv:Envelope>`;

/** Upstream's responses, and the error that a caller gets. */
const FAILURES: [name: string, reply: Reply, expected: Parameters<typeof expectFailure>[2]][] = [
  ['401, our key refused', { status: 401, body: unauthenticated }, UPSTREAM_ERROR],
  ['403 without a reason, our key refused', { status: 403, body: `{"message":"Forbidden ${SECRET}"}` }, UPSTREAM_ERROR],
  ['403 with an empty body', { status: 403 }, UPSTREAM_ERROR],
  [
    '403 over its rate, told by the header',
    { status: 403, body: SECRET, headers: { 'X-Error-Detail': 'Account Over Rate Limit' } },
    unavailable('3'),
  ],
  ['403 over its rate, by its body', { status: 403, body: overRate }, unavailable('3')],
  [
    '403 over its quota, told by the header',
    { status: 403, body: SECRET, headers: { 'X-Error-Detail': 'Account Over Quota Limit' } },
    unavailable('60'),
  ],
  ['403 over its quota, by its body', { status: 403, body: overQuota }, unavailable('60')],
  [
    '403 over its rate that says for how long',
    { status: 403, body: overRate, headers: { 'retry-after': '2' } },
    unavailable('2'),
  ],
  ['429 without Retry-After', { status: 429, body: SECRET }, unavailable('3')],
  ['429 with seconds', { status: 429, headers: { 'retry-after': '17' } }, unavailable('17')],
  ['429 with a date', { status: 429, headers: { 'retry-after': 'Wed, 15 Apr 2026 06:24:30 GMT' } }, unavailable('30')],
  [
    '429 with a date gone by',
    { status: 429, headers: { 'retry-after': 'Wed, 15 Apr 2026 06:20:00 GMT' } },
    unavailable('1'),
  ],
  ['429 with an invalid Retry-After', { status: 429, headers: { 'retry-after': SECRET } }, unavailable('3')],
  [
    '429 whose body cannot be unpacked',
    { status: 429, body: SECRET, headers: { 'content-encoding': 'gzip', 'retry-after': '9' } },
    unavailable('9'),
  ],
  [
    '403 over its rate, told by the header, whose body cannot be unpacked',
    { status: 403, body: SECRET, headers: { 'content-encoding': 'gzip', 'X-Error-Detail': 'Account Over Rate Limit' } },
    unavailable('3'),
  ],
  [
    '429 with more seconds than a day has',
    { status: 429, headers: { 'retry-after': '99999999999' } },
    unavailable('60'),
  ],
  [
    '429 with a date far off',
    { status: 429, headers: { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' } },
    unavailable('60'),
  ],
  ['429 with no seconds at all', { status: 429, headers: { 'retry-after': '0' } }, unavailable('1')],
  ['404', { status: 404, body: `{"code":404,"message":"${SECRET}"}` }, UPSTREAM_ERROR],
  ['500', { status: 500, body: unauthenticated }, UPSTREAM_ERROR],
  ['503', { status: 503, body: `<h1>${SECRET}</h1>`, headers: { 'retry-after': '120' } }, UPSTREAM_ERROR],
  ['500 with a SOAP fault', { status: 500, body: SOAP_FAULT, headers: { 'content-type': 'text/xml' } }, UPSTREAM_ERROR],
  ['200 with a SOAP fault', { body: SOAP_FAULT, headers: { 'content-type': 'text/xml' } }, UPSTREAM_ERROR],
  ['204 without a body', { status: 204 }, UPSTREAM_ERROR],
  ['a redirect', { status: 302, headers: { location: `https://${SECRET}.test/` } }, UPSTREAM_ERROR],
  [
    '200 with a page in HTML',
    { body: `<html><title>${SECRET}</title></html>`, headers: { 'content-type': 'text/html' } },
    UPSTREAM_ERROR,
  ],
  ['200 with truncated JSON', { body: `{"version":"10.6.21.17","locations":[{"name":"${SECRET}"` }, UPSTREAM_ERROR],
  ['200 with an empty body', { body: '' }, UPSTREAM_ERROR],
  ['200 with an empty body said to be gzip', { body: '', headers: { 'content-encoding': 'gzip' } }, UPSTREAM_ERROR],
  ['a list', { body: `["${SECRET}"]` }, UPSTREAM_ERROR],
  ['a string', { body: `"${SECRET}"` }, UPSTREAM_ERROR],
  ['a number', { body: '42' }, UPSTREAM_ERROR],
  ['null', { body: 'null' }, UPSTREAM_ERROR],
  ['an empty object', { body: '{}' }, UPSTREAM_ERROR],
  ['an object of another shape', { body: `{"foo":1,"${SECRET}":2}` }, UPSTREAM_ERROR],
  [
    'an object whose prototype has the right keys',
    { body: '{"__proto__":{"version":"1","locations":[],"journeys":[],"stopEvents":[]}}' },
    UPSTREAM_ERROR,
  ],
  [
    'an error object instead of records',
    { body: `{"version":"10.6.21.17","error":{"message":"${SECRET}","versions":{"controller":"10.6.21.17"}}}` },
    UPSTREAM_ERROR,
  ],
  ['records that are none', { body: '{"locations":[1],"stopEvents":["x"],"journeys":[null]}' }, UPSTREAM_ERROR],
  ['bytes that are not text', { body: Buffer.from([0xff, 0xfe, 0x00, 0xc3]) }, UPSTREAM_ERROR],
  ['more than 6 MB', { body: `{"version":"${'x'.repeat(TOO_LARGE)}"}` }, UPSTREAM_ERROR],
  ['lists nested millions of times', { body: `{"journeys":${'['.repeat(5_900_000)}` }, UPSTREAM_ERROR],
  ['1.4 million tiny records', { body: manyRecords('{}') }, UPSTREAM_ERROR],
  ['1.4 million tiny values in a record', { body: manyRecords('0').replace(':[', ':[[') }, UPSTREAM_ERROR],
  [
    'a few bytes that unpack to more than 6 MB',
    { body: GZIP_BOMB, headers: { 'content-encoding': 'gzip' } },
    UPSTREAM_ERROR,
  ],
  ['invalid gzip', { body: SECRET, headers: { 'content-encoding': 'gzip' } }, UPSTREAM_ERROR],
  [
    'gzip that ends too early',
    { body: gzipSync('{"version":"10"}').subarray(0, 20), headers: { 'content-encoding': 'gzip' } },
    UPSTREAM_ERROR,
  ],
  [
    'an unknown content-encoding',
    { body: '{"version":"10"}', headers: { 'content-encoding': SECRET } },
    UPSTREAM_ERROR,
  ],
  [
    'a content-encoding that every object knows',
    { body: '{"version":"10","locations":[]}', headers: { 'content-encoding': 'constructor' } },
    UPSTREAM_ERROR,
  ],
];

describe.each(OPERATIONS)('$name', (operation) => {
  it.each(FAILURES)(
    `the operation ${operation.name} reports %s as our own error, and serves the next response`,
    async (_name, reply, expected) => {
      await expectFailure(operation, reply, expected);
    },
  );

  const good = JSON.stringify(operation.response);
  it.each<[string, Reply]>([
    ['plain', { body: good }],
    ['gzip', { body: gzipSync(good), headers: { 'content-encoding': 'gzip' } }],
    ['gzip in capitals', { body: gzipSync(good), headers: { 'content-encoding': 'GZIP' } }],
    ['br', { body: brotliCompressSync(good), headers: { 'content-encoding': 'br' } }],
    ['deflate', { body: deflateSync(good), headers: { 'content-encoding': 'deflate' } }],
    ['said to be of another type', { body: good, headers: { 'content-type': 'text/html' } }],
    ['with a byte order mark', { body: `\ufeff${good}` }],
  ])(`the operation ${operation.name} reads a valid response that is %s`, async (_name, reply) => {
    answerOnce(operation.endpoint, reply);
    answerWell();
    const response = await app.inject(operation.url);
    expect(response.statusCode).toBe(200);
    expectContract(response, operation);
  });
});

describe('our upstream key', () => {
  const url = OPERATIONS[2].url;

  async function withKey(upstreamKey: string, use: (service: TestApp) => Promise<void>) {
    const service = await buildTestApp({ upstream: UPSTREAM_URL, upstreamKey, timeoutMs: 300, now: NOW });
    await use(service).finally(() => service.close());
  }

  /** Collects the Authorization headers of the searches from now on. */
  function recordKeys(): string[] {
    const sent: string[] = [];
    nock(ORIGIN)
      .get('/v1/tp/stop_finder')
      .query(true)
      .times(20)
      .reply((request: Request) => {
        sent.push(String(request.headers.get('authorization')));
        return [200, GOOD_ANSWERS.get('stop_finder'), JSON_HEADERS];
      });
    return sent;
  }

  it('our upstream key is sent as "apikey KEY" in the Authorization header', async () => {
    const sent = recordKeys();
    await withKey('key-one', async (app) => {
      await app.inject(url);
      expect(sent).toStrictEqual(['apikey key-one']);
    });
  });

  it('our upstream key is not taken from the caller’s own Authorization header', async () => {
    const sent = recordKeys();
    await withKey('key-one', async (app) => {
      await app.inject({ url, headers: { authorization: `Bearer ${app.apiKey}` } });
      expect(sent).toStrictEqual(['apikey key-one']);
    });
  });

  it('our upstream key never appears in a log line or a response, whatever fails', async () => {
    await withKey('key-one-wxyz', async (app) => {
      for (const [, reply] of FAILURES) {
        answerOnce('stop_finder', reply);
        expect((await app.inject(url)).body).not.toContain('wxyz');
      }
      expect(app.logged()).toContain('UPSTREAM_ERROR');
      expect(app.logged()).not.toContain('wxyz');
    });
  });

  const echo = 'no such application: apikey key-one-wxyz';
  it.each<[string, Reply]>([
    ['the body of a refusal', { status: 403, body: JSON.stringify({ message: echo }) }],
    ['the headers of a refusal', { status: 403, headers: { 'x-error-detail': echo } }],
    ['a page in HTML', { status: 200, body: `<p>${echo}</p>` }],
    ['a short text', { status: 200, body: 'key-one-wxyz' }],
  ])('our upstream key never appears even if upstream repeats it in %s', async (_name, reply) => {
    await withKey('key-one-wxyz', async (app) => {
      answerOnce('stop_finder', reply);
      const response = await app.inject(url);
      expect(response.statusCode).toBe(502);
      expect(JSON.stringify(response.headers) + response.body).not.toContain('wxyz');
      expect(app.logged()).toContain('UPSTREAM_ERROR');
      expect(app.logged()).not.toContain('wxyz');
    });
  });

  it.each([
    ['a SOAP fault', SOAP_FAULT, 'Policy Falsified'],
    ['a page in HTML', '<html><head><title>Down for <b>maintenance</b></title></head></html>', 'Down for maintenance'],
  ])('the log has the text of %s, without its markup', async (_name, body, says) => {
    await withKey('key-one-wxyz', async (app) => {
      for (const status of [200, 500]) {
        answerOnce('stop_finder', { status, body });
        expect((await app.inject(url)).statusCode).toBe(502);
      }
      const lines = app.logged().split('\n');
      expect(lines.filter((line) => line.includes(says))).toHaveLength(2);
      expect(app.logged()).not.toContain('name_origin');
      expect(app.logged()).not.toContain('<');
    });
  });

  it('the log has the rest of upstream’s message for the operator', async () => {
    await withKey('key-one-wxyz', async (app) => {
      answerOnce('stop_finder', { status: 403, body: JSON.stringify({ message: echo }) });
      await app.inject(url);
      expect(app.logged()).toContain('no such application');
    });
  });
});

describe('nearby without departures of its stops', () => {
  it.each(FAILURES)('nearby returns its stops after %s', async (_name, reply) => {
    app.clock.now = new Date(app.clock.now.getTime() + 25 * 60 * 60_000);
    for (let count = 0; count < 10; count++) answerOnce('departure_mon', reply);
    answerWell();
    const response = await app.inject(OPERATIONS[1].url);
    expect(response.statusCode).toBe(200);
    expectContract(response, OPERATIONS[1]);
    expect(response.json().stops).toHaveLength(2);
    app.clock.now = new Date(NOW);
  });
});
