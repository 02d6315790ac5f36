import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createNetworkLimit } from '#src/http/network-limit.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { openConnection, type RawConnection, readResponses } from './socket.ts';

const NOW = '2026-11-21T10:00:00Z';
const BOARD = '/v1/departures?stop=200070';
const REFUSED = `GET ${BOARD} HTTP/1.1\r\nHost: x\r\n\r\n`;
const LIMIT = { perSecond: 2, burst: 3, holdMs: 1000, maxHeld: 2 };

let app: TestApp;
let connections: RawConnection[];
/** Each function ends the wait of one delayed refusal. */
let held: (() => void)[];

beforeEach(async () => {
  connections = [];
  held = [];
  app = await buildTestApp({
    upstream: () => Promise.reject(new Error('not needed')),
    now: NOW,
    networkLimit: LIMIT,
    sleep: (ms) => new Promise<void>((resolve) => ms === LIMIT.holdMs && held.push(resolve)),
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
});

afterEach(async () => {
  for (const { socket } of connections) socket.destroy();
  await app.close();
});

async function open(): Promise<RawConnection> {
  const connection = await openConnection((app.server.address() as AddressInfo).port);
  connections.push(connection);
  return connection;
}

/** Uses up the refusals that the network may get at once. */
async function useUp(): Promise<RawConnection> {
  const connection = await open();
  for (let sent = 1; sent <= LIMIT.burst; sent++) {
    connection.write(REFUSED);
    await vi.waitFor(() => expect(readResponses(connection.received())).toHaveLength(sent), 60_000);
  }
  return connection;
}

const untilHeld = (count: number) => vi.waitFor(() => expect(held).toHaveLength(count), 60_000);
const answersOf = ({ received }: RawConnection) => readResponses(received());

describe('a client network that keeps being refused', () => {
  it('a network that keeps being refused gets further refusals late but complete, on the same connection', async () => {
    const connection = await useUp();
    connection.write(REFUSED);
    await untilHeld(1);
    expect(answersOf(connection)).toHaveLength(LIMIT.burst);
    held[0]?.();
    await vi.waitFor(() => expect(answersOf(connection)).toHaveLength(LIMIT.burst + 1), 60_000);
    expect(answersOf(connection).map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(JSON.parse(answersOf(connection).at(-1)?.body ?? '').error.code).toBe('UNAUTHORIZED');
    expect(answersOf(connection).at(-1)?.headers.get('connection')).toBeNull();
  });

  it('a network that kept being refused gets immediate responses again after a pause', async () => {
    const connection = await useUp();
    app.clock.now = new Date(app.clock.now.getTime() + 1000);
    connection.write(REFUSED);
    await vi.waitFor(() => expect(answersOf(connection)).toHaveLength(LIMIT.burst + 1), 60_000);
  });

  it('a network that keeps being refused loses connections whose refusals cannot be delayed', async () => {
    const first = await useUp();
    first.write(REFUSED);
    const [second, third] = [await open(), await open()];
    second.write(REFUSED);
    await untilHeld(2);
    third.write(REFUSED);
    const [response] = readResponses(await third.closed);
    expect(response?.status).toBe(401);
    expect(response?.headers.get('connection')).toBe('close');
  });

  it('a network that keeps being refused has at most one delayed refusal per connection', async () => {
    const connection = await useUp();
    connection.write(REFUSED.repeat(10));
    await untilHeld(1);
    held[0]?.();
    const responses = readResponses(await connection.closed);
    expect(responses.length).toBeGreaterThan(LIMIT.burst);
    expect(responses.at(-1)?.headers.get('connection')).toBe('close');
    expect(held).toHaveLength(1);
  });

  it('a network that keeps being refused gets normal responses to requests that are not refused', async () => {
    await useUp();
    const [healthy, authorized] = [await open(), await open()];
    healthy.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await healthy.until(/"ok"\}/);
    // Admitted, but invalid.
    authorized.write(
      REFUSED.replace('?stop=200070', '').replace('Host', `Authorization: Bearer ${app.apiKey}\r\nHost`),
    );
    expect(await authorized.until(/"error"/)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('delayed refusals do not hold up the close of the service', async () => {
    const connection = await useUp();
    connection.write(REFUSED);
    await untilHeld(1);
    const closed = app.close();
    await vi.waitFor(() => expect(answersOf(connection)).toHaveLength(LIMIT.burst + 1), 60_000);
    await closed;
  });

  it('the more refusals of a network are delayed, the longer each one waits', async () => {
    const waits: number[] = [];
    const limit = createNetworkLimit(
      { ...LIMIT, burst: 1, maxHeld: 250 },
      { now: () => app.clock.now.getTime(), sleep: async (ms) => waits.push(ms) },
    );
    const refuse = () => limit.refuse({ ip: '192.0.2.9', raw: { socket: {} } } as never, {} as never, () => {});
    for (let count = 0; count < 251; count++) refuse();
    expect([waits[0], waits[99], waits[100], waits[249]]).toEqual([1000, 1000, 2000, 3000]);
  });

  it('a network that keeps being refused does not slow down another network', async () => {
    await useUp();
    const response = await app.inject({ url: BOARD, headers: { authorization: '' }, remoteAddress: '192.0.2.7' });
    expect(response.statusCode).toBe(401);
  });
});
