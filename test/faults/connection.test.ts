import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectContract, expectErrorObject } from '#test/contract/expect-contract.ts';
import { endpointOf, GOOD_ANSWERS, OPERATIONS, type Operation } from '#test/contract/operations.ts';
import { NOW } from '#test/contract/payloads.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { type Handler, startUpstream, type TestUpstream } from '#test/support/upstream.ts';

const SECRET = 'upstream-said-this';
/** Short, but enough for a good response on a slow machine. */
const DEADLINE_MS = 500;
/** The beginning of a good response. */
const BEGINNING = `{"version":"${SECRET}","locations":[`;

let upstream: TestUpstream;
let app: TestApp;
/** The current fault of each endpoint. */
const faults = new Map<string, Handler>();

const good: Handler = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(GOOD_ANSWERS.get(endpointOf(request.url)));
};

beforeAll(async () => {
  upstream = await startUpstream((request, response) =>
    (faults.get(endpointOf(request.url)) ?? good)(request, response),
  );
  app = await buildTestApp({ upstream: upstream.url, now: NOW, timeoutMs: DEADLINE_MS });
});

afterAll(async () => {
  await app.close();
  await upstream.close();
});

/** Sends one byte at a time forever, each before the deadline. */
function drip(response: ServerResponse, text: string): void {
  const bytes = Buffer.from(text);
  let sent = 0;
  const timer = setInterval(() => response.write(bytes.subarray(sent % bytes.length, (sent++ % bytes.length) + 1)), 50);
  response.once('close', () => clearInterval(timer));
}

const ERROR = { status: 502, code: 'UPSTREAM_ERROR' };
const TIMEOUT = { status: 504, code: 'UPSTREAM_TIMEOUT' };

const FAULTS: [name: string, fault: Handler, expected: { status: number; code: string; retryAfter?: string }][] = [
  ['a reset before the headers', (request) => request.socket.resetAndDestroy(), ERROR],
  ['a connection closed before the headers', (request) => request.socket.destroy(), ERROR],
  [
    'a reset in the body',
    (request, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write(BEGINNING, () => request.socket.resetAndDestroy());
    },
    ERROR,
  ],
  [
    'a body shorter than it was said to be',
    (_request, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write(BEGINNING, () => response.destroy());
    },
    ERROR,
  ],
  [
    'a body in chunks that ends without the last one',
    (request, response) => {
      response.writeHead(200).write(BEGINNING, () => request.socket.end());
    },
    ERROR,
  ],
  ['something that is not HTTP', (request) => request.socket.end(`SSH-2.0-${SECRET}\r\n`), ERROR],
  [
    'headers without an end',
    (request) => request.socket.end(`HTTP/1.1 200 OK\r\nX-Long: ${SECRET.repeat(20_000)}\r\n\r\n`),
    ERROR,
  ],
  ['silence instead of headers', () => {}, TIMEOUT],
  [
    'silence in the body',
    (_request, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write(BEGINNING);
    },
    TIMEOUT,
  ],
  [
    'a body that comes byte by byte',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      drip(response, BEGINNING);
    },
    TIMEOUT,
  ],
  [
    'headers that come byte by byte',
    (request) => {
      const timer = setInterval(() => request.socket.write('H'), 50);
      request.socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      request.socket.once('close', () => clearInterval(timer));
    },
    TIMEOUT,
  ],
  [
    'a refusal for its rate whose body never ends',
    (_request, response) => {
      response.writeHead(429, { 'retry-after': '7', 'content-length': 1000 }).write(SECRET);
    },
    { status: 503, code: 'UPSTREAM_UNAVAILABLE', retryAfter: '7' },
  ],
];

async function expectWell(operation: Operation): Promise<void> {
  const response = await app.inject(operation.url);
  expect(response.statusCode, operation.name).toBe(200);
  expectContract(response, operation);
}

it.each(FAULTS)(
  'every operation returns our own error after %s, and serves the next response',
  async (_name, fault, expected) => {
    for (const { endpoint } of OPERATIONS) faults.set(endpoint, fault);
    const responses = await Promise.all(OPERATIONS.map(({ url }) => app.inject(url))).finally(() => faults.clear());
    for (const [index, { name }] of OPERATIONS.entries()) {
      const response = responses[index] as (typeof responses)[number];
      expect(response.statusCode, name).toBe(expected.status);
      expectErrorObject(response);
      expect(response.json().error.code, name).toBe(expected.code);
      expect(response.headers['retry-after'], name).toBe(expected.retryAfter);
      expect(response.body, name).not.toMatch(/upstream-said-this|127\.0\.0\.1|ECONN|UND_ERR|socket/);
    }
    for (const operation of OPERATIONS) await expectWell(operation);
  },
);

describe.each(OPERATIONS)('$name', (operation) => {
  it(`the operation ${operation.name} returns our own error while upstream is down, and works when it is back`, async () => {
    const server = createServer((request, response) =>
      good(Object.assign(request, { url: request.url ?? '' }), response),
    );
    const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const stop = () => new Promise((resolve) => server.close(resolve));
    await listen(0);
    const { port } = server.address() as AddressInfo;
    await stop();

    const lonely = await buildTestApp({ upstream: `http://127.0.0.1:${port}/v1/tp`, now: NOW });
    const refused = await lonely.inject(operation.url);
    expect(refused.statusCode).toBe(502);
    expectErrorObject(refused);
    expect(refused.body).not.toContain(String(port));

    await listen(port);
    const response = await lonely.inject(operation.url);
    await lonely.close();
    await stop();
    expect(response.statusCode).toBe(200);
    expectContract(response, operation);
  });
});

describe('more failures at once than there are connections', () => {
  it.each(FAULTS)('the connection pool still works after 20 failures at once, each %s', async (_name, fault) => {
    const [operation] = OPERATIONS;
    faults.set(operation.endpoint, fault);
    const failed = await Promise.all(Array.from({ length: 20 }, () => app.inject(operation.url)));
    faults.clear();
    for (const response of failed) {
      expect(response.statusCode).toBeGreaterThanOrEqual(500);
      expectErrorObject(response);
    }
    await expectWell(operation);
  });
});

describe('a name that does not resolve', () => {
  it('an upstream name that does not resolve is an upstream error, without the name', async () => {
    const lost = await buildTestApp({ upstream: 'http://upstream.invalid/v1/tp', now: NOW });
    const response = await lost.inject(OPERATIONS[0].url);
    await lost.close();
    expect(response.statusCode).toBe(502);
    expectErrorObject(response);
    expect(response.body).not.toContain('invalid');
  });
});

describe('the upstream keys', () => {
  it('an upstream key never appears in a log line or response, however the connection fails', async () => {
    const service = { upstream: upstream.url, upstreamKey: 'key-one-wxyz', timeoutMs: DEADLINE_MS, now: NOW };
    const app = await buildTestApp(service);
    for (const [, fault] of FAULTS) {
      faults.set('trip', fault);
      expect((await app.inject(OPERATIONS[3].url)).body).not.toContain('wxyz');
    }
    faults.clear();
    await app.close();
    expect(app.logged()).toContain('UPSTREAM_TIMEOUT');
    expect(app.logged()).not.toContain('wxyz');
  });
});
