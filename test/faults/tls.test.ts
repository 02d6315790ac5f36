import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEfaClient } from '#src/efa/client.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { expectErrorObject } from '#test/contract/expect-contract.ts';
import { endpointOf, GOOD_ANSWERS, OPERATIONS } from '#test/contract/operations.ts';
import { NOW } from '#test/contract/payloads.ts';
import { buildTestApp } from '#test/support/app.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';

/** Certificates for localhost, issued by an authority whose key was deleted. One of them expired in 2021. */
const FIXTURES = new URL('../fixtures/tls/', import.meta.url);
const KEY = 'key-one-wxyz';
const [DEPARTURES] = OPERATIONS;
const read = (name: string) => readFileSync(new URL(name, FIXTURES), 'utf8');
const answerWell: RequestListener = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(GOOD_ANSWERS.get(endpointOf(request.url ?? '')));
};
const withCertificate = (name: string) =>
  createServer({ cert: read(`${name}.pem`), key: read(`${name}.key`) }, answerWell);
const withoutTls = (onConnection: (socket: Socket) => void) => createTcpServer(onConnection);

/** Servers in place of upstream, and the host name used to call them. */
const SERVERS: [name: string, open: () => Server, host: string, status: number][] = [
  ['an untrusted certificate', () => withCertificate('self-signed'), 'localhost', 502],
  ['a certificate that has expired', () => withCertificate('expired'), 'localhost', 502],
  ['a certificate of another name', () => withCertificate('good'), '127.0.0.1', 502],
  [
    'a reset in the handshake',
    () => withoutTls((socket) => socket.once('data', () => socket.resetAndDestroy())),
    'localhost',
    502,
  ],
  ['an end in the handshake', () => withoutTls((socket) => socket.once('data', () => socket.end())), 'localhost', 502],
  ['HTTP without TLS', () => createHttpServer(answerWell), 'localhost', 502],
  ['a handshake that never continues', () => withoutTls((socket) => socket.on('error', () => {})), 'localhost', 504],
];

let authorities: readonly string[];
beforeAll(() => {
  authorities = getCACertificates('default');
  setDefaultCACertificates([read('ca.pem')]);
});
afterAll(() => setDefaultCACertificates([...authorities]));

/** Starts such a server while `send` uses its address. */
async function serve<Result>(
  open: (typeof SERVERS)[number][1],
  host: string,
  send: (url: string) => Promise<Result>,
): Promise<Result> {
  const server = open();
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await send(`https://${host}:${(server.address() as AddressInfo).port}/v1/tp`);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

const build = (url: string) => buildTestApp({ upstream: url, upstreamKey: KEY, now: NOW, timeoutMs: 800 });

describe('TLS', () => {
  it('an upstream with a valid certificate works', async () => {
    await serve(
      () => withCertificate('good'),
      'localhost',
      async (url) => {
        const app = await build(url);
        expect((await app.inject(DEPARTURES.url)).statusCode).toBe(200);
        await app.close();
      },
    );
  });

  it.each(SERVERS)('an upstream with %s is an upstream error without details', async (_name, open, host, status) => {
    await serve(open, host, async (url) => {
      const app = await build(url);
      const response = await app.inject(DEPARTURES.url);
      await app.close();
      expect(response.statusCode).toBe(status);
      expectErrorObject(response);
      expect(response.json().error.code).toBe(status === 504 ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_ERROR');
      expect(response.body).not.toMatch(/certificate|self.signed|expired|ERR_|SSL|TLS|localhost|127\.0\.0\.1|wxyz/i);
      expect(app.logged()).not.toContain('wxyz');
    });
  });

  it('an upstream with a bad certificate never gets our key', async () => {
    let requests = 0;
    const open = () => withCertificate('expired').on('request', () => requests++);
    await serve(open, 'localhost', async (url) => {
      const app = await build(url);
      expect((await app.inject(DEPARTURES.url)).statusCode).toBe(502);
      await app.close();
    });
    expect(requests).toBe(0);
  });

  it('an upstream with a bad certificate opens the breaker', async () => {
    await serve(
      () => withCertificate('expired'),
      'localhost',
      async (url) => {
        const client = createEfaClient({ url, apiKey: KEY, timeoutMs: 1500, now: () => Date.parse(NOW) });
        const limits = { rps: 100, dailyBudget: 60_000 };
        const protection = protectUpstream({ callByKey: [client.callUpstream], limits, log: createTestLog() });
        const send = (text: string) => protection.queryUpstream({ kind: 'stopFinder', text }).catch(({ code }) => code);
        for (const text of ['a', 'b', 'c', 'd', 'e']) expect(await send(text)).toBe('UPSTREAM_ERROR');
        expect(await send('f')).toBe('UPSTREAM_UNAVAILABLE');
        expect(protection.state().isBreakerOpen).toBe(true);
        await client.close();
      },
    );
  });
});
