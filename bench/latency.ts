import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startRedis } from '#test/support/redis.ts';
import { START_OPTIONS } from '#test/support/start-options.ts';
import { besideFlood } from './floods/client.ts';
import { type OpenLoad, sendAtRate } from './latency/open-loop.ts';
import { describeMachine, hold, print } from './machine.ts';
import { median, percentile } from './percentiles.ts';

/*
 * The latency of cache hits at a constant request rate (open loop), counted from when each request was due. Then the same during
 * a flood of requests with unknown keys, as a factor to the latency directly before. Client, service, Redis and flood are
 * separate processes. Boards are requested again once they expire, as in production; upstream responds at once.
 * `node bench/latency.ts [rounds] [seconds of each measurement] [requests a second] [connections] [connections of the flood]`
 */
const [rounds = '5', seconds = '10', perSecond = '2000', connections = '200', floodConnections = '64'] =
  process.argv.slice(2);
const durationMs = Number(seconds) * 1000;
const BOARDS = 20;
const MAX_P99_MS = 10;
const MAX_FACTOR = 2;

print(describeMachine());
print(`${rounds} rounds of ${seconds} s; ${perSecond} requests a second over ${connections} connections; milliseconds`);
const redis = await startRedis();
const server = fork(new URL('./hit-path/server.ts', import.meta.url), ['service', redis.url, 'hold-refusals'], {
  execArgv: START_OPTIONS,
});
const [{ port, keys }] = await once(server, 'message');
const requests = mixRequests(keys);
await measure();

print('\n                    p50        p99      p99.9       sent late (p99)');
const quiet: number[] = [];
const factors: number[] = [];
for (let round = 0; round < Number(rounds); round++) {
  const alone = await measure();
  report('alone', alone);
  const flood = ['unknown-keys', port, keys.free[0], floodConnections] as const;
  const { beside, statuses } = await besideFlood(flood, durationMs, measure);
  report('with 401s', beside, `responses to the flood ${JSON.stringify(statuses)}`);
  quiet.push(percentile(alone.latenciesMs, 0.99));
  factors.push(percentile(beside.latenciesMs, 0.99) / percentile(alone.latenciesMs, 0.99));
}
hold(`p99 below ${MAX_P99_MS} ms (median of the rounds): ${median(quiet).toFixed(1)}`, median(quiet) < MAX_P99_MS);
hold(
  `p99 during the flood of 401s below ${MAX_FACTOR} times that without it (median of the rounds): ${median(factors).toFixed(2)}`,
  median(factors) < MAX_FACTOR,
);
server.disconnect();
await redis.stop();

/** Ten requests in turn: plain and compressed boards, some with a known ETag, and a journey. */
function mixRequests({ pro, developer, free }: Record<'pro' | 'developer' | 'free', string[]>): string[] {
  const kinds = [
    ...Array(4).fill(['board', pro, '']),
    ['board', developer, ''],
    ['board', free, ''],
    ...Array(2).fill(['board', pro, 'Accept-Encoding: zstd\r\n']),
    ['board', pro, 'If-None-Match: *\r\n'],
    ['trip', pro, 'Accept-Encoding: zstd\r\n'],
  ] as [kind: 'board' | 'trip', keys: string[], header: string][];
  return Array.from({ length: BOARDS * free.length }, (_, index) => {
    const [kind, ofPlan, header] = kinds[index % kinds.length] ?? ['board', pro, ''];
    const path =
      kind === 'trip'
        ? '/v1/trips?from=202091&to=G2095102&path=polyline'
        : `/v1/departures?stop=200060&limit=${1 + (Math.floor(index / kinds.length) % BOARDS)}`;
    const key = ofPlan[Math.floor(index / kinds.length) % ofPlan.length];
    return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${header}\r\n`;
  });
}

async function measure(): Promise<OpenLoad> {
  const load = await sendAtRate({
    port,
    connections: Number(connections),
    perSecond: Number(perSecond),
    durationMs,
    requests,
  });
  const unexpected = Object.keys(load.statuses).filter((status) => status !== '200' && status !== '304');
  if (unexpected.length > 0) throw new Error(`valid callers got ${JSON.stringify(load.statuses)}`);
  return load;
}

function report(name: string, { latenciesMs, lateMs }: OpenLoad, more = ''): void {
  const figures = [0.5, 0.99, 0.999].map((share) => percentile(latenciesMs, share).toFixed(1).padStart(11));
  print(`  ${name.padEnd(12)}${figures.join('')} ${percentile(lateMs, 0.99).toFixed(1).padStart(16)}      ${more}`);
}
