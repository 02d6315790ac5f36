import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { startRedis } from '#test/support/redis.ts';
import { START_OPTIONS } from '#test/support/start-options.ts';
import { load } from './hit-path/load.ts';
import { startHafas, startNginx } from './hit-path/peers.ts';
import { describeMachine, print } from './machine.ts';
import { median } from './percentiles.ts';
import { OTHERS, runOnProcessor, SERVERS } from './processors.ts';

/*
 * The cost of a cache hit: processor time of the server per request, as a ratio to Fastify sending a Buffer of the same size with
 * the same headers. Directly before each measurement, bare Fastify receives the same requests; the median of the rounds counts.
 * The ratio of the least costs of all rounds is shown too, because other load on the machine can only add to a cost. The service
 * runs as in production with its log, metrics and limits. The measured servers have one processor, Redis and the client the other
 * one.
 * `node bench/hit-path.ts [rounds] [seconds of each measurement]`
 */
const [rounds = '6', seconds = '1'] = process.argv.slice(2);
const CONNECTIONS = 40;
/** V8 needs this long to compile the hot code. After a shorter warm-up, requests cost up to twice as much. */
const WARM_UP_SECONDS = 4;
const BOARD = '/v1/departures?stop=200060&limit=20';
const TRIP = '/v1/trips?from=202091&to=G2095102';
const HEADERS_OF_CONNECTION = ['connection', 'keep-alive', 'content-length', 'date', 'transfer-encoding'];

type Keys = Record<'pro' | 'developer' | 'free' | 'usedUp' | 'unknown', string[]>;

interface Measured {
  name: string;
  server: { port: number; cpu(): Promise<number> };
  request: string | readonly string[];
  status: number;
  /** The server to compare with; by default Fastify sending the board. */
  baseline?: Server;
}

print(describeMachine());
runOnProcessor(OTHERS);
const redis = await startRedis();
runOnProcessor(SERVERS);
const services = { Redis: await start('service', redis.url), 'a file': await start('service') };
const [board, trip] = [await fetchFrom(services.Redis, BOARD), await fetchFrom(services.Redis, TRIP)];
const [bare, bareTrip] = [await startBare(board), await startBare(trip)];
const nginx = await startNginx(bare.port);
const hafas = await startHafas({ departures: JSON.parse(board.body).departures, realtimeDataUpdatedAt: 0 });
runOnProcessor(OTHERS);
for (const service of Object.values(services)) await useUp(service);

const all = [
  ...Object.entries(services).flatMap(([store, service]) => formsOf(service, `accounts in ${store}`)),
  measured(
    'nginx with proxy_cache, no key',
    { port: nginx.port, cpu: async () => nginx.cpuMicroseconds() },
    get(BOARD),
  ),
  ...(hafas
    ? [
        measured(
          'hafas-rest-api, stub client, no key',
          { port: hafas.port, cpu: async () => hafas.cpuMicroseconds() },
          get('/stops/200060/departures?pretty=false'),
        ),
      ]
    : []),
];
print(
  `rounds: ${rounds} of ${seconds} s each; ${CONNECTIONS} connections; a board of ${board.body.length} bytes, a trip of ${trip.body.length}\n`,
);
for (const one of all) await costOf(one, WARM_UP_SECONDS);
for (const server of [bare, bareTrip]) await costOf(measured('', server, get(BOARD)), WARM_UP_SECONDS);

const results = new Map<string, { cost: number; ratio: number; bare: number }[]>();
for (let round = 0; round < Number(rounds); round++) {
  for (const one of all) {
    const bareCost = await costOf({ ...one, server: one.baseline ?? bare, status: 200 });
    note(one.baseline ? 'bare Fastify, trip' : 'bare Fastify, board', bareCost, bareCost);
    note(one.name, await costOf(one), bareCost);
  }
}
print(`${' '.repeat(46)}CPU µs/request   least   of bare Fastify (range)   ratio of the least`);
for (const [name, values] of results) {
  const costs = sorted(values.map(({ cost }) => cost));
  const ratios = sorted(values.map(({ ratio }) => ratio));
  const range = `${median(ratios).toFixed(2)} (${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)})`;
  const [least = Number.NaN] = costs;
  const leastBare = Math.min(...values.map(({ bare }) => bare));
  const columns = [median(costs).toFixed(1).padStart(13), least.toFixed(1).padStart(8), range.padStart(26)];
  print(`  ${name.padEnd(44)} ${columns.join('')} ${(leastBare / least).toFixed(2).padStart(19)}`);
}
if (!hafas) print('  hafas-rest-api was not measured: the npm registry could not be reached.');
for (const { child } of [bare, bareTrip, ...Object.values(services)]) child.disconnect();
nginx.stop();
hafas?.stop();
await redis.stop();

function formsOf(service: Server, where: string): Measured[] {
  const { pro, developer, free, usedUp, unknown } = service.keys;
  const form = (name: string, request: string | readonly string[], status = 200) =>
    measured(`${name}, ${where}`, service, request, status);
  return [
    form('board, Pro', requests(BOARD, pro)),
    form('board, Developer', requests(BOARD, developer)),
    form('board, Free', requests(BOARD, free)),
    form('board, Pro, zstd', requests(BOARD, pro, 'Accept-Encoding: zstd')),
    form('board, Pro, 304', requests(BOARD, pro, 'If-None-Match: *'), 304),
    { ...form('trip, Pro', requests(TRIP, pro)), baseline: bareTrip },
    { ...form('trip, Pro, br', requests(TRIP, pro, 'Accept-Encoding: br')), baseline: bareTrip },
    { ...form('trip, Pro, zstd', requests(TRIP, pro, 'Accept-Encoding: zstd')), baseline: bareTrip },
    form('401', requests(BOARD, unknown), 401),
    form('429, used up', requests(BOARD, usedUp), 429),
  ];
}

function measured(name: string, server: Measured['server'], request: Measured['request'], status = 200): Measured {
  return { name, server, request, status };
}

function note(name: string, cost: number, bareCost: number): void {
  results.set(name, [...(results.get(name) ?? []), { cost, ratio: bareCost / cost, bare: bareCost }]);
}

/** Microseconds of the server's processor time per request. */
async function costOf({ server, request, status }: Measured, forSeconds = Number(seconds)): Promise<number> {
  const before = await server.cpu();
  const { port } = server;
  const responses = await load({ port, connections: CONNECTIONS, seconds: forSeconds, request, status });
  return ((await server.cpu()) - before) / responses;
}

interface Server {
  port: number;
  keys: Keys;
  child: ChildProcess;
  cpu(): Promise<number>;
}

function startBare({ body, headers }: { body: string; headers: object }): Promise<Server> {
  return start('bare', String(body.length), JSON.stringify(headers));
}

async function start(...options: string[]): Promise<Server> {
  const child = fork(new URL('./hit-path/server.ts', import.meta.url), options, { execArgv: START_OPTIONS });
  const [{ port, keys }] = await once(child, 'message');
  const cpu = async () => {
    child.send('cpu');
    const [{ cpuMicroseconds }] = await once(child, 'message');
    return cpuMicroseconds;
  };
  return { child, port, keys, cpu };
}

async function fetchFrom({ port, keys }: Server, path: string) {
  const authorization = `Bearer ${keys.pro[0]}`;
  const url = `http://127.0.0.1:${port}${path}`;
  // The second response comes from the cache, like the measured ones.
  await fetch(url, { headers: { authorization } });
  const response = await fetch(url, { headers: { authorization, 'accept-encoding': 'identity' } });
  const headers = [...response.headers].filter(([name]) => !HEADERS_OF_CONNECTION.includes(name));
  return { body: await response.text(), headers: Object.fromEntries(headers) };
}

async function useUp({ port, keys }: Server): Promise<void> {
  const headers = { authorization: `Bearer ${keys.usedUp[0]}` };
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}${BOARD}`, { headers });
    await response.arrayBuffer();
    if (response.status === 429) return;
  }
}

function requests(path: string, keys: readonly string[], ...headers: string[]): string[] {
  return keys.map((key) => get(path, `Authorization: Bearer ${key}`, ...headers));
}

function get(path: string, ...headers: string[]): string {
  return [`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');
}

function sorted(values: number[]): number[] {
  return values.sort((one, other) => one - other);
}
