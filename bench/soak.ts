import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { START_OPTIONS } from '#test/support/start-options.ts';
import { describeMachine, hold, print } from './machine.ts';
import { startAuthority } from './soak/authority.ts';
import { send } from './soak/callers.ts';
import { createDemand } from './soak/demand.ts';

/*
 * Hours of mixed load in fast motion, and what the service holds meanwhile: requests of every operation, wrong
 * requests among them, over real connections, because sockets are what leaks; accounts in a file. The clock of the service is
 * simulated. The last half must not take more memory than the first half left, nor more handles. `kill -USR2` of the
 * service's process writes a heap snapshot.
 * `node bench/soak.ts [requests] [simulated hours] [connections]`
 */
const [requests = '5000000', hours = '2', connections = '400'] = process.argv.slice(2);
const STEPS = 10;
const MAX_GROWTH = 0.05;
const WIDTHS = [11, 12, 10, 14, 17, 11, 10, 8, 8, 9];
const MEGABYTE = 1024 * 1024;
/** Longer than idle connections to the authority are kept. */
const REST_MS = 5500;
const START = Date.parse('2026-04-15T00:00:00Z');

interface Sample {
  now: number;
  held: number;
  rss: number;
  cachedResponses: number;
  cachedBytes: number;
  cpuMs: number;
  handles: Record<string, number>;
}

/** 50,000 of five million: each request comes up about a hundred times, however short the run is. */
const distinct = Math.ceil(Number(requests) / 100);
const msPerRequest = (Number(hours) * 3_600_000) / Number(requests);
const startedAt = performance.now();
const statuses = new Map<number, number>();
let sent = 0;

print(describeMachine());
const authority = await startAuthority(() => START + sent * msPerRequest);
const child = fork(
  new URL('./soak/server.ts', import.meta.url),
  [authority.url, new Date(START).toISOString(), String(msPerRequest)],
  { execArgv: [...START_OPTIONS, '--expose-gc', '--heapsnapshot-signal=SIGUSR2'] },
);
const [{ port, keys }] = await once(child, 'message');
const demand = createDemand(keys, distinct);
const next = () => {
  sent++;
  return demand();
};

print(`${requests} requests in ${hours} simulated hours, ${distinct} different ones, ${connections} connections\n`);
print('   requests   simulated   MB held   MB resident   responses kept   their MB   handles   calls   CPU s   real s');
const samples: Sample[] = [];
for (let step = 0; step < STEPS; step++) {
  const count = Math.ceil(Number(requests) / STEPS);
  await send({ port, connections: Number(connections), count, next, statuses });
  await wait(REST_MS);
  samples.push(await sample());
}
print(`\nanswers by status: ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}`);

const [half, end] = [samples[STEPS / 2 - 1], samples.at(-1)] as [Sample, Sample];
const growth = (end.held - half.held) / half.held;
hold(`memory grows by ${(growth * 100).toFixed(1)} % in the last half, less than 5 %`, growth < MAX_GROWTH);
hold(`handles do not grow: ${describe(half)} → ${describe(end)}`, countHandles(end) <= countHandles(half));
hold('no request fails for a fault of ours', !statuses.has(500));
child.disconnect();
await authority.close();

async function sample(): Promise<Sample> {
  child.send('sample');
  const [taken] = (await once(child, 'message')) as [Sample];
  const { held, rss, cachedResponses, cachedBytes, cpuMs } = taken;
  const figures = [
    sent,
    `${((taken.now - START) / 60_000).toFixed(0)} min`,
    (held / MEGABYTE).toFixed(1),
    (rss / MEGABYTE).toFixed(0),
    cachedResponses,
    (cachedBytes / MEGABYTE).toFixed(1),
    countHandles(taken),
    authority.requests.length,
    (cpuMs / 1000).toFixed(0),
    ((performance.now() - startedAt) / 1000).toFixed(0),
  ];
  print(figures.map((figure, index) => String(figure).padStart(WIDTHS[index] ?? 0)).join(''));
  return taken;
}

function countHandles({ handles }: Sample): number {
  return Object.values(handles).reduce((sum, count) => sum + count, 0);
}

function describe({ handles }: Sample): string {
  return Object.entries(handles)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
