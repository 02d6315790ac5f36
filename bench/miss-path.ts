import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import { departuresOperation } from '#src/operations/departures/operation.ts';
import { createTripsOperation } from '#src/operations/trips/operation.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { START_OPTIONS } from '#test/support/start-options.ts';
import { describeMachine, hold, print } from './machine.ts';
import { keepInFlight, type Load, sendAtRate } from './miss-path/load.ts';
import { makeBoard, makeTrip } from './miss-path/responses.ts';
import { readWholeBoard, readWholeTrip, type StageTimes, timeStages } from './miss-path/stages.ts';
import { median, percentile } from './percentiles.ts';
import { giveAllProcessors, OTHERS, runOnProcessor, SERVERS } from './processors.ts';

/*
 * Measures what the service adds to an upstream call, with every request new and the call budget unlimited. Client, service and
 * upstream are separate processes; the service has one processor, or both while trips are watched. Each round measures bare
 * undici calling upstream itself, and directly afterwards the service; the client parses both responses. The service is measured
 * once V8 has compiled its code, after a thousand boards. Then come the processor time of each stage of a response, and how long
 * one trip blocks the event loop of the service.
 * `node bench/miss-path.ts [rounds] [milliseconds of each measurement] [trips]`
 */
const [rounds = '6', milliseconds = '2000', trips = '200'] = process.argv.slice(2);
const UPSTREAM_MS = 50;
const IN_FLIGHT = [5, 50];
/** Upstream's limit per key. */
const CALLS_PER_SECOND = 5;
const WARM_UP_BOARDS = 1000;
const BOARD_BYTES = 145_000;
const TRIP_BYTES = 800_000;
const STAGES = ['parse', 'validate', 'map', 'pack', 'render'] as const satisfies (keyof StageTimes)[];
const DAY_MINUTES = 1440;
const MAX_BLOCK_MS = 10;
const MAX_ADDED_MS = 3;

interface State {
  cpuMicroseconds: number;
  longestBlockMs: number;
}

print(describeMachine());
runOnProcessor(OTHERS);
const upstream = start('upstream', UPSTREAM_MS, BOARD_BYTES, TRIP_BYTES);
const [{ url }] = await once(upstream, 'message');
runOnProcessor(SERVERS);
const server = start('server', url);
const [{ port, apiKey }] = await once(server, 'message');
runOnProcessor(OTHERS);
const { origin, pathname } = new URL(url);
const bare = new Pool(origin, { connections: Math.max(...IN_FLIGHT) });
const service = new Pool(`http://127.0.0.1:${port}`, { connections: Math.max(...IN_FLIGHT) });
const headers = { authorization: `Bearer ${apiKey}` };
let requests = 0;

print(`upstream responds after ${UPSTREAM_MS} ms; ${rounds} rounds of ${milliseconds} ms; milliseconds`);
print(
  '\n  load            bare p50, p99     service p50, p99       added p50 (range), p99   CPU of the service per request',
);
await warmUp();
for (const inFlight of IN_FLIGHT) {
  const added = await compare(`${inFlight} in flight`, keepInFlight(inFlight, UPSTREAM_MS));
  if (inFlight === 5)
    hold(`the service adds less than ${MAX_ADDED_MS} ms with 5 requests in flight`, added < MAX_ADDED_MS);
}
await compare(`${CALLS_PER_SECOND} a second`, sendAtRate(CALLS_PER_SECOND));

print('\nprocessor time of the main thread for one response, in milliseconds');
print(`                  ${STAGES.map((stage) => stage.padStart(10)).join('')}     total`);
const board = Buffer.from(makeBoard(BOARD_BYTES, new Date()));
const trip = Buffer.from(makeTrip(TRIP_BYTES));
const boardQuery = departuresOperation.query.parse({ stop: '200020', modes: 'all', limit: '20' });
const tripsOperation = createTripsOperation({ stops: new StopRegister(noStops) });
const tripQuery = tripsOperation.query.parse({ from: '202091', to: 'G2095102' });
printStages(
  'board',
  board,
  await timeStages(board, readWholeBoard, (context) => departuresOperation.handle(boardQuery, context)),
);
printStages(
  'trip',
  trip,
  await timeStages(trip, readWholeTrip, (context) => tripsOperation.handle(tripQuery, context)),
);

await watchTrips();
await Promise.all([bare.close(), service.close()]);
server.disconnect();
upstream.disconnect();

async function warmUp(): Promise<void> {
  const sendSome = async () => {
    while (requests < WARM_UP_BOARDS) await requestService();
  };
  await Promise.all(Array.from({ length: 5 }, sendSome));
}

/** Returns the median of the added milliseconds. */
async function compare(name: string, load: Load): Promise<number> {
  const measure = (sendOnce: () => Promise<unknown>) => load(sendOnce, Number(milliseconds));
  const figures = { bare: [] as number[], service: [] as number[], added: [] as number[], cpuMs: [] as number[] };
  await Promise.all([measure(requestUpstream), measure(requestService)]);
  for (let round = 0; round < Number(rounds); round++) {
    const alone = await measure(requestUpstream);
    const before = await stateOf(server);
    const behind = await measure(requestService);
    const after = await stateOf(server);
    figures.bare.push(...alone);
    figures.service.push(...behind);
    figures.added.push(median(behind) - median(alone));
    figures.cpuMs.push((after.cpuMicroseconds - before.cpuMicroseconds) / 1000 / behind.length);
  }
  const p99 = [percentile(figures.bare, 0.99), percentile(figures.service, 0.99)] as const;
  const range = `(${Math.min(...figures.added).toFixed(1)} to ${Math.max(...figures.added).toFixed(1)})`;
  const columns = [
    `${median(figures.bare).toFixed(1)}, ${p99[0].toFixed(1)}`.padStart(21),
    `${median(figures.service).toFixed(1)}, ${p99[1].toFixed(1)}`.padStart(19),
    `${median(figures.added).toFixed(1)} ${range}, ${(p99[1] - p99[0]).toFixed(1)}`.padStart(30),
    median(figures.cpuMs).toFixed(1).padStart(10),
  ];
  print(name.padStart(14) + columns.join('  '));
  return median(figures.added);
}

async function requestUpstream(): Promise<unknown> {
  const { body } = await bare.request({ method: 'GET', path: `${pathname}/departure_mon?name_dm=${nextStop()}` });
  return JSON.parse(await body.text());
}

async function requestService(): Promise<unknown> {
  return JSON.parse(await sendFor(`/v1/departures?stop=${nextStop()}&modes=all&limit=20`));
}

async function sendFor(path: string): Promise<string> {
  const { statusCode, body } = await service.request({ method: 'GET', path, headers });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`unexpected response: ${statusCode} ${text}`);
  return text;
}

/** A stop that was not requested before. */
function nextStop(): string {
  return String(10_000_000 + requests++);
}

function printStages(name: string, bytes: Buffer, times: StageTimes): void {
  const columns = [...STAGES.map((stage) => times[stage]), STAGES.reduce((sum, stage) => sum + times[stage], 0)];
  const title = `  ${name} of ${(bytes.length / 1000).toFixed(0)} kB`.padEnd(18);
  print(title + columns.map((time) => time.toFixed(2).padStart(10)).join(''));
}

/** Requests trips one after another; the first ones are warm-up. */
async function watchTrips(): Promise<void> {
  giveAllProcessors(server.pid as number);
  server.send('watch');
  await once(server, 'message');
  const blocks: number[] = [];
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  for (let sent = 0; sent < Number(trips) + 20; sent++) {
    const minute = sent % DAY_MINUTES;
    const time = String(Math.floor(minute / 60)).padStart(2, '0') + String(minute % 60).padStart(2, '0');
    await stateOf(server);
    await sendFor(`/v1/trips?from=202091&to=G2095102&date=${tomorrow}&time=${time}`);
    blocks.push((await stateOf(server)).longestBlockMs);
  }
  const warm = blocks.slice(20);
  const [p50, p99, longest] = [median(warm), percentile(warm, 0.99), Math.max(...warm)].map((block) =>
    block.toFixed(1),
  );
  print(`\nlongest block of the event loop for one trip of ${TRIP_BYTES / 1000} kB, ${trips} trips, milliseconds:`);
  print(`  p50 ${p50}, p99 ${p99}, longest ${longest}`);
  hold(`p99 of the longest blocks below ${MAX_BLOCK_MS} ms`, Number(p99) < MAX_BLOCK_MS);
}

async function stateOf(child: ChildProcess): Promise<State> {
  child.send('state');
  const [state] = await once(child, 'message');
  return state;
}

function start(name: 'upstream' | 'server', ...options: (string | number)[]): ChildProcess {
  return fork(new URL(`./miss-path/${name}.ts`, import.meta.url), options.map(String), {
    execArgv: START_OPTIONS,
  });
}
