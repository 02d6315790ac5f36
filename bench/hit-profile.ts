import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { startRedis } from '#test/support/redis.ts';
import { START_OPTIONS } from '#test/support/start-options.ts';
import { load } from './hit-path/load.ts';
import type { Shares } from './hit-path/rooms.ts';
import { describeMachine, print } from './machine.ts';
import { OTHERS, runOnProcessor, SERVERS } from './processors.ts';

/*
 * Shows where the processor time of a cache hit goes, in microseconds per request: bare Fastify with the same body and headers, a
 * Pro key and Free keys, with accounts in Redis. A CPU profile gives the shares, the processor time of the same seconds the sum;
 * profiling makes both slightly higher.
 * `node bench/hit-profile.ts [seconds]`
 */
const [seconds = '5'] = process.argv.slice(2);
const CONNECTIONS = 40;
const WARM_UP_SECONDS = 4;
/** Smaller shares are added up. */
const SMALLEST_MICROSECONDS = 0.25;
const BOARD = '/v1/departures?stop=200060&limit=20';

print(describeMachine());
runOnProcessor(OTHERS);
const redis = await startRedis();
runOnProcessor(SERVERS);
const service = await start('service', redis.url);
const answer = await fetchBoard();
const bare = await start('bare', String(answer.bytes), JSON.stringify(answer.headers));
runOnProcessor(OTHERS);
const columns = {
  bare: await profile(bare, service.keys.pro.map(get)),
  pro: await profile(service, service.keys.pro.map(get)),
  free: await profile(service, service.keys.free.map(get)),
};

const rooms = new Set(Object.values(columns).flatMap((column) => Object.keys(column)));
const costs = Object.values(columns);
const large = [...rooms].filter((room) => costs.some((column) => (column[room] ?? 0) >= SMALLEST_MICROSECONDS));
large.sort((one, other) => (columns.pro[other] ?? 0) - (columns.pro[one] ?? 0));
print(
  `\n${' '.repeat(34)}${Object.keys(columns)
    .map((name) => name.padStart(8))
    .join('')}`,
);
for (const room of large) print(row(room, (column) => column[room] ?? 0));
print(row('others', (column) => sum(column) - large.reduce((known, room) => known + (column[room] ?? 0), 0)));
print(row('all', sum));

for (const { child } of [bare, service]) child.disconnect();
await redis.stop();

async function profile({ child, port }: Server, request: string[]): Promise<Shares> {
  await load({ port, connections: CONNECTIONS, seconds: WARM_UP_SECONDS, request });
  const before = await tell(child, 'profile');
  const responses = await load({ port, connections: CONNECTIONS, seconds: Number(seconds), request });
  const { cpuMicroseconds, shares } = await tell(child, 'stop');
  const cost = (cpuMicroseconds - before.cpuMicroseconds) / responses;
  return Object.fromEntries(Object.entries(shares ?? {}).map(([room, share]) => [room, share * cost]));
}

async function tell(child: ChildProcess, message: string): Promise<{ cpuMicroseconds: number; shares: Shares | null }> {
  child.send(message);
  const [state] = await once(child, 'message');
  return state;
}

interface Server {
  child: ChildProcess;
  port: number;
  keys: { pro: string[]; free: string[] };
}

async function start(...options: string[]): Promise<Server> {
  const child = fork(new URL('./hit-path/server.ts', import.meta.url), options, { execArgv: START_OPTIONS });
  const [{ port, keys }] = await once(child, 'message');
  return { child, port, keys };
}

async function fetchBoard() {
  const headers = { authorization: `Bearer ${service.keys.pro[0]}`, 'accept-encoding': 'identity' };
  const url = `http://127.0.0.1:${service.port}${BOARD}`;
  await (await fetch(url, { headers })).arrayBuffer();
  const response = await fetch(url, { headers });
  const { connection, date, ...others } = Object.fromEntries(response.headers);
  delete others['keep-alive'];
  delete others['content-length'];
  return { bytes: (await response.arrayBuffer()).byteLength, headers: others };
}

function get(key: string): string {
  return [`GET ${BOARD} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`, '', ''].join('\r\n');
}

function row(name: string, cost: (column: Shares) => number): string {
  return `  ${name.padEnd(32)}${costs.map((column) => cost(column).toFixed(1).padStart(8)).join('')}`;
}

function sum(column: Shares): number {
  return Object.values(column).reduce((all, cost) => all + cost, 0);
}
