import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect as openConnection } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createEfaClient } from '#src/efa/client.ts';
import { UpstreamClock } from '#src/efa/upstream-http.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { startUpstream, type TestUpstream } from '#test/support/upstream.ts';

const EMPTY_BOARD = JSON.stringify({ version: '10', locations: [], stopEvents: [], systemMessages: [] });
/** The end of a large response; trailing white space makes it large. */
const LARGE = EMPTY_BOARD.padEnd(200_000);
const MOST_AT_ONCE = 4;

let upstream: TestUpstream;
let client: ReturnType<typeof createEfaClient>;
let unfinished: ServerResponse[];

beforeEach(async () => {
  unfinished = [];
  upstream = await startUpstream(({ url }, response) => {
    if (url.includes('SMALL')) response.end(EMPTY_BOARD);
    else if (url.includes('WHOLE')) response.end(LARGE);
    else {
      response.write(LARGE.slice(0, -1));
      unfinished.push(response);
    }
  });
});
afterEach(async () => {
  await client.close();
  await upstream.close();
});

function connect(timeoutMs: number, proxyUrl: string | null = null): void {
  client = createEfaClient({ url: upstream.url, apiKey: 'made-up', timeoutMs, proxyUrl, now: Date.now });
}

const send = (stopId: string) => client.callUpstream({ kind: 'departureMonitor', stopId, modes: ['bus'], at: null });

it('the client reads only a few large responses at once, and small ones overtake those that wait', async () => {
  connect(30_000);
  const slow = Array.from({ length: MOST_AT_ONCE }, (_, n) => send(`SLOW${n}`));
  await expect.poll(() => unfinished.length).toBe(MOST_AT_ONCE);
  let isRead = false;
  const waiting = send('WHOLE').then(() => {
    isRead = true;
  });
  await expect.poll(() => upstream.requests.length).toBe(MOST_AT_ONCE + 1);
  await send('SMALL');
  await send('SMALL');
  expect(isRead).toBe(false);
  for (const response of unfinished) response.end(' ');
  await waiting;
  await Promise.all(slow);
});

it('a large response that waits to be read fails when its call times out', async () => {
  connect(400);
  const slow = Array.from({ length: MOST_AT_ONCE + 1 }, (_, n) => send(`SLOW${n}`));
  const outcomes = await Promise.allSettled(slow);
  expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code)).toEqual(
    slow.map(() => 'UPSTREAM_TIMEOUT'),
  );
  // Reading slots are free again.
  await send('WHOLE');
});

it('the comparison of upstream’s clock with ours allows for slow responses', async () => {
  const log = createTestLog();
  const clock = new UpstreamClock(log);
  const now = Date.parse('2026-04-15T06:00:00.900Z');
  const note = (date: string | undefined, seconds = 8) => {
    clock.recordResponse(date, { sentAt: now, receivedAt: now + seconds * 1000 });
    return clock.skewMs;
  };
  expect(note(undefined)).toBeNull();
  expect(note('garbage')).toBeNull();
  expect(note('Wed, 15 Apr 2026 06:00:00 GMT')).toBe(0);
  expect(note('Wed, 15 Apr 2026 06:00:08 GMT')).toBe(0);
  expect(note('Wed, 15 Apr 2026 06:00:20 GMT')).toBe(11_100);
  expect(note('Wed, 15 Apr 2026 06:00:21 GMT')).toBe(12_100);
  expect(log.lines).toHaveLength(1);
  expect(note('Wed, 15 Apr 2026 05:59:50 GMT')).toBe(-9900);
  expect(note('Wed, 15 Apr 2026 06:00:01 GMT')).toBe(0);
  expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
});

it('the client reports upstream’s clock, even from errors', async () => {
  const told: (string | undefined)[] = [];
  const clock = { recordResponse: (date: string | undefined) => void told.push(date) };
  client = createEfaClient({ url: upstream.url, apiKey: 'made-up', timeoutMs: 5000, clock, now: Date.now });
  await send('SMALL');
  expect(told).toEqual([expect.stringMatching(/GMT$/)]);
});

it('the client tunnels through a proxy that never sees the key', async () => {
  const heads: string[] = [];
  const proxy = createServer((request, response) => {
    heads.push(`${request.method} ${request.url}`);
    response.writeHead(405).end();
  });
  proxy.on('connect', ({ method, url, headers }, socket, head) => {
    heads.push(`${method} ${url} ${JSON.stringify(headers)}`);
    const { hostname, port } = new URL(`http://${url}`);
    const target = openConnection(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.write(head);
      target.pipe(socket).pipe(target);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  connect(5000, `http://127.0.0.1:${port}`);
  await send('SMALL');
  expect(heads).toEqual([expect.stringMatching(/^CONNECT 127\.0\.0\.1:/)]);
  expect(heads.join()).not.toContain('made-up');
  expect(upstream.requests).toHaveLength(1);
  await client.close();
  proxy.close();
});
