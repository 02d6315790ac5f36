import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectionLimitsFor } from '#src/http/connection/connections.ts';
import { buildTestApp, type TestApp, type TestAppOptions } from '#test/support/app.ts';
import { openConnection, type RawConnection, readResponses } from './socket.ts';

const GET = 'GET /quick HTTP/1.1\r\nHost: x\r\n\r\n';
const POST = 'POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n';

let app: TestApp;
let connections: RawConnection[];
/** Lets the waiting routes respond. */
let goOn: PromiseWithResolvers<void>;

afterEach(async () => {
  for (const { socket } of connections) socket.destroy();
  await app.close();
});

async function start({ host = '127.0.0.1', ...options }: Partial<TestAppOptions> & { host?: string }): Promise<void> {
  connections = [];
  app = await buildTestApp({ upstream: 'http://127.0.0.1:1/v1/tp', now: '2026-04-15T06:00:00Z', ...options });
  app.post('/form', async () => ({ status: 'received' }));
  app.get('/quick', async () => ({ status: 'ok' }));
  app.get('/large', async () => Buffer.alloc(32 * 1024 * 1024));
  goOn = Promise.withResolvers<void>();
  app.get('/late', () => goOn.promise.then(() => ({ status: 'late' })));
  app.get('/stream', async (_request, reply) => {
    reply.hijack();
    reply.raw.write('first ');
    await goOn.promise;
    reply.raw.end('second');
  });
  await app.listen({ port: 0, host });
}

async function open(): Promise<RawConnection> {
  const connection = await openConnection((app.server.address() as AddressInfo).port);
  connections.push(connection);
  return connection;
}

/** A connection that the server sees as coming from that address. */
async function connectFrom(remoteAddress: string): Promise<{ client: Duplex; answered: Promise<string> }> {
  const [client, peer] = duplexPair();
  app.server.emit('connection', Object.assign(peer, { remoteAddress }) as unknown as Socket);
  let text = '';
  client.on('data', (chunk) => {
    text += chunk;
  });
  client.write(GET);
  return { client, answered: vi.waitUntil(() => /\r\n\r\n.*\}$/s.test(text) && text, 60_000) };
}

const statusOf = async (connection: { answered: Promise<string> }) =>
  readResponses(await connection.answered)[0]?.status;

describe('a request that does not arrive', () => {
  it.each([
    ['whose headers never end', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    ['whose body never ends', POST],
    ['whose chunks never end', POST.replace('Content-Length: 100', 'Transfer-Encoding: chunked')],
  ])('a request %s gets 408 after a while, even byte by byte, and its connection is closed', async (_name, text) => {
    await start({ arrivalMs: 200 });
    const [silent, slow] = [await open(), await open()];
    silent.write(text);
    slow.write(text);
    const dripping = setInterval(() => slow.write(text.includes('chunked') ? '1\r\nx\r\n' : 'x'), 50);
    for (const { closed } of [silent, slow]) {
      const [response, ...more] = readResponses(await closed);
      expect(more).toEqual([]);
      expect(response?.status).toBe(408);
      expect(response?.headers.get('connection')).toBe('close');
      expect(JSON.parse(response?.body ?? '')).toEqual({
        error: {
          code: 'REQUEST_TIMEOUT',
          message: 'The request did not arrive in time.',
          docs: expect.stringContaining('/errors/REQUEST_TIMEOUT'),
        },
      });
    }
    clearInterval(dripping);
    expect(app.logged()).not.toContain('"level":50');
  });

  it('a request whose body never arrives gets no second response when the first did not wait for it', async () => {
    await start({ arrivalMs: 200 });
    const connection = await open();
    connection.write(POST.replace('/form', '/healthz'));
    expect(readResponses(await connection.closed).map(({ status }) => status)).toEqual([405]);
  });

  it('a slow response does not count as a request that never arrives', async () => {
    await start({ arrivalMs: 100 });
    const [slow, incomplete] = [await open(), await open()];
    slow.write(GET.replace('/quick', '/late'));
    incomplete.write(GET.trimEnd());
    await incomplete.closed;
    goOn.resolve();
    expect(await slow.until(/"late"\}/)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a client that does not read', () => {
  const openCount = () => promisify(app.server.getConnections.bind(app.server))();

  it('a client that does not read is disconnected, whether its response is large or it keeps sending requests', async () => {
    await start({ silentMs: 200 });
    const [large, many] = [await open(), await open()];
    for (const { socket } of [large, many]) socket.pause();
    large.write(GET.replace('/quick', '/large'));
    many.write(GET.replace('/quick', '/large').repeat(3) + GET.repeat(1000));
    await expect.poll(openCount).toBe(0);
  });

  it('a client with a slow response or a silent stream is not disconnected', async () => {
    await start({ silentMs: 50 });
    const [late, stream] = [await open(), await open()];
    late.write(GET.replace('/quick', '/late'));
    stream.write(GET.replace('/quick', '/stream'));
    await stream.until(/first/);
    for (const timeouts = new Set<Socket>(); timeouts.size < 2; ) {
      const [socket] = await once(app.server, 'timeout');
      timeouts.add(socket);
    }
    goOn.resolve();
    expect(await late.until(/"late"\}/)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await stream.until(/second/)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('connections', () => {
  const FEW = { max: 10, maxPerAddress: 10 };

  it('connections above the limit get 503 and are closed, until others have closed', async () => {
    await start({ connectionLimits: FEW });
    for (let count = 0; count < 10; count++) await open();
    const surplus = await open();
    surplus.write(GET);
    const [response] = readResponses(await surplus.closed);
    expect(response?.status).toBe(503);
    expect(response?.headers.get('connection')).toBe('close');
    expect(response?.headers.get('retry-after')).toBe('5');
    expect(response?.headers.get('access-control-allow-origin')).toBe('*');
    expect(JSON.parse(response?.body ?? '').error.code).toBe('SERVICE_UNAVAILABLE');
    expect(app.logged().match(/refusing connections/g)).toHaveLength(1);

    for (const { socket } of connections.splice(0, 5)) socket.destroy();
    await vi.waitFor(async () => {
      const next = await open();
      next.write(GET);
      expect(await next.until(/\}$/)).toMatch(/^HTTP\/1\.1 200 /);
    }, 60_000);
  });

  it.each(['/healthz', '/readyz'])('connections above the limit are closed after the response to %s', async (path) => {
    await start({ connectionLimits: FEW });
    for (let count = 0; count < 10; count++) await open();
    const probe = await open();
    probe.write(GET.replace('/quick', path));
    const [response] = readResponses(await probe.closed);
    expect([response?.status, response?.headers.get('connection')]).toEqual([200, 'close']);
  });

  it('silent connections above the limit are closed, and at once if they are far above it', async () => {
    await start({ connectionLimits: FEW });
    for (let count = 0; count < 10; count++) await open();
    const surplus = await open();
    const dropped = await open();
    expect(await dropped.closed).toBe('');
    expect(await surplus.closed).toBe('');
    const [first] = connections;
    first?.write(GET);
    expect(await first?.until(/\}$/)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('connections of one address are limited without affecting another address', async () => {
    await start({ connectionLimits: { max: 100, maxPerAddress: 2 } });
    const ofOne = [];
    for (let count = 0; count < 3; count++) ofOne.push(await connectFrom('192.0.2.1'));
    expect(await Promise.all(ofOne.map(statusOf))).toEqual([200, 200, 503]);
    expect(await ofOne[2]?.answered).toContain('from your address');
    expect(await statusOf(await connectFrom('192.0.2.2'))).toBe(200);
    expect(await statusOf(await connectFrom('::ffff:192.0.2.1'))).toBe(503);

    ofOne[0]?.client.end();
    await vi.waitFor(async () => expect(await statusOf(await connectFrom('192.0.2.1'))).toBe(200), 60_000);
  });

  it('connections over IPv6 are counted by the subscriber’s network', async () => {
    await start({ connectionLimits: { max: 100, maxPerAddress: 2 } });
    const addresses = ['2001:db8::1', '2001:db8::2:3', '2001:db8:0:0:ffff::', '2001:db8:0:1::1'];
    const statuses = [];
    for (const address of addresses) statuses.push(await statusOf(await connectFrom(address)));
    expect(statuses).toEqual([200, 200, 503, 200]);
  });

  it('a server that listens on :: accepts IPv4 and IPv6, and counts each connection by its own address', async () => {
    await start({ host: '::', connectionLimits: { max: 100, maxPerAddress: 1 } });
    const { port } = app.server.address() as AddressInfo;
    for (const address of ['127.0.0.1', '[::1]']) {
      expect((await fetch(`http://${address}:${port}/quick`)).status).toBe(200);
    }
    expect(await statusOf(await connectFrom('127.0.0.1'))).toBe(503);
    expect(await statusOf(await connectFrom('::1'))).toBe(503);
    expect(await statusOf(await connectFrom('2001:db8::1'))).toBe(200);
  });

  it.each<[string, TestAppOptions['trustProxy'], string, number]>([
    ['a proxy of the given networks', ['10.0.0.0/8', '2001:db8::/32'], '10.1.2.3', 200],
    ['a proxy of the given networks, in IPv6', ['10.0.0.0/8', '2001:db8::/32'], '2001:db8::1', 200],
    ['someone else', ['10.0.0.0/8', '2001:db8::/32'], '192.0.2.1', 503],
    ['a proxy by number', 1, '192.0.2.1', 200],
    ['anyone, without proxies', false, '10.1.2.3', 503],
  ])(
    'with one connection allowed per address, a second one from %s (%j, %s) gets %d',
    async (_name, trustProxy, address, status) => {
      await start({
        connectionLimits: { max: 100, maxPerAddress: 1 },
        ...(trustProxy !== undefined && { trustProxy }),
      });
      await connectFrom(address);
      expect(await statusOf(await connectFrom(address))).toBe(status);
    },
  );

  it('connections are limited by default to the files that the process may open, within reason', () => {
    expect(connectionLimitsFor(256)).toEqual({ max: 204, maxPerAddress: 51 });
    expect(connectionLimitsFor(1_048_576)).toEqual({ max: 10_000, maxPerAddress: 1000 });
    expect(connectionLimitsFor(Number.POSITIVE_INFINITY)).toEqual({ max: 10_000, maxPerAddress: 1000 });
  });
});

describe('a clean stop', () => {
  it('300 requests that never arrive completely are answered and do not hold up a clean stop', {
    timeout: 9000,
  }, async () => {
    await start({});
    const halfSent = [];
    for (let count = 0; count < 300; count++) halfSent.push(await open());
    for (const [index, connection] of halfSent.entries()) connection.write(index % 2 ? POST : GET.slice(0, -2));
    const last = await open();
    last.write(GET);
    await last.until(/"ok"\}/);
    await app.close();
    for (const { closed } of halfSent) {
      const [response] = readResponses(await closed);
      expect(response?.status).toBe(503);
      expect(JSON.parse(response?.body ?? '').error.code).toBe('SERVICE_UNAVAILABLE');
    }
  });
});

describe('the address of a caller behind proxies', () => {
  it.each<[TestAppOptions['trustProxy'], string]>([
    [false, '127.0.0.1'],
    [1, '198.51.100.7'],
    [2, '203.0.113.9'],
    [['127.0.0.0/8'], '198.51.100.7'],
    [['127.0.0.1', '198.51.100.0/24'], '203.0.113.9'],
    [['10.0.0.0/8'], '127.0.0.1'],
  ])('with %j trusted, the address of a caller is %s, whatever else the header says', async (trustProxy, address) => {
    connections = [];
    app = await buildTestApp({
      upstream: 'http://127.0.0.1:1/v1/tp',
      now: '2026-04-15T06:00:00Z',
      ...(trustProxy !== undefined && { trustProxy }),
    });
    app.get('/who', async ({ ip }) => ({ ip }));
    const headers = { 'x-forwarded-for': 'made up, 192.0.2.1, 203.0.113.9, 198.51.100.7' };
    expect((await app.inject({ url: '/who', headers })).json()).toEqual({ ip: address });
  });
});
