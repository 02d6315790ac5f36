import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseFeed } from '#src/realtime/feed/feed-reader.ts';
import { FailedPoll, FeedClient } from '#src/realtime/polling/feed-client.ts';
import { encodeFeed } from '../feed-bytes.ts';

const KEY = 'secret-key';
const FEED = encodeFeed({ timestamp: 1_768_357_645, trips: [{ tripId: 'run 1' }] });

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

let answer: Reply;
let sent: IncomingMessage[] = [];
let client: FeedClient;
let patient: FeedClient;
const server = createServer((request, response) => {
  sent.push(request);
  answer(request, response);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { url, apiKeys: [KEY], callForFeed: <T>(call: (key: number) => Promise<T>) => call(0) };
  client = new FeedClient({ ...options, timeoutMs: 300, now: Date.now });
  patient = new FeedClient({ ...options, timeoutMs: 10_000, now: Date.now });
});
beforeEach(() => {
  sent = [];
});
afterAll(async () => {
  await client.close();
  await patient.close();
  server.closeAllConnections();
  server.close();
});

const send =
  (status: number, body: Buffer | string, headers = {}): Reply =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
  };

/** The error of the poll as it is logged. */
async function failureOf(reply: Reply, sending = client): Promise<FailedPoll> {
  answer = reply;
  return sending.fetch('buses').then(
    () => expect.unreachable('the poll succeeded'),
    (error: FailedPoll) => error,
  );
}

describe('polling a feed', () => {
  it('a poll requests the path of the feed with the upstream key and reads a compressed body', async () => {
    answer = send(200, gzipSync(FEED), { 'content-encoding': 'gzip', 'content-type': 'application/x-protobuf' });
    expect(parseFeed(await client.fetch('sydneytrains'))).toEqual(parseFeed(FEED));
    expect(sent[0]?.url).toBe('/v2/gtfs/realtime/sydneytrains');
    expect(sent[0]?.headers).toMatchObject({ authorization: `apikey ${KEY}`, 'accept-encoding': 'gzip' });
  });

  it.each<[failure: string, what: string, reply: Reply]>([
    ['not 200', 'status 503', send(503, 'busy')],
    ['not 200', 'a redirect', send(302, '', { location: '/elsewhere' })],
    ['not 200', 'an error that repeats our key', send(401, `wrong key ${KEY}`)],
    ['a web page', 'HTML by its type', send(200, 'x', { 'content-type': 'text/html' })],
    ['a web page', 'HTML by its first byte', send(200, '<!doctype html>')],
    ['undecodable', 'a compressed body that is broken', send(200, FEED, { 'content-encoding': 'gzip' })],
    [
      'undecodable',
      'a small body that unpacks to 200 MB',
      send(200, gzipSync(Buffer.alloc(200e6)), { 'content-encoding': 'gzip' }),
    ],
    ['no response', 'silence', () => {}],
    ['no response', 'a lost connection', (request) => request.destroy()],
    ['no response', 'a body that stops', (_, response) => void response.write('x')],
  ])('a failed poll is reported as "%s": %s', async (failure, _, reply) => {
    const error = await failureOf(reply);
    expect(error).toBeInstanceOf(FailedPoll);
    expect(error.failure).toBe(failure);
    expect(error.message).not.toContain(KEY);
  });

  it('a poll aborts an endless body', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 1);
    const error = await failureOf((_, response) => {
      const pour = (): unknown => (response.destroyed ? null : response.write(megabyte) ? setImmediate(pour) : null);
      response.on('drain', pour);
      pour();
    }, patient);
    expect(error).toMatchObject({ failure: 'undecodable', message: expect.stringContaining('larger than') });
  });
});
