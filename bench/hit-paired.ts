import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { startRedis } from '#test/support/redis.ts';
import { load } from './hit-path/load.ts';
import { describeMachine, print } from './machine.ts';
import { median } from './percentiles.ts';
import { OTHERS, runOnProcessor, SERVERS } from './processors.ts';

/*
 * The cost of a cache hit in this checkout and in an older one, in turns: processor time of the server per request, with accounts
 * in Redis and in a file. `OLD` is a checkout with its packages; each server is that of its checkout, with the options of its
 * `npm start`.
 * `node bench/hit-paired.ts OLD [rounds] [seconds of each measurement]`
 */
const [old = '', rounds = '10', seconds = '1'] = process.argv.slice(2);
const CONNECTIONS = 40;
const WARM_UP_SECONDS = 2;
const BOARD = '/v1/departures?stop=200060&limit=20';
const PLANS = ['pro', 'developer', 'free'] as const;

interface Server {
  child: ChildProcess;
  port: number;
  keys: Record<(typeof PLANS)[number], string[]>;
}

print(describeMachine());
runOnProcessor(OTHERS);
const redis = await startRedis();
runOnProcessor(SERVERS);
const checkouts = [resolve(old), resolve(import.meta.dirname, '..')];
const stores = { Redis: [redis.url], 'a file': [] };
const pairs: { name: string; servers: Server[]; plan: (typeof PLANS)[number]; costs: [number, number][] }[] = [];
for (const [store, options] of Object.entries(stores)) {
  const servers: Server[] = [];
  for (const checkout of checkouts) servers.push(await start(checkout, options));
  for (const plan of PLANS) pairs.push({ name: `${plan}, accounts in ${store}`, servers, plan, costs: [] });
}
runOnProcessor(OTHERS);
for (const { servers, plan } of pairs) for (const server of servers) await costOf(server, plan, WARM_UP_SECONDS);
for (let round = 0; round < Number(rounds); round++) {
  for (const { servers, plan, costs } of pairs) {
    const both = new Map<Server, number>();
    // Each one is first in every other round.
    for (const server of round % 2 === 0 ? servers : servers.toReversed())
      both.set(server, await costOf(server, plan, Number(seconds)));
    const [before = Number.NaN, now = Number.NaN] = servers.map((server) => both.get(server));
    costs.push([before, now]);
  }
}
print(`${' '.repeat(34)}least µs before     now   ratio   median of ratios`);
for (const { name, costs } of pairs) {
  const before = Math.min(...costs.map(([cost]) => cost));
  const now = Math.min(...costs.map(([, cost]) => cost));
  const ratios = costs.map(([cost, other]) => other / cost).sort((one, other) => one - other);
  const columns = [before.toFixed(1).padStart(15), now.toFixed(1).padStart(8), (now / before).toFixed(2).padStart(8)];
  print(`  ${name.padEnd(32)}${columns.join('')}${median(ratios).toFixed(2).padStart(19)}`);
}
for (const server of new Set(pairs.flatMap(({ servers }) => servers))) server.child.disconnect();
await redis.stop();

async function start(checkout: string, options: string[]): Promise<Server> {
  const server = `${checkout}/bench/hit-path/server.ts`;
  const { START_OPTIONS } = await import(`${checkout}/test/support/start-options.ts`);
  const child = fork(server, ['service', ...options], { execArgv: START_OPTIONS, cwd: checkout });
  const [{ port, keys }] = await once(child, 'message');
  return { child, port, keys };
}

/** Microseconds of processor time per request. */
async function costOf(server: Server, plan: (typeof PLANS)[number], forSeconds: number): Promise<number> {
  const request = server.keys[plan].map((key) =>
    [`GET ${BOARD} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`, '', ''].join('\r\n'),
  );
  const before = await processorTime(server);
  const responses = await load({ port: server.port, connections: CONNECTIONS, seconds: forSeconds, request });
  return ((await processorTime(server)) - before) / responses;
}

async function processorTime({ child }: Server): Promise<number> {
  child.send('cpu');
  const [{ cpuMicroseconds }] = await once(child, 'message');
  return cpuMicroseconds;
}
