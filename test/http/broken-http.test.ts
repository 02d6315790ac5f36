import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#src/errors/api-error.ts';
import type { TestApp } from '#test/support/app.ts';
import { buildHealthyApp } from '#test/support/healthy-upstream.ts';
import { openConnection, readResponses } from './socket.ts';

let app: TestApp;
let port: number;

let lines: object[] = [];

beforeAll(async () => {
  app = await buildHealthyApp();
  // The service's logger reports broken HTTP.
  app.log.info = (...[line]: unknown[]) => void lines.push(line as object);
  await app.listen({ port: 0, host: '127.0.0.1' });
  port = (app.server.address() as AddressInfo).port;
});

afterAll(() => app.close());

const GOOD = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

async function sendAndRead(text: string) {
  const connection = await openConnection(port);
  connection.write(text);
  const responses = readResponses(await connection.closed);
  connection.socket.destroy();
  return responses;
}

describe('unusual HTTP', () => {
  it.each([
    ['a request without a host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['an unknown expectation', 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n'],
  ])('the server answers %s like any other request', async (_name, text) => {
    const [response] = await sendAndRead(text);
    expect(response?.status).toBe(200);
    expect(JSON.parse(response?.body ?? '')).toMatchObject({ status: 'ok' });
  });
});

it('the server answers OPTIONS * with the methods of the whole server', async () => {
  const [response] = await sendAndRead('OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(response?.status).toBe(204);
  expect(response?.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
});

it.each(['/mcp', '/v1/tokens', '/healthz', '/nowhere'])(
  'a POST to %s that names the type of a body and has none gets the response to an empty body',
  async (path) => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.apiKey}\r\nContent-Type: ${type}\r\nConnection: close\r\n`;
      const [expected, received] = [
        await sendAndRead(`${head}Content-Length: 0\r\n\r\n`),
        await sendAndRead(`${head}\r\n`),
      ];
      expect(received.map(({ status, body }) => [status, body])).toEqual(
        expected.map(({ status, body }) => [status, body]),
      );
      expect(received).toHaveLength(1);
    }
  },
);

describe('invalid HTTP', () => {
  it.each<[string, string, number, ErrorCode?]>([
    ['words', 'hello there\r\n\r\n', 400],
    ['an invalid version', 'GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n', 400],
    ['a header without a colon', 'GET /healthz HTTP/1.1\r\nHost x\r\n\r\n', 400],
    ['a space in the URL', 'GET /health z HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['two lengths', 'GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'a length and chunks',
      'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['words in capitals', 'HELLO THERE\r\n\r\n', 400],
    ['an unknown method', 'FETCH /healthz HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
    ['a wish for a tunnel', 'CONNECT example.test:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
    [
      'headers larger than any we take',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    [
      'a URL larger than any we take',
      `GET /healthz?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
  ])(
    'invalid HTTP (%s) gets an error in the usual shape, and the connection is closed',
    async (_name, text, status, code) => {
      lines = [];
      const [response, ...others] = await sendAndRead(text);
      expect(others).toStrictEqual([]);
      expect(response?.status).toBe(status);
      expect(JSON.parse(response?.body ?? '')).toStrictEqual({
        error: {
          code: code ?? 'INVALID_PARAMETER',
          message: expect.stringMatching(/\S/),
          docs: `https://example.test/docs/errors/${code ?? 'INVALID_PARAMETER'}`,
        },
      });
      expect(response?.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response?.headers.get('connection')).toBe('close');
      const reqId = response?.headers.get('x-request-id');
      expect(reqId).toMatch(/^[\da-f]{16}$/);
      expect(lines).toEqual([{ reqId, status, code: code ?? 'INVALID_PARAMETER' }]);
    },
  );

  it('an unknown method gets an error that names it and the allowed ones', async () => {
    const [response] = await sendAndRead('FETCH /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(response?.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect(JSON.parse(response?.body ?? '').error.message).toContain('FETCH');
  });

  it('invalid HTTP after a valid request does not spoil its response', async () => {
    const connection = await openConnection(port);
    connection.write(GOOD);
    await connection.until(/"ok"\}/);
    connection.write('hello there\r\n\r\n');
    const responses = readResponses(await connection.closed);
    connection.socket.destroy();
    expect(responses.map(({ status }) => status)).toStrictEqual([200, 400]);
  });

  it('invalid HTTP does not affect other connections', async () => {
    const other = await openConnection(port);
    await sendAndRead('hello there\r\n\r\n');
    other.write(GOOD);
    expect(await other.until(/"ok"\}/)).toMatch(/^HTTP\/1\.1 200 /);
    other.socket.destroy();
  });
});

describe('a valid request written by hand', () => {
  it('a valid request is answered when it comes byte by byte', async () => {
    const connection = await openConnection(port);
    connection.socket.setNoDelay(true);
    for (const letter of GOOD) connection.write(letter);
    expect(await connection.until(/"ok"\}/)).toMatch(/^HTTP\/1\.1 200 /);
    connection.socket.destroy();
  });

  it('several requests on one connection are answered in order', async () => {
    const connection = await openConnection(port);
    connection.write(`${GOOD}${GOOD.replace('/healthz', '/nothing')}${GOOD}`);
    const text = await connection.until(/"ok"\}[\s\S]*NOT_FOUND[\s\S]*"ok"\}/);
    connection.socket.destroy();
    expect(readResponses(text).map(({ status }) => status)).toStrictEqual([200, 404, 200]);
  });

  it('a request over HTTP/1.0 is answered without a host', async () => {
    const [response] = await sendAndRead('GET /healthz HTTP/1.0\r\n\r\n');
    expect(response?.status).toBe(200);
  });

  it.each([
    [
      'a POST with a large body',
      `POST /v1/trips HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n${'x'.repeat(3_000_000)}`,
    ],
    [
      'a POST with a body in chunks',
      'POST /v1/trips HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
    ],
    ['a GET with a body', 'GET /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx'],
  ])('a request is answered on the same connection after %s', async (_name, text) => {
    const connection = await openConnection(port);
    connection.write(text);
    await connection.until(/"error"/);
    connection.write(GOOD);
    expect(await connection.until(/"ok"\}/)).toMatch(/^HTTP\/1\.1 4\d\d /);
    connection.socket.destroy();
  });
});
