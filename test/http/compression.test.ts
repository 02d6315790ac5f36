import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseEncoding } from '#src/http/send-response.ts';
import { createFinishedResponses } from '#src/operations/finished-response.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import { json } from '#test/support/upstream.ts';

const leaves = Array.from({ length: 10 }, (_, index) => `2026-04-15T06:${10 + index}:00Z`);
const url = '/v1/departures?stop=200060';
let service: Awaited<ReturnType<typeof startProtectedApp>>;
beforeAll(async () => {
  service = await startProtectedApp({ now: '2026-04-15T06:00:10Z', response: json(departureMonitor(...leaves)) });
});
afterAll(() => service.app.close());

describe('compression', () => {
  it('compression sends the requested encoding, with the same content in each', async () => {
    const plain = await service.app.inject({ url });
    expect(plain.headers['content-encoding']).toBeUndefined();
    for (const [encoding, decode] of [
      ['zstd', zstdDecompressSync],
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const { headers, rawPayload } = await service.app.inject({ url, headers: { 'accept-encoding': encoding } });
      expect(headers).toMatchObject({ 'content-encoding': encoding, etag: plain.headers.etag });
      expect(headers['content-length']).toBe(String(rawPayload.length));
      expect(rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
      expect(decode(rawPayload).toString()).toBe(plain.body);
    }
  });

  it('compression follows the weights of Accept-Encoding', () => {
    const body = Buffer.alloc(1000);
    expect(chooseEncoding('gzip, deflate, br, zstd', body)).toBe('zstd');
    expect(chooseEncoding('gzip;q=1.0, br;q=0.5', body)).toBe('gzip');
    expect(chooseEncoding('gzip;q=0, identity', body)).toBe('identity');
    expect(chooseEncoding('*;q=0.1, br', body)).toBe('br');
    expect(chooseEncoding('BR', body)).toBe('br');
    expect(chooseEncoding('compress', body)).toBe('identity');
    expect(chooseEncoding(undefined, body)).toBe('identity');
    expect(chooseEncoding('gzip', Buffer.alloc(999))).toBe('identity');
  });

  it.each([
    ['*', 'gzip'],
    ['*;q=0.5', 'gzip'],
    ['*, br;q=0.5', 'gzip'],
    ['gzip;q=0, *', 'identity'],
    ['identity, *;q=0.5', 'identity'],
    ['*;q=0', 'identity'],
    ['zstd;q=0.1, *;q=0', 'zstd'],
  ])('the asterisk in "%s" means gzip at most, because proxies that read nothing else send it', (header, encoding) => {
    expect(chooseEncoding(header, Buffer.alloc(1000))).toBe(encoding);
  });

  it('a body is compressed once per encoding, even if it is created again with the same content', async () => {
    const responses = createFinishedResponses({ maxBytes: 1e6, now: () => 0 });
    const freshness = { retrievedAt: 0, freshUntil: 1, staleUntil: 1, source: 'upstream', shortage: null } as const;
    const found = { body: { text: 'x'.repeat(5000) }, freshness, changesAt: 1 };
    const first = await responses.store('/a', found);
    const forms = await Promise.all([1, 2, 3].map(() => responses.bytesOf(first, 'br')));
    const second = await responses.store('/a', { ...found, body: { ...found.body } });
    forms.push(await responses.bytesOf(second, 'br'));
    expect(new Set(forms).size).toBe(1);
  });

  it('a body is compressed again even if only its retrieval time differs', async () => {
    const responses = createFinishedResponses({ maxBytes: 1e6, now: () => 0 });
    const freshness = { retrievedAt: 0, freshUntil: 1, staleUntil: 1, source: 'upstream', shortage: null } as const;
    const bodies = ['2026-04-15T06:00:00Z', '2026-04-15T06:00:30Z'].map((retrieved_at) => ({
      retrieved_at,
      text: 'x'.repeat(5000),
    }));
    const kept = await Promise.all(bodies.map((body) => responses.store('/a', { body, freshness })));
    expect(new Set(kept.map(({ body }) => body.etag)).size).toBe(1);
    for (const [index, response] of kept.entries()) {
      const decoded = gunzipSync(await responses.bytesOf(response, 'gzip')).toString();
      expect(JSON.parse(decoded)).toEqual(bodies[index]);
    }
  });
});
