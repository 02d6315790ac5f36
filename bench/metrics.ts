import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { startRedis } from '#test/support/redis.ts';
import { START_OPTIONS } from '#test/support/start-options.ts';
import { describeMachine, print } from './machine.ts';
import { type Callers, openCallers } from './metrics/callers.ts';
import { median, percentile } from './percentiles.ts';

/*
 * Measures what metrics cost: the processor time of a cache hit with and without them, and how long `GET /metrics` blocks the
 * event loop. A round measures with, without, without, with; the median of the rounds' ratios counts, with its 95 % confidence
 * interval.
 * `node bench/metrics.ts [rounds] [requests of each measurement] [idle connections]`
 */
const [rounds = '600', requests = '300', connections = '1000'] = process.argv.slice(2);
const PATH = '/v1/departures?stop=200060&limit=20';
const CALLERS = 16;
const SCRAPES = 50;
/** Until V8 has compiled the hot code. */
const WARM_UP_REQUESTS = 40_000;
const PROFILE_REQUESTS = 40_000;

interface Use {
  cpuMicroseconds: number;
  loopMs: number;
  longestBlockMs: number;
  /** The share of metrics in the total processor time. */
  share?: number;
}

interface Scrape {
  longestBlockMs: number;
  loopMs: number;
  cpuMs: number;
  bytes: number;
}

print(describeMachine());
const redis = await startRedis();
const child = fork(new URL('./metrics/server.ts', import.meta.url), [redis.url], { execArgv: START_OPTIONS });
const [{ measured, unmeasured, metrics, apiKey }] = await once(child, 'message');

// The first scrape, before anything is warm.
const first = await scrape();
const request = `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`;
const withMetrics = await openCallers(measured, CALLERS, request);
const without = await openCallers(unmeasured, CALLERS, request);
for (const callers of [withMetrics, without]) await callers.send(WARM_UP_REQUESTS);
const pairs: { measured: number; unmeasured: number }[] = [];
for (let round = 0; round < Number(rounds); round++) {
  const costs: number[] = [];
  for (const callers of [withMetrics, without, without, withMetrics]) costs.push(await costOf(callers));
  const [first = 0, second = 0, third = 0, fourth = 0] = costs;
  pairs.push({ measured: (first + fourth) / 2, unmeasured: (second + third) / 2 });
}
const ratios = pairs.map((pair) => pair.measured / pair.unmeasured);
// The ranks of the 95 % confidence interval of a median.
const margin = 0.98 / Math.sqrt(ratios.length);
const [low, middle, high] = [0.5 - margin, 0.5, 0.5 + margin].map(
  (part) => `${((percentile(ratios, part) - 1) * 100).toFixed(1)} %`,
);
print(`\n${rounds} rounds of 4 × ${requests} requests, CPU µs per request, medians`);
print(`  without metrics  ${median(pairs.map((pair) => pair.unmeasured)).toFixed(2)}`);
print(`  with metrics     ${median(pairs.map((pair) => pair.measured)).toFixed(2)}`);
print(`  more             ${middle} (${low} to ${high})`);

await tell('profile');
await withMetrics.send(PROFILE_REQUESTS);
print(`  by a CPU profile ${(Number((await tell('profiled')).share) * 100).toFixed(1)} % of the time with metrics`);

const sockets = Array.from({ length: Number(connections) }, () => connect(measured, '127.0.0.1'));
await Promise.all(sockets.map((socket) => once(socket, 'connect')));
const scrapes: Scrape[] = [];
for (let n = 0; n < SCRAPES; n++) scrapes.push(await scrape());
print(`\nGET /metrics (${(scrapes[0]?.bytes ?? 0) >> 10} KB), ms       longest block   event loop   processor`);
show('the first after the start', [first], 0.5);
show(`with ${connections} connections, median`, scrapes, 0.5);
show(`with ${connections} connections, p95`, scrapes, 0.95);
show(`with ${connections} connections, longest`, scrapes, 1);
for (const socket of sockets) socket.destroy();
for (const callers of [withMetrics, without]) callers.close();
child.disconnect();
await redis.stop();

/** Microseconds of processor time per request. */
async function costOf(callers: Callers): Promise<number> {
  const before = await tell('use');
  await callers.send(Number(requests));
  return ((await tell('use')).cpuMicroseconds - before.cpuMicroseconds) / Number(requests);
}

/**
 * Scrapes twice, because the event-loop watch keeps the loop turning and would count as work in the other figures. On a busy
 * machine, blocks include waiting for a processor.
 */
async function scrape(): Promise<Scrape> {
  const scraped = () => fetch(`http://127.0.0.1:${metrics}/metrics`).then((response) => response.text());
  await tell('watch');
  const { length: bytes } = await scraped();
  const { longestBlockMs, ...before } = await tell('use');
  await scraped();
  const after = await tell('use');
  return {
    longestBlockMs,
    loopMs: after.loopMs - before.loopMs,
    cpuMs: (after.cpuMicroseconds - before.cpuMicroseconds) / 1000,
    bytes,
  };
}

function show(name: string, scrapes: readonly Scrape[], part: number): void {
  const columns = [
    scrapes.map(({ longestBlockMs }) => longestBlockMs),
    scrapes.map(({ loopMs }) => loopMs),
    scrapes.map(({ cpuMs }) => cpuMs),
  ];
  const figures = columns.map((column) => percentile(column, part).toFixed(1).padStart(12)).join('');
  print(`  ${name.padEnd(36)}${figures}`);
}

async function tell(message: 'use' | 'watch' | 'profile' | 'profiled'): Promise<Use> {
  child.send(message);
  const [used] = await once(child, 'message');
  return used;
}
