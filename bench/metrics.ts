import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { startRedis } from '#test/support/redis.ts';
import { load } from './hit-path/load.ts';
import { describeMachine, print } from './machine.ts';

/*
 * What metrics cost: the processor time of a request that is answered from the cache, with and without them, and for how
 * long `GET /metrics` keeps the event loop. Rounds are measured in turn, with and without in changing order; the median of
 * the ratios counts. On a busy machine it is too uncertain for that; the share in a CPU profile is not.
 * `node bench/metrics.ts [rounds] [milliseconds of each measurement] [idle connections]`
 */
const [rounds = '60', milliseconds = '250', connections = '1000'] = process.argv.slice(2);
const PATH = '/v1/departures?stop=200060&limit=20';
const SCRAPES = 20;
const WARM_UP = 4;
const PROFILE_MS = 5000;

interface Use {
  cpuMicroseconds: number;
  loopMs: number;
  /** Of metrics in all processor time. */
  share?: number;
}

print(describeMachine());
const redis = await startRedis();
const child = fork(new URL('./metrics/server.ts', import.meta.url), [redis.url]);
const [{ measured, unmeasured, metrics, apiKey }] = await once(child, 'message');

// The first one, before anything is warm.
const first = await scrape();
const ratios: number[] = [];
const costs = { measured: [] as number[], unmeasured: [] as number[] };
for (let round = -WARM_UP; round < Number(rounds); round++) {
  const pair = { measured: 0, unmeasured: 0 };
  for (const kind of round % 2 === 0 ? (['measured', 'unmeasured'] as const) : (['unmeasured', 'measured'] as const)) {
    pair[kind] = await costOf(kind === 'measured' ? measured : unmeasured);
  }
  if (round < 0) continue;
  ratios.push(pair.measured / pair.unmeasured);
  costs.measured.push(pair.measured);
  costs.unmeasured.push(pair.unmeasured);
}
print(`\n${rounds} rounds of ${milliseconds} ms, CPU µs a request, medians`);
print(`  without metrics  ${quantile(costs.unmeasured, 0.5).toFixed(2)}`);
print(`  with metrics     ${quantile(costs.measured, 0.5).toFixed(2)}`);
const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => `${((quantile(ratios, part) - 1) * 100).toFixed(1)} %`);
print(`  more             ${middle} (quartiles ${low} and ${high})`);

await tell('profile');
await costOf(measured, PROFILE_MS);
print(`  by a CPU profile ${(Number((await tell('profiled')).share) * 100).toFixed(1)} % of the time with metrics`);

const sockets = Array.from({ length: Number(connections) }, () => connect(measured, '127.0.0.1'));
await Promise.all(sockets.map((socket) => once(socket, 'connect')));
const scrapes = [first];
for (let n = 0; n < SCRAPES; n++) scrapes.push(await scrape());
const later = scrapes.slice(1);
print(`\nGET /metrics (${(later[0]?.bytes ?? 0) >> 10} KB), ms       event loop   processor`);
show('the first after the start', [first], 1);
show(`with ${connections} connections, median`, later, 0.5);
show(`with ${connections} connections, longest`, later, 1);
for (const socket of sockets) socket.destroy();
child.disconnect();
await redis.stop();

/** Microseconds of processor time for one request. */
async function costOf(port: number, durationMs = Number(milliseconds)): Promise<number> {
  const before = await use();
  const request = `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`;
  const { requests } = await load({ port, connections: 16, durationMs, request });
  return ((await use()).cpuMicroseconds - before.cpuMicroseconds) / requests;
}

/** On a busy machine the event loop's time includes waiting for a processor. */
async function scrape(): Promise<Use & { bytes: number }> {
  const before = await use();
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  const after = await use();
  return {
    loopMs: after.loopMs - before.loopMs,
    cpuMicroseconds: after.cpuMicroseconds - before.cpuMicroseconds,
    bytes: text.length,
  };
}

function show(name: string, uses: readonly Use[], part: number): void {
  const [loop, processor] = [uses.map(({ loopMs }) => loopMs), uses.map((used) => used.cpuMicroseconds / 1000)];
  print(
    `  ${name.padEnd(36)}${quantile(loop, part).toFixed(1).padStart(10)}${quantile(processor, part).toFixed(1).padStart(12)}`,
  );
}

function use(): Promise<Use> {
  return tell('use');
}

async function tell(message: 'use' | 'profile' | 'profiled'): Promise<Use> {
  child.send(message);
  const [used] = await once(child, 'message');
  return used;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
}
