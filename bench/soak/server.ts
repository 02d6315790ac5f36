import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { NO_BURST_LIMITS } from '#src/access/limits/burst-limits.ts';
import { openStore } from '#src/access/stores/open-store.ts';
import { buildApp } from '#src/app.ts';
import { countRequests, createInstruments, watchAdmissions, watchUpstream } from '#src/beside/telemetry/instruments.ts';
import { createMetrics } from '#src/beside/telemetry/metrics.ts';
import { Traffic } from '#src/beside/telemetry/traffic.ts';
import { sleep } from '#src/core/clock.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { issueTestKey } from '#test/support/access.ts';
import { createSoakClock } from './clock.ts';

/*
 * The service in a process of its own, put together as in `src/server.ts`, on a simulated clock that each request moves on.
 * To any message it replies with what it holds after garbage collection.
 */
const [upstreamUrl = '', start = '', msPerRequest = ''] = process.argv.slice(2);
/** Less than is asked for, so that the budget, stale responses and refusals take part. */
const LIMITS = { rps: 25, dailyBudget: 1e9 };
/** While no request arrives, the clock keeps pace with real time, because requests may wait for it. */
const QUIET_STEP_MS = 2;
const silent = { info() {}, warn() {}, error() {} };

const dataDir = mkdtempSync(join(tmpdir(), 'transit-soak-'));
const clock = createSoakClock(start);
const now = () => new Date(clock.now());
const instruments = createInstruments();
const client = createEfaClient({ url: upstreamUrl, apiKey: 'soak', timeoutMs: 8000, now });
const traffic = new Traffic(now);
const protection = protectUpstream({
  asks: [watchUpstream(client.ask, traffic, instruments)],
  limits: LIMITS,
  log: silent,
  clock,
});
const store = watchAdmissions(openStore({ redis: null, dataDir, log: silent }), instruments);
const registry = createMetrics({
  source: 'sandbox',
  instruments,
  upstream: protection,
  storeState: async () => 'writable' as const,
});
const app = await buildApp({
  config: { publicUrl: 'https://example.test', docsUrl: 'http://localhost/docs', trustProxy: false },
  ask: protection.ask,
  access: { store, acceptsTestKeys: false, burstLimits: NO_BURST_LIMITS },
  now,
  sleep: (ms) => sleep(clock, ms),
  extensions: [countRequests({ instruments })],
});
let isQuiet = true;
app.server.on('request', () => {
  isQuiet = false;
  clock.move(Number(msPerRequest));
});
const keys = await Promise.all(
  Array.from({ length: 30 }, (_, index) =>
    issueTestKey(store, { plan: index < 3 ? 'free' : index < 6 ? 'developer' : 'pro' }),
  ),
);
await app.listen({ host: '127.0.0.1', port: 0 });

process.on('message', async () => {
  await registry.metrics();
  globalThis.gc?.();
  await wait(50);
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { heapUsed, external, rss } = process.memoryUsage();
  const { entries: cachedResponses, bytes: cachedBytes } = protection.cache.size();
  const handles: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) handles[name] = (handles[name] ?? 0) + 1;
  process.send?.({
    now: clock.now(),
    held: heapUsed + external,
    rss,
    cachedResponses,
    cachedBytes,
    handles,
    cpuMs: (user + system) / 1000,
  });
});
process.on('disconnect', () => {
  rmSync(dataDir, { recursive: true, force: true });
  process.exit(0);
});
process.send?.({ port: (app.server.address() as AddressInfo).port, keys });

setInterval(() => {
  if (isQuiet) clock.move(QUIET_STEP_MS);
  isQuiet = true;
}, QUIET_STEP_MS);
