import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { get as httpsGet } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { maxDescriptors } from '#src/server/process.ts';
import { type Balancer, startBalancer } from '../support/balancer.ts';
import { freePort } from '../support/free-port.ts';

let balancer: Balancer;
let servers: Server[] = [];

afterEach(async () => {
  await balancer.stop();
  for (const server of servers) server.close().closeAllConnections();
  servers = [];
});

async function listen(response: RequestListener): Promise<number> {
  const server = createServer(response).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Starts the balancer in front of instances that respond like this. */
async function start(...responses: RequestListener[]): Promise<void> {
  balancer = await startBalancer(await Promise.all(responses.map(listen)));
}

const get = (path: string, init?: RequestInit) => fetch(`${balancer.url}${path}`, init);

const fine: RequestListener = (_request, response) => void response.end('fine');
const overloaded: RequestListener = (_request, response) => void response.writeHead(503).end('overloaded');
const cutting: RequestListener = (request) => void request.socket.destroy();

async function statuses(count: number, path: string): Promise<number[]> {
  const responses: number[] = [];
  for (let n = 0; n < count; n++) responses.push((await get(path)).status);
  return [...new Set(responses)];
}

describe('an operation behind the balancer', () => {
  it.each([
    ['refuses requests', overloaded],
    ['cuts connections', cutting],
  ])('an operation is answered while one of two instances %s', async (_name, failing) => {
    await start(failing, fine);
    expect(await statuses(30, '/v1/departures')).toEqual([200]);
  });

  it('an operation is answered while two of three instances refuse requests, at any load', async () => {
    await start(overloaded, overloaded, fine);
    const responses = await Promise.all(Array.from({ length: 60 }, () => get('/v1/departures')));
    expect([...new Set(responses.map(({ status }) => status))]).toEqual([200]);
  });

  it('an operation is answered while one of two instances is gone', async () => {
    balancer = await startBalancer([await freePort(), await listen(fine)]);
    expect(await statuses(30, '/v1/departures')).toEqual([200]);
  });

  it('an operation returns the service’s own error when every instance refuses, and its response as soon as one does not', async () => {
    let isSpent = true;
    const spent: RequestListener = (_request, response) =>
      void (isSpent ? response.writeHead(503, { 'retry-after': '7' }).end('{"error":{}}') : response.end('fine'));
    await start(spent, spent);
    for (let n = 0; n < 20; n++) {
      const response = await get('/v1/departures');
      expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([
        503,
        '7',
        '{"error":{}}',
      ]);
    }
    isSpent = false;
    expect(await statuses(10, '/v1/departures')).toEqual([200]);
  });

  it.each(['a"b', 'a\\b', '"},"x":{"y":"', '[::1]:3000', 'transit.example'])(
    'an operation with the host %s is answered with JSON when no instance can be reached',
    async (host) => {
      balancer = await startBalancer([await freePort()]);
      const socket = connect(balancer.port, '127.0.0.1');
      socket.write(`GET /v1/departures HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
      // nginx itself refuses a text that cannot be a host, or leaves it out.
      if (head.startsWith('HTTP/1.1 400')) return expect(body).toContain('<center>nginx</center>');
      const named = /^[\w.:[\]-]+$/.test(host) ? host : 'localhost';
      expect(JSON.parse(body).error.docs).toBe(`http://${named}/docs/errors/SERVICE_UNAVAILABLE`);
    },
  );

  it('an operation returns an error in our shape when no instance can be reached', async () => {
    balancer = await startBalancer([await freePort(), await freePort()]);
    for (const path of ['/v1/departures', '/signup']) {
      const response = await get(path);
      expect(response.status).toBe(503);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('retry-after')).toBe('2');
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(await response.json()).toEqual({
        error: {
          code: 'SERVICE_UNAVAILABLE',
          message: expect.stringMatching(/Try again/),
          docs: `${balancer.url}/docs/errors/SERVICE_UNAVAILABLE`,
        },
      });
    }
  });
});

it('the balancer passes on other responses unchanged', async () => {
  await start(
    (request, response) => void response.writeHead(Number(request.url?.slice(-3))).end(`as is ${request.url}`),
  );
  for (const path of [
    '/v1/400',
    '/v1/404',
    '/v1/429',
    '/v1/500',
    '/v1/504',
    '/signup/502',
    '/signup/503',
    '/signup/504',
  ]) {
    const response = await get(path);
    expect([response.status, await response.text()]).toEqual([Number(path.slice(-3)), `as is ${path}`]);
  }
});

it('the balancer sends a form once, and to only one instance', async () => {
  let received = 0;
  const counting: RequestListener = (request) => {
    received++;
    request.resume().once('end', () => request.socket.destroy());
  };
  await start(counting, counting);
  const response = await get('/signup', { method: 'POST', body: 'email=ada@example.com' });
  expect([response.status, received]).toEqual([503, 1]);
});

it('an instance sees the caller’s address, host and path, whatever the caller claims', async () => {
  await start((request, response) => void response.end(JSON.stringify({ url: request.url, ...request.headers })));
  const claimed = {
    'x-forwarded-for': '10.9.8.7',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'for=10.9.8.7',
  };
  const seen = (await (await get('/v1//departures?stop=%32&a=//', { headers: claimed })).json()) as object;
  expect(seen).toMatchObject({
    url: '/v1//departures?stop=%32&a=//',
    host: `127.0.0.1:${balancer.port}`,
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': `127.0.0.1:${balancer.port}`,
    'x-forwarded-proto': 'http',
  });
  expect(seen).not.toHaveProperty('forwarded');
});

it('TLS ends in the balancer if a certificate is mounted, and the instance is informed', async () => {
  const read = (name: string) => readFileSync(`test/fixtures/tls/${name}`, 'utf8');
  const port = await listen((request, response) => void response.end(String(request.headers['x-forwarded-proto'])));
  const cert = read('self-signed.pem');
  balancer = await startBalancer([port], { tls: { cert, key: read('self-signed.key') } });
  const request = httpsGet({
    host: '127.0.0.1',
    port: balancer.tlsPort,
    path: '/v1/departures',
    ca: cert,
    servername: 'localhost',
  });
  const [response] = await once(request, 'response');
  expect(await text(response)).toBe('https');
  expect(await (await get('/v1/departures')).text()).toBe('http');
});

it('the balancer reuses connections to an instance', async () => {
  const ports = new Set<number | undefined>();
  await start((request, response) => {
    ports.add(request.socket.remotePort);
    response.end('fine');
  });
  await statuses(20, '/v1/departures');
  // One connection for each of the two workers.
  expect(ports.size).toBeLessThanOrEqual(2);
});

it('a stream arrives through the balancer as it is sent', async () => {
  const second = Promise.withResolvers<void>();
  await start(async (_request, response) => {
    response.write('first');
    await second.promise;
    response.end('second');
  });
  const reader = (await get('/v1/departures')).body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first');
  second.resolve();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('second');
});

it('a stream through the balancer may be silent for longer than a response may take', async () => {
  const goOn = Promise.withResolvers<void>();
  const slow: RequestListener = async (_request, response) => {
    response.write('first');
    await goOn.promise;
    response.end('second');
  };
  balancer = await startBalancer([await listen(slow)], { answerTimeout: '300ms' });
  const stream = await get('/v1/departures/stream?stop=200060');
  await expect((await get('/v1/departures')).text()).rejects.toThrow();
  goOn.resolve();
  expect(await stream.text()).toBe('firstsecond');
});

describe('one address at the balancer', () => {
  it('one address gets refusals in our error shape above its limit of concurrent requests, on every path', async () => {
    const goOn = Promise.withResolvers<void>();
    const port = await listen(async (_request, response) => {
      response.write('begun ');
      await goOn.promise;
      response.end('done');
    });
    balancer = await startBalancer([port], { requestsOfAnAddress: 2 });
    const underWay = [await get('/v1/departures/stream?stop=200060'), await get('/docs')];
    for (const path of ['/v1/departures', '/v1/departures/stream?stop=200060', '/docs']) {
      const response = await get(path);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await response.json()).toEqual({
        error: {
          code: 'SERVICE_UNAVAILABLE',
          message: expect.stringContaining('from your address'),
          docs: `${balancer.url}/docs/errors/SERVICE_UNAVAILABLE`,
        },
      });
    }
    goOn.resolve();
    for (const response of underWay) expect(await response.text()).toBe('begun done');
    await expect.poll(async () => (await get('/docs')).status).toBe(200);
  });

  it.skipIf(maxDescriptors() < 12_000)(
    'one address with 9,000 connections whose headers never end leaves room for 300 streams of others',
    async () => {
      await start((_request, response) => void response.write('begun'));
      const halfSent: Socket[] = [];
      for (let count = 0; count < 9000; count++) {
        const socket = connect(balancer.port, '127.0.0.1').on('error', () => {});
        socket.write('GET /v1/departures HTTP/1.1\r\nX-Slow: ');
        halfSent.push(socket);
        // The backlog of a listening socket is short.
        if (count % 100 === 0) await once(socket, 'connect');
      }
      const streams = await Promise.all(Array.from({ length: 300 }, () => get('/v1/departures/stream?stop=200060')));
      expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
      for (const socket of halfSent) socket.destroy();
    },
  );

  it('a connection whose headers never end is closed by the balancer', async () => {
    balancer = await startBalancer([await listen(fine)], { headerTimeout: '1s' });
    const socket = connect(balancer.port, '127.0.0.1');
    socket.write('GET /v1/departures HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    await expect(once(socket, 'close')).rejects.toThrow('ECONNRESET');
  });
});

it('the balancer skips an instance that keeps failing, and uses it again when it is well', async () => {
  let isWell = false;
  let sent = 0;
  await start((request, response) => {
    sent++;
    if (isWell) response.end('fine');
    else request.socket.destroy();
  }, fine);
  await statuses(60, '/v1/departures');
  expect(sent).toBeLessThan(20);
  isWell = true;
  sent = 0;
  await expect
    .poll(
      async () => {
        await Promise.all([get('/v1/departures'), get('/v1/departures')]);
        return sent;
      },
      { interval: 50, timeout: 10_000 },
    )
    .toBeGreaterThan(0);
});
