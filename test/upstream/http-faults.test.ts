import type { ServerResponse } from 'node:http';
import { describe, it } from 'vitest';
import { sleep, systemClock } from '#src/core/clock.ts';
import { departureMonitorFor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import type { Handler } from '#test/support/upstream.ts';

const boardFor = (url?: string) => departureMonitorFor(url, '2026-04-15T06:10:00Z');
const BODY = boardFor();
const well: Handler = ({ url }, response) => void response.writeHead(200).end(boardFor(url));
const HEAD = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(BODY) };

/** The ways in which upstream fails. */
const FAULTS: Record<string, Handler> = {
  'never answers': () => {},
  'stops in the middle of a body': (_request, response) => void response.writeHead(200, HEAD).write(BODY.slice(0, 100)),
  'sends one byte at a time': (_request, response) => drip(response),
  'resets the connection': (request) => request.socket.resetAndDestroy(),
  'answers 500': (_request, response) => void response.writeHead(500).end('oops'),
  'answers 403 over rate': (_request, response) =>
    void response.writeHead(403, { 'x-error-detail': 'Account Over Rate Limit' }).end(),
  'answers with a page': (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Down for maintenance</html>'),
  'answers with half of a JSON': (_request, response) => void response.writeHead(200).end(BODY.slice(0, 300)),
  'answers with nothing': (_request, response) => void response.writeHead(200).end(),
  'answers with another JSON': (_request, response) => void response.writeHead(200).end('{"hello":"world"}'),
};

const ENDLESS = ['never answers', 'stops in the middle of a body', 'sends one byte at a time'];
/** Requests wait until the key is open again: three seconds of the simulated clock. */
const PAUSING = 'answers 403 over rate';

/** Concurrently, because three of the faults wait for a deadline in real seconds. */
describe.concurrent('faults of upstream over HTTP', () => {
  for (const [fault, answer] of Object.entries(FAULTS)) {
    it(`an upstream that ${fault} causes a stale response if one is cached, else an error, and nothing afterwards`, async ({
      expect,
    }) => {
      const service = await startProtectedApp({ now: '2026-04-15T06:00:00Z', response: well });
      const get = (stop: string) => service.app.inject({ url: `/v1/departures?stop=${stop}` });
      const startedAt = service.clock.now();
      await get('200060');
      service.upstream.respondWith(answer);
      if (ENDLESS.includes(fault)) service.patience.callMs = 500;
      for (let round = 1; round <= 8; round++) {
        await service.clock.advance(15_000);
        const both = Promise.all([get('200060'), get(`9${round}`)]);
        if (fault === PAUSING) {
          await sleep(systemClock, 100);
          await service.clock.advance(3000);
        }
        const [known, unknown] = await both;
        const age = (service.clock.now() - startedAt) / 1000;
        expect(known.statusCode, `round ${round}`).toBe(200);
        expect(known.headers['cache-status']).toMatch(/^transit; hit; ttl=-?\d+; detail=upstream-(failing|busy)$/);
        expect(known.headers.age).toBe(String(age));
        expect([502, 503, 504]).toContain(unknown.statusCode);
        expect(unknown.headers['cache-control']).toBe('no-store');
        if (unknown.statusCode === 503) expect(unknown.headers['retry-after']).toMatch(/^\d+$/);
      }
      service.upstream.respondWith(well);
      service.patience.callMs = 60_000;
      await service.clock.advance(5000);
      const after = await get('200060');
      expect(after.headers).toMatchObject({ age: '0', 'cache-status': 'transit; fwd=miss' });
      await service.app.close();
    });
  }
});

function drip(response: ServerResponse): void {
  response.writeHead(200, HEAD);
  let sent = 0;
  const dripping = setInterval(() => response.write(BODY[sent++]), 50);
  response.once('close', () => clearInterval(dripping));
}
