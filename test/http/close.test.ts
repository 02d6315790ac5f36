import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildHealthyApp } from '#test/support/healthy-upstream.ts';
import { openConnection, type RawConnection, readResponses } from './socket.ts';

let app: FastifyInstance;
let port: number;
let connections: RawConnection[];
/** The server's ends of the connections. */
let accepted: Socket[];
/** Lets the temporary route respond. */
let finish: () => void;
/** Resolves when a request has reached that route. */
let reached: Promise<void>;

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

beforeEach(async () => {
  connections = [];
  accepted = [];
  app = await buildHealthyApp();
  const finished = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  finish = finished.resolve;
  reached = started.promise;
  app.get('/slow', async () => {
    started.resolve();
    await finished.promise;
    return { status: 'slow' };
  });
  app.get('/fails', async () => {
    started.resolve();
    await finished.promise;
    throw new Error('trouble');
  });
  app.server.on('connection', (socket: Socket) => accepted.push(socket));
  await app.listen({ port: 0, host: '127.0.0.1' });
  port = (app.server.address() as AddressInfo).port;
});

afterEach(async () => {
  finish();
  for (const { socket } of connections) socket.destroy();
  await app.close();
});

/** Expects that the stop is complete: the server does not listen, and no connection is open on its side. */
function expectAllClosed(): void {
  expect(app.server.listening).toBe(false);
  expect(accepted.filter(({ destroyed }) => !destroyed)).toEqual([]);
}

async function open(): Promise<RawConnection> {
  const connection = await openConnection(port);
  connections.push(connection);
  return connection;
}

/** Waits until new connections are refused, which is so from the beginning of the close. */
async function untilRefused(): Promise<void> {
  await vi.waitFor(async () => {
    await expect(openConnection(port).then(({ socket }) => socket.destroy())).rejects.toThrow(/ECONNREFUSED/);
  }, 60_000);
}

describe('a clean stop', () => {
  it.each([
    ['/slow', 200],
    ['/fails', 500],
  ])(
    'a clean stop finishes the request in flight (%s, status %d) and reports that the connection closes',
    async (path, status) => {
      const connection = await open();
      connection.write(GET(path));
      await reached;
      const closing = app.close();
      await untilRefused();
      finish();
      await closing;
      const [response] = readResponses(await connection.closed);
      expect(response?.status).toBe(status);
      expect(response?.headers.get('connection')).toBe('close');
      expect(JSON.parse(response?.body ?? '')).toHaveProperty(status === 200 ? 'status' : 'error');
    },
  );

  it('responses do not announce a close before a clean stop begins', async () => {
    const connection = await open();
    connection.write(GET('/healthz'));
    expect(await connection.until(/"ok"\}/)).not.toMatch(/connection: close/i);
  });

  it('an idle keep-alive connection does not hold up a clean stop', async () => {
    const connection = await open();
    connection.write(GET('/healthz'));
    await connection.until(/"ok"\}/);
    await app.close();
    expectAllClosed();
    expect(readResponses(await connection.closed).map(({ status }) => status)).toEqual([200]);
  });

  it('a clean stop answers one last request on an open connection, and reports that it is the last', async () => {
    const connection = await open();
    connection.write(GET('/healthz'));
    await connection.until(/"ok"\}/);
    const closing = app.close();
    await vi.waitFor(() => expect(app.server.listening).toBe(true), 60_000);
    connection.write(GET('/healthz'));
    const responses = readResponses(await connection.closed);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(responses.at(-1)?.headers.get('connection')).toBe('close');
    await closing;
  });

  it('a connection that becomes idle during a clean stop does not hold it up', async () => {
    const connection = await open();
    connection.write(GET('/healthz'));
    await connection.until(/"ok"\}/);
    connection.write(GET('/slow'));
    await reached;
    const closing = app.close();
    await untilRefused();
    finish();
    await closing;
    expectAllClosed();
    const responses = readResponses(await connection.closed);
    expect(responses.map(({ headers }) => headers.get('connection'))).toEqual([null, 'close']);
  });

  it('a connection that never sent anything does not hold up a clean stop', async () => {
    const connection = await open();
    await vi.waitFor(() => expect(accepted).toHaveLength(1), 60_000);
    await app.close();
    expectAllClosed();
    expect(await connection.closed).toBe('');
  });

  it('a client that sent invalid HTTP and stays connected does not hold up a clean stop', async () => {
    const connection = await open();
    connection.write('hello there\r\n\r\n');
    expect(readResponses(await connection.closed).map(({ status }) => status)).toEqual([400]);
    await app.close();
    expectAllClosed();
  });

  it('a clean stop answers a request on an open connection while others are finished', async () => {
    const other = await open();
    other.write(GET('/healthz').slice(0, -2));
    await vi.waitFor(() => expect(accepted[0]?.bytesRead).toBeGreaterThan(0), 60_000);
    const slow = await open();
    slow.write(GET('/slow'));
    await reached;
    const closing = app.close();
    await untilRefused();
    other.write('\r\n');
    const [response] = readResponses(await other.closed);
    expect(response?.status).toBe(200);
    expect(response?.headers.get('connection')).toBe('close');
    finish();
    await closing;
    expect(readResponses(await slow.closed)[0]?.status).toBe(200);
  });

  it('a clean stop can be requested twice', async () => {
    await Promise.all([app.close(), app.close()]);
    expectAllClosed();
    await expect(openConnection(port)).rejects.toThrow(/ECONNREFUSED/);
  }, 60_000);

  it('a clean stop leaves no timer behind, whether the server listens or not', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    await app.close();
    const silent = await buildHealthyApp();
    await silent.inject('/healthz');
    await silent.close();
    expect(timers()).toBeLessThanOrEqual(before);
  });
});
