import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OneWriteResponse } from '#src/http/connection/one-write-response.ts';

const BODY_BYTES = 12_000;
/** More responses than any system stores for a client that does not read. */
const MAX_UNREAD = 20_000;

/** Each path is answered with its own name, repeated. */
const bodyOf = (name: string) => Buffer.from(name.padStart(6, '.').repeat(BODY_BYTES / 6));

async function startServer({ maxDelayMs = 0 } = {}): Promise<Server> {
  const server = createServer({ ServerResponse: OneWriteResponse }, async (request, response) => {
    const name = (request.url ?? '').slice(1);
    if (maxDelayMs > 0) await sleep(Math.random() * maxDelayMs);
    response.writeHead(200, { 'content-length': BODY_BYTES, 'x-name': name }).end(bodyOf(name));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return server;
}

const connectTo = (server: Server) => connect((server.address() as AddressInfo).port, '127.0.0.1');

const get = (name: string, connection: 'keep-alive' | 'close' = 'keep-alive') =>
  `GET /${name} HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`;

/** Reads all responses and checks that they come in order, each with its own headers and body. */
async function expectWhole(socket: Socket, names: readonly string[]): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const all = Buffer.concat(chunks);
  let at = 0;
  for (const name of names) {
    const end = all.indexOf('\r\n\r\n', at) + 4;
    expect(all.toString('latin1', at, end)).toContain(`x-name: ${name}\r\n`);
    expect(all.subarray(end, end + BODY_BYTES).equals(bodyOf(name))).toBe(true);
    at = end + BODY_BYTES;
  }
  expect(at).toBe(all.length);
}

it('a response that a slow client has not read yet stays as it is while others are answered', async () => {
  const server = await startServer();
  const slow = connectTo(server);
  const [peer] = (await once(server, 'connection')) as [Socket];
  const names: string[] = [];
  while (peer.writableLength === 0 && names.length < MAX_UNREAD) {
    const name = `s${names.length}`;
    names.push(name);
    const arrived = once(server, 'request');
    slow.write(get(name));
    await arrived;
  }
  expect(peer.writableLength).toBeGreaterThan(0);
  const other = connectTo(server);
  const otherNames = Array.from({ length: 50 }, (_, index) => `o${index}`);
  other.write(
    otherNames
      .slice(1)
      .map((name) => get(name))
      .join('') + get('o0', 'close'),
  );
  await expectWhole(other, [...otherNames.slice(1), 'o0']);
  slow.write(get('last', 'close'));
  await expectWhole(slow, [...names, 'last']);
});

it('pipelined responses that are ready in another order leave whole and in order', async () => {
  const server = await startServer({ maxDelayMs: 20 });
  const names = Array.from({ length: 100 }, (_, index) => `p${index}`);
  const requests = [...names.map((name) => get(name)), get('last', 'close')].join('');
  const sockets = [1, 2, 3].map(() => connectTo(server));
  for (const socket of sockets) socket.write(requests);
  await Promise.all(sockets.map((socket) => expectWhole(socket, [...names, 'last'])));
});

describe('the headers of a response', () => {
  /** The response to a request, or the error of writing its headers. */
  async function answerWith(headers: OutgoingHttpHeaders, status = 200): Promise<string> {
    const server = createServer({ ServerResponse: OneWriteResponse }, (_request, response) => {
      try {
        response.writeHead(status, headers).end(Buffer.from('ok'));
      } catch (error) {
        response.socket?.end((error as Error).message);
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const socket = connectTo(server);
    socket.write(get('x'));
    const [bytes] = await once(socket, 'data');
    socket.destroy();
    return bytes.toString('latin1');
  }

  it.each([
    ['a\r\nset-cookie: b', 'Invalid character in header content'],
    ['a\nb', 'Invalid character in header content'],
    ['\u0101', 'Invalid character in header content'],
  ])('the header value %j cannot begin another header', async (value, message) => {
    expect(await answerWith({ 'content-length': 2, 'x-name': value })).toContain(message);
  });

  it('a header name that is no token is refused', async () => {
    expect(await answerWith({ 'content-length': 2, 'x name': 'a' })).toContain('must be a valid HTTP token');
  });

  it('the headers of a response are those that were set, in Latin-1, followed by the time', async () => {
    const response = await answerWith({ 'content-length': '2', 'x-name': 'caf\xe9', age: '0' });
    const [, date = ''] = /\r\nDate: (.*)\r\n\r\nok$/.exec(response) ?? [];
    expect(response.startsWith('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-name: caf\xe9\r\nage: 0\r\nDate: ')).toBe(
      true,
    );
    expect(Math.abs(Date.now() - Date.parse(date))).toBeLessThan(60_000);
  });

  it('a response that says so closes its connection, several values of one header stay apart, and other statuses and unknown lengths are written', async () => {
    expect(await answerWith({ 'content-length': 2, connection: 'close' })).toMatch(/\r\nconnection: close\r\n/);
    const two = await answerWith({ 'content-length': 2, 'set-cookie': ['a=1', 'b=2'] });
    expect(two).toMatch(/set-cookie: a=1\r\nset-cookie: b=2/);
    expect(await answerWith({ 'content-length': 2 }, 404)).toMatch(/^HTTP\/1.1 404 Not Found\r\n/);
    expect(await answerWith({ 'x-name': 'a' })).toMatch(/Transfer-Encoding: chunked\r\n/);
  });
});
