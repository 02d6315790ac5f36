import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildTestApp } from '#test/support/app.ts';
import { type Front, startFront } from '#test/support/front.ts';
import { fixedPage } from '#web/layout.ts';

const LIMIT = { perSecond: 2, burst: 3, holdMs: 0, maxHeld: 0 };
const BROWSER = { accept: 'text/html' };
const FIXED = ['/openapi.json', '/docs', '/docs/errors/NOT_FOUND', '/docs/search.json', '/explore', '/signup'];

let front: Front;
beforeAll(async () => {
  front = await startFront({ now: '2026-11-21T10:00:00Z', networkLimit: LIMIT });
});
afterAll(() => front[Symbol.asyncDispose]());

/** Each test has a network of its own. */
let network = 0;
const newAddress = () => `192.0.2.${++network}`;
const get = (url: string, remoteAddress: string, headers: Record<string, string> = {}) =>
  front.app.inject({ url, remoteAddress, headers });

async function useUp(address: string): Promise<void> {
  for (let count = 0; count < LIMIT.burst; count++) expect((await get('/docs', address)).statusCode).toBe(200);
}

describe('requests without a key', () => {
  it.each([...FIXED, '/', '/status', '/keys', '/assets/site.css', '/robots.txt', '/live-board'])(
    'requests of one network without a key share one limit: %s',
    async (url) => {
      const address = newAddress();
      await useUp(address);
      const response = await get(url, address);
      expect(response.statusCode).toBe(429);
      expect(response.headers['retry-after']).toBe('1');
      expect(response.json()).toEqual({
        error: {
          code: 'TOO_MANY_REQUESTS',
          message: expect.stringContaining('2 a second are allowed, with bursts of 3'),
          docs: `${front.url}/docs/errors/TOO_MANY_REQUESTS`,
        },
      });
    },
  );

  it('a browser gets the refusal by the page limit as a page', async () => {
    const address = newAddress();
    await useUp(address);
    for (const url of ['/docs', '/board/200070']) {
      const { statusCode, headers, body } = await get(url, address, BROWSER);
      expect(statusCode).toBe(429);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(body).toContain('Your network has requested too many pages');
    }
  });

  it('requests without a key are allowed again at the rate of the page limit', async () => {
    const address = newAddress();
    await useUp(address);
    front.clock.now = new Date(front.clock.now.getTime() + 1000);
    const statuses = await Promise.all([1, 2, 3].map(async () => (await get('/docs', address)).statusCode));
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('the page limit does not affect keys, health checks and other networks', async () => {
    const address = newAddress();
    await useUp(address);
    expect((await get('/docs', address)).statusCode).toBe(429);
    const headers = { authorization: `Bearer ${front.testKey}` };
    for (let count = 0; count < 5; count++) {
      expect((await get('/v1/stops/search?q=central', address, headers)).statusCode).toBe(200);
      expect((await get('/board/200070', address, headers)).statusCode).toBe(200);
      expect((await get('/healthz', address)).statusCode).toBe(200);
      expect((await get('/readyz', address)).statusCode).toBe(200);
    }
    expect((await get('/v1/stops/search?q=central', address)).statusCode).toBe(401);
    expect((await get('/docs', newAddress())).statusCode).toBe(200);
  });

  it('the page limit counts by the client’s network, not the proxy’s', async () => {
    const app = await buildTestApp({
      upstream: () => Promise.reject(new Error('not needed')),
      now: '2026-11-21T10:00:00Z',
      trustProxy: 1,
      networkLimit: LIMIT,
    });
    const statusOf = async (client: string) =>
      (await app.inject({ url: '/openapi.json', headers: { 'x-forwarded-for': client } })).statusCode;
    for (let count = 0; count < LIMIT.burst; count++) expect(await statusOf('2001:db8::1')).toBe(200);
    expect(await statusOf('2001:db8::2')).toBe(429);
    expect(await statusOf('2001:db8:0:1::1')).toBe(200);
    await app.close();
  });
});

describe('pages that are the same for everyone', () => {
  it.each([...FIXED, '/assets/site.css', '/explore/network.json'])(
    'a page that is the same for everyone has an ETag, is sent in each encoding, and is not resent to a client that has it: %s',
    async (url) => {
      const address = () => newAddress();
      const plain = await get(url, address());
      expect(plain.statusCode).toBe(200);
      for (const [encoding, decode] of [
        ['zstd', zstdDecompressSync],
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync],
      ] as const) {
        const encoded = await get(url, address(), { 'accept-encoding': encoding });
        expect(encoded.headers).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Encoding' });
        expect(encoded.headers['content-length']).toBe(String(encoded.rawPayload.length));
        expect(decode(encoded.rawPayload).equals(plain.rawPayload)).toBe(true);
      }
      const known = await get(url, address(), { 'if-none-match': String(plain.headers.etag) });
      expect([known.statusCode, known.body]).toEqual([304, '']);
      expect(known.headers['content-length']).toBeUndefined();
      expect((await get(url, address(), { 'if-none-match': '"other"' })).statusCode).toBe(200);
    },
  );

  it('a page that is the same for everyone is rendered once, and again when the sandbox has another key', async () => {
    let testKey: string | null = null;
    const draw = vi.fn((key: string | null) => `page with ${key}`);
    const app = Fastify().get(
      '/',
      fixedPage(draw, async () => testKey),
    );
    for (let count = 0; count < 3; count++) expect((await app.inject('/')).body).toBe('page with null');
    testKey = 'tis_test_other';
    for (let count = 0; count < 3; count++) expect((await app.inject('/')).body).toBe('page with tis_test_other');
    expect(draw).toHaveBeenCalledTimes(2);
    await app.close();
  });
});
