import { fork } from 'node:child_process';
import { once } from 'node:events';
import { START_OPTIONS } from '#test/support/start-options.ts';
import { besideFlood, keepSending } from './floods/client.ts';
import { describeMachine, hold, print } from './machine.ts';
import { median, percentile } from './percentiles.ts';

/*
 * A valid Pro client alone, and during floods by another client. Server, flood and Pro client are separate processes. Each round
 * measures the Pro client alone and then during the flood, because other load on the machine varies; the median of the rounds
 * counts.
 * `node bench/floods.ts [seconds of each measurement] [rounds] [connections of the Pro client] [connections of a flood]`
 * Floods of pages have 900 connections each, the maximum per address.
 */
const [seconds = '5', rounds = '5', connections = '16', floodConnections = '16'] = process.argv.slice(2);
const FLOODS = {
  'unknown-keys': 'well-formed keys that are unknown',
  'any-etag': 'a Free key, If-None-Match: * and an unknown parameter that changes',
  'long-authorization': 'Authorization headers of 15 KB',
  pages: 'pages without a key, over 900 connections',
  openapi: '/openapi.json, over 900 connections',
};
const PAGE_CONNECTIONS = 900;
const durationMs = Number(seconds) * 1000;

interface Figures {
  perSecond: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
}

interface Round {
  alone: Figures;
  beside: Figures;
  /** The responses to the flood, by status. */
  statuses: Record<string, number>;
}

print(describeMachine());
print(`${rounds} × ${seconds} s; Pro client: ${connections} connections, flood: ${floodConnections} connections`);
const server = fork(
  new URL('./hit-path/server.ts', import.meta.url),
  ['service', '', 'hold-refusals', 'usual-limits'],
  { execArgv: START_OPTIONS },
);
const [{ port, keys }] = await once(server, 'message');
const [apiKey, freeKey] = [keys.pro[0], keys.free[0]];

await measure();
for (const [name, description] of Object.entries(FLOODS)) {
  print(`\nduring ${description}`);
  const measured: Round[] = [];
  for (let round = 0; round < Number(rounds); round++) {
    measured.push(await measureRound(name));
    print(`  ${describe(measured.at(-1) as Round)}`);
  }
  const typical = median(measured.map(({ alone, beside }) => beside.p50Ms / alone.p50Ms));
  hold(`p50 is at most three times that without the flood: ${typical.toFixed(1)} times`, typical <= 3);
  if (isOfPages(name)) continue;
  const kept = median(measured.map(({ alone, beside }) => beside.perSecond / alone.perSecond));
  const slower = median(measured.map(({ alone, beside }) => beside.p99Ms / alone.p99Ms));
  hold(`the Pro client keeps 80 % of its throughput: ${(100 * kept).toFixed(0)} %`, kept >= 0.8);
  hold(`p99 is below five times that without the flood: ${slower.toFixed(1)} times`, slower < 5);
}
server.disconnect();

async function measureRound(name: string): Promise<Round> {
  const alone = await measure();
  const wide = isOfPages(name) ? PAGE_CONNECTIONS : floodConnections;
  return { alone, ...(await besideFlood([name, port, freeKey, wide], durationMs, measure)) };
}

function isOfPages(name: string): boolean {
  return name === 'pages' || name === 'openapi';
}

async function measure(): Promise<Figures> {
  const request = `GET /v1/departures?stop=200060&limit=20 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`;
  const { latenciesMs, statuses } = await keepSending({
    port,
    connections: Number(connections),
    durationMs,
    request: () => request,
  });
  const unexpected = Object.keys(statuses).filter((status) => status !== '200');
  if (unexpected.length > 0) throw new Error(`the Pro client got ${unexpected.join(', ')}`);
  const [p50Ms = 0, p95Ms = 0, p99Ms = 0] = [0.5, 0.95, 0.99].map((share) => percentile(latenciesMs, share));
  return { perSecond: latenciesMs.length / Number(seconds), p50Ms, p95Ms, p99Ms };
}

function describe({ alone, beside, statuses }: Round): string {
  const [before, after] = [alone, beside].map(
    ({ perSecond, p50Ms, p95Ms, p99Ms }) =>
      `${perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(1)}, p95 ${p95Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms`,
  );
  return `alone ${before}; during the flood ${after}; responses to the flood ${JSON.stringify(statuses)}`;
}
