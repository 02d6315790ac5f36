import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { START_OPTIONS } from '#test/support/start-options.ts';
import { keepAsking } from './floods/client.ts';
import { describeMachine, print } from './machine.ts';

/*
 * A valid Pro client alone, and beside floods of another client. Server, flood and Pro client are a process each. Each
 * round measures the Pro client alone and then beside the flood, because other work on the machine changes with time; the
 * median of the rounds counts.
 * `node bench/floods.ts [seconds of each measurement] [rounds] [connections of the Pro client] [connections of a flood]`
 */
const [seconds = '5', rounds = '5', connections = '16', floodConnections = '16'] = process.argv.slice(2);
const FLOODS = {
  'unknown-keys': 'well-formed keys that are unknown',
  'any-etag': 'a Free key, If-None-Match: * and an unknown parameter that changes',
  'long-authorization': 'Authorization headers of 15 KB',
};
/** The flood lasts so much longer than the measurement, before and after it. */
const HEAD_START_MS = 500;
const durationMs = Number(seconds) * 1000;

interface Figures {
  perSecond: number;
  p99Ms: number;
}

interface Round {
  alone: Figures;
  beside: Figures;
  /** The answers to the flood, by status. */
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
  print(`\nbeside ${description}`);
  const measured: Round[] = [];
  for (let round = 0; round < Number(rounds); round++) {
    measured.push(await measureRound(name));
    print(`  ${describe(measured.at(-1) as Round)}`);
  }
  const kept = median(measured.map(({ alone, beside }) => beside.perSecond / alone.perSecond));
  const slower = median(measured.map(({ alone, beside }) => beside.p99Ms / alone.p99Ms));
  hold(`the Pro client keeps half of its throughput: ${(100 * kept).toFixed(0)} %`, kept >= 0.5);
  hold(`its p99 is below five times the quiet one: ${slower.toFixed(1)} times`, slower < 5);
}
server.disconnect();

async function measureRound(name: string): Promise<Round> {
  const alone = await measure();
  const args = [name, port, freeKey, floodConnections, durationMs + 2 * HEAD_START_MS].map(String);
  const flood = fork(new URL('./floods/flood.ts', import.meta.url), args);
  await once(flood, 'message');
  const report = once(flood, 'message');
  await sleep(HEAD_START_MS);
  const beside = await measure();
  const [statuses] = await report;
  return { alone, beside, statuses };
}

async function measure(): Promise<Figures> {
  const request = `GET /v1/departures?stop=200060&limit=20 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`;
  const { latenciesMs, statuses } = await keepAsking({
    port,
    connections: Number(connections),
    durationMs,
    request: () => request,
  });
  const unexpected = Object.keys(statuses).filter((status) => status !== '200');
  if (unexpected.length > 0) throw new Error(`the Pro client was answered ${unexpected.join(', ')}`);
  const sorted = latenciesMs.sort((one, other) => one - other);
  const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
  return { perSecond: sorted.length / Number(seconds), p99Ms };
}

function describe({ alone, beside, statuses }: Round): string {
  const [before, after] = [alone, beside].map(
    ({ perSecond, p99Ms }) => `${perSecond.toFixed(0)}/s, p99 ${p99Ms.toFixed(1)} ms`,
  );
  return `alone ${before}; beside ${after}; the flood was answered ${JSON.stringify(statuses)}`;
}

function median(values: number[]): number {
  return values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function hold(claim: string, holds: boolean): void {
  print(`  ${holds ? 'holds' : 'BROKEN'}: ${claim}`);
  if (!holds) process.exitCode = 1;
}
