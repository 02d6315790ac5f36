import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { startRedis } from '#test/support/redis.ts';
import { load } from './hit-path/load.ts';
import { describeMachine, print } from './machine.ts';

/*
 * The cost of a request that is answered from the cache: processor time of the server per request, as a ratio to Fastify
 * sending a Buffer of the same size in the same run. Rounds are measured in turn; the median of the rounds counts.
 * `node bench/hit-path.ts [rounds] [seconds of each measurement]`
 */
const [rounds = '6', seconds = '2'] = process.argv.slice(2);
const CONNECTIONS = 32;
const PATH = '/v1/departures?stop=200060&limit=20';
const FORMS = {
  'as it is': '',
  zstd: 'Accept-Encoding: zstd\r\n',
  '304': 'If-None-Match: *\r\n',
};

interface Server {
  port: number;
  /** Of an unlimited plan; none for the bare server. */
  apiKey: string;
  child: ChildProcess;
}

print(describeMachine());
const redis = await startRedis();
const withRedis = await start('service', redis.url);
const service = await start('service');
const bodyBytes = await sizeOfBody(service);
const bare = await start('bare', String(bodyBytes));
print(`rounds: ${rounds} of ${seconds} s each; ${CONNECTIONS} connections; body of ${bodyBytes} bytes\n`);

const results: Record<string, { cost: number; ratio: number }[]> = {};
for (const server of [bare, service, withRedis]) await measure(server, '');
for (let round = 0; round < Number(rounds); round++) {
  const bareCost = await measure(bare, '');
  note('bare Fastify', bareCost, bareCost);
  for (const [form, header] of Object.entries(FORMS)) {
    note(`${form}, accounts in Redis`, await measure(withRedis, header), bareCost);
    note(`${form}, accounts in a file`, await measure(service, header), bareCost);
  }
}
print('                                  CPU µs/request    ratio to bare Fastify (range)');
for (const [name, measured] of Object.entries(results)) {
  const costs = sorted(measured.map(({ cost }) => cost));
  const ratios = sorted(measured.map(({ ratio }) => ratio));
  const range = `(${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)})`;
  print(
    `  ${name.padEnd(32)} ${median(costs).toFixed(1).padStart(10)} ${median(ratios).toFixed(2).padStart(18)} ${range}`,
  );
}
for (const { child } of [bare, service, withRedis]) child.disconnect();
await redis.stop();

function note(name: string, cost: number, bareCost: number): void {
  results[name] = [...(results[name] ?? []), { cost, ratio: bareCost / cost }];
}

async function start(...options: string[]): Promise<Server> {
  const child = fork(new URL('./hit-path/server.ts', import.meta.url), options);
  const [{ port, apiKey }] = await once(child, 'message');
  return { child, port, apiKey };
}

/** Microseconds of the server's processor time for one request. */
async function measure({ port, child, apiKey }: Server, header: string): Promise<number> {
  const before = await cpuOf(child);
  const { requests } = await load({
    port,
    connections: CONNECTIONS,
    durationMs: Number(seconds) * 1000,
    request: get(header, apiKey),
  });
  return ((await cpuOf(child)) - before) / requests;
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu');
  const [{ cpuMicroseconds }] = await once(child, 'message');
  return cpuMicroseconds;
}

async function sizeOfBody({ port, apiKey }: Server): Promise<number> {
  const headers = { 'accept-encoding': 'identity', authorization: `Bearer ${apiKey}` };
  const response = await fetch(`http://127.0.0.1:${port}${PATH}`, { headers });
  return (await response.arrayBuffer()).byteLength;
}

function get(header: string, apiKey: string): string {
  return `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n${header}\r\n`;
}

function sorted(values: number[]): number[] {
  return values.sort((one, other) => one - other);
}

function median(values: readonly number[]): number {
  return values[Math.floor(values.length / 2)] ?? Number.NaN;
}
