import type { AddressInfo } from 'node:net';
import { buildApp } from '#src/app.ts';
import { openLog } from '#src/core/log.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { countRequests, createInstruments } from '#src/extensions/telemetry/instruments.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { openTestAccess } from '#test/support/access.ts';
import { type LoopWatch, watchLoop } from '../event-loop.ts';

/*
 * The service with its log and metrics, in its own process. `node bench/miss-path/server.ts UPSTREAM_URL`
 * `state` is answered with the processor time used so far, and the longest block of the event loop since the last reply. `watch`
 * starts measuring blocks, which keeps the loop turning.
 */
const UNLIMITED = { rps: Number.POSITIVE_INFINITY, dailyBudget: 1e12 };
const silent = { info() {}, warn() {}, error() {} };

const [upstreamUrl = ''] = process.argv.slice(2);
const now = () => new Date();
const client = createEfaClient({ url: upstreamUrl, apiKey: 'bench', timeoutMs: 8000, now: () => now().getTime() });
const { queryUpstream } = protectUpstream({ callByKey: [client.callUpstream], limits: UNLIMITED, log: silent });
const { store, apiKey } = await openTestAccess(now());
const app = await buildApp({
  config: { publicUrl: 'https://example.test', docsUrl: 'http://localhost/docs', trustProxy: false },
  sources: { queryUpstream },
  access: { store, acceptsTestKeys: false },
  extensions: [countRequests({ instruments: createInstruments() })],
  http: { logger: openLog('info', { file: '/dev/null' }) },
  now: () => now().getTime(),
});
await app.listen({ host: '127.0.0.1', port: 0 });

let watch: LoopWatch | null = null;
process.on('message', (message) => {
  if (message === 'watch') watch ??= watchLoop();
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicroseconds: user + system, longestBlockMs: watch?.takeLongestMs() ?? null });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: (app.server.address() as AddressInfo).port, apiKey });
