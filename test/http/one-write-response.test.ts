import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
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
