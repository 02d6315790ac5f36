import type { AddressInfo } from 'node:net';
import { openStore } from '#src/access/stores/open-store.ts';
import { buildApp } from '#src/app.ts';
import { openLog } from '#src/core/log.ts';
import { openRedis } from '#src/core/redis/shared-redis.ts';
import { createEfaClient } from '#src/efa/client.ts';
import {
  countRequests,
  createInstruments,
  type Instruments,
  watchAdmissions,
} from '#src/extensions/telemetry/instruments.ts';
import { createMetrics, startMetricsServer } from '#src/extensions/telemetry/metrics.ts';
import { createStoreProbe } from '#src/http/readiness.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { issueTestKey } from '#test/support/access.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { json, startUpstream } from '#test/support/upstream.ts';
import { type LoopWatch, watchLoop } from '../event-loop.ts';
import { startProfile } from './profile.ts';

/*
 * The service twice in one process, on two ports, with and without metrics, so that nothing else differs: with its log, accounts
 * in one Redis, one upstream, one cache; also the metrics port. Each message is answered with the processor time and event-loop
 * time used so far, the longest block since `watch`, and at the end of a profile the share of metrics.
 */
const [redisUrl = ''] = process.argv.slice(2);
const silent = { info() {}, warn() {}, error() {} };
const now = () => new Date();
const leaves = Array.from({ length: 20 }, (_, index) => new Date(Date.now() + (60 + index) * 60_000).toISOString());

const upstream = await startUpstream(json(departureMonitor(...leaves)));
const client = createEfaClient({ url: upstream.url, apiKey: 'bench', timeoutMs: 5000, now: () => now().getTime() });
const protection = protectUpstream({
  callByKey: [client.callUpstream],
  limits: { rps: 5, dailyBudget: 60_000 },
  log: silent,
});
const store = openStore({ redis: await openRedis([redisUrl], silent), dataDir: '', log: silent });
const instruments = createInstruments();
const storeProbe = createStoreProbe(() => store.check(), { graceMs: 0 });
const registry = createMetrics({ source: 'sandbox', instruments, upstream: protection, storeState: storeProbe.state });
fill(instruments);

const metrics = await startMetricsServer(registry, { host: '127.0.0.1', port: 0 });
let watch: LoopWatch | null = null;
let stopProfile: (() => Promise<number>) | null = null;
process.on('message', async (message) => {
  if (message === 'profile') stopProfile = await startProfile();
  const longestBlockMs = watch?.takeLongestMs() ?? 0;
  watch?.stop();
  watch = message === 'watch' ? watchLoop() : null;
  const share = message === 'profiled' ? await stopProfile?.() : undefined;
  const { user, system } = process.cpuUsage();
  const { active } = performance.eventLoopUtilization();
  process.send?.({ cpuMicroseconds: user + system, loopMs: active, longestBlockMs, share });
});
process.on('disconnect', () => process.exit(0));
process.send?.({
  measured: await listen(instruments),
  unmeasured: await listen(null),
  metrics: metrics.port,
  apiKey: await issueTestKey(store, { plan: 'pro' }),
});

async function listen(measuredBy: Instruments | null): Promise<number> {
  const app = await buildApp({
    config: { publicUrl: 'https://example.test', docsUrl: 'http://localhost/docs', trustProxy: false },
    sources: { queryUpstream: protection.queryUpstream },
    access: { store: measuredBy ? watchAdmissions(store, measuredBy) : store, acceptsTestKeys: false },
    http: { logger: openLog('info', { file: '/dev/null' }) },
    now: () => now().getTime(),
    ...(measuredBy && { extensions: [countRequests({ instruments: measuredBy })] }),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

/** Makes as many series as a service has that has seen everything. */
function fill({ requests, requestSeconds, responses, upstreamCalls }: Instruments): void {
  const operations = Array.from({ length: 12 }, (_, index) => `/v1/operation-${index}`);
  for (const operation of operations) {
    requestSeconds.observe(operation, 0.01);
    for (const source of ['cache', 'joined', 'upstream', 'stale-busy', 'stale-failing'])
      responses.inc({ operation, source });
    for (const plan of ['free', 'developer', 'pro', 'none']) {
      for (const status of [200, 304, 400, 401, 404, 429, 500, 502, 503, 504])
        requests.inc({ operation, status, plan });
    }
  }
  for (const outcome of ['ok', 'timeout', 'unreachable', 'unreadable', 'status-5xx', 'rate-limited']) {
    for (const priority of ['low', 'normal', 'high', 'background']) upstreamCalls.inc({ outcome, priority });
  }
}
