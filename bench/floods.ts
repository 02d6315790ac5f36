import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepAsking } from './floods/client.ts';
import { describeMachine, print } from './machine.ts';

/*
 * A valid Pro client alone, and beside floods of another client. Server, flood and Pro client are a process each.
 * `node bench/floods.ts [seconds of each measurement] [connections of the Pro client] [connections of a flood]`
 */
const [seconds = '10', connections = '16', floodConnections = '16'] = process.argv.slice(2);
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

print(describeMachine());
print(`${seconds} s each; Pro client: ${connections} connections, flood: ${floodConnections} connections\n`);
const server = fork(new URL('./hit-path/server.ts', import.meta.url), ['service']);
const [{ port, apiKey, freeKey }] = await once(server, 'message');

await measure();
const alone = await measure();
print(`alone: ${describe(alone)}`);
for (const [name, description] of Object.entries(FLOODS)) {
  const args = [name, port, freeKey, floodConnections, durationMs + 2 * HEAD_START_MS].map(String);
  const flood = fork(new URL('./floods/flood.ts', import.meta.url), args);
  await once(flood, 'message');
  const report = once(flood, 'message');
  await sleep(HEAD_START_MS);
  const beside = await measure();
  const [statuses] = await report;
  print(`\nbeside ${description}: ${describe(beside)}`);
  print(`  the flood was answered ${JSON.stringify(statuses)}`);
  hold('the Pro client keeps half of its throughput', beside.perSecond >= alone.perSecond / 2);
  hold('its p99 is below five times the quiet one', beside.p99Ms < 5 * alone.p99Ms);
}
server.disconnect();

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

function describe({ perSecond, p99Ms }: Figures): string {
  return `${perSecond.toFixed(0)} requests a second, p99 ${p99Ms.toFixed(1)} ms`;
}

function hold(claim: string, holds: boolean): void {
  print(`  ${holds ? 'holds' : 'BROKEN'}: ${claim}`);
  if (!holds) process.exitCode = 1;
}
