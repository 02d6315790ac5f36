import { setTimeout } from 'node:timers/promises';
import { Runs } from '#src/boards/runs.ts';
import { monitorBoards } from '#src/boards/source.ts';
import type { CallUpstream } from '#src/efa/query-upstream.ts';
import { parseResponse, type UpstreamRequest } from '#src/efa/request.ts';
import { parseJson } from '#src/efa/response/json-reader.ts';
import { noLines } from '#src/operations/sources.ts';
import { createTripsOperation } from '#src/operations/trips/operation.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { NOW, tripResponse } from '#test/contract/payloads.ts';
import { ids } from '#test/support/ids.ts';
import { cpuMsOf, longestBlockMs } from './event-loop.ts';
import { describeMachine, print } from './machine.ts';
import { median } from './percentiles.ts';

/*
 * How long one large upstream response blocks the event loop: the longest wait of a client that sends a request every 10 ms while
 * the response is read, or while `JSON.parse` alone reads it, and the longest time between two turns of the loop in a complete
 * request. Also the processor time of `JSON.parse`, and of reading with limits. Responses are recorded ones repeated many times,
 * and hostile ones.
 * `node bench/large-response.ts [rounds]`
 */
const [rounds = '9'] = process.argv.slice(2);
const MEGABYTE = 1_000_000;
const tripsOperation = createTripsOperation({ stops: new StopRegister(noStops) });
const ASK_EVERY_MS = 10;
const REQUEST: UpstreamRequest = { kind: 'trip', from: '202091', to: 'G2095102', at: null, isArrival: false };
const silent = { info() {}, warn() {}, error() {} };

const HOSTILE: Record<string, string> = {
  'empty lists': `{"journeys":[${Array(1_990_000).fill('[]').join()}]}`,
  'nested lists': `{"journeys":${'['.repeat(2_990_000)}${']'.repeat(2_990_000)}}`,
  'small objects': `{"journeys":[{"legs":[${Array(740_000).fill('{}').join()}]}]}`,
  'other names': `{"journeys":[{${Array.from({ length: 400_000 }, (_, name) => `"${name}z":1`).join()}}]}`,
};

print(describeMachine());
print('\nmilliseconds, the median of the rounds');
print(
  '                                MB   parse alone   its longest wait      read   longest wait   longest block of a request',
);
for (const size of [0.5, 2.3, 5.9]) {
  await measure('long paths', answerOf(size * MEGABYTE, true), true);
  await measure('many stops', answerOf(size * MEGABYTE, false), true);
}
for (const [name, text] of Object.entries(HOSTILE)) await measure(name, text, false);

async function measure(name: string, text: string, isGood: boolean): Promise<void> {
  const bytes = Buffer.from(text);
  const parse = () => JSON.parse(bytes.toString());
  // Most hostile responses are refused; the time to refuse them is what counts.
  const read = () => parseJson(bytes).catch(() => null);
  const figures = [
    bytes.length / MEGABYTE,
    await medianOf(() => cpuMsOf(3, parse)),
    await medianOf(() => longestWaitMs(async () => parse())),
    await medianOf(() => cpuMsOf(3, read)),
    await medianOf(() => longestWaitMs(read)),
    ...(isGood ? [await medianOf(() => longestBlockMs(() => findTrips(bytes)))] : []),
  ];
  const columns = figures.map((figure, index) => figure.toFixed(1).padStart([12, 14, 19, 10, 15, 29][index] ?? 0));
  print(`${name.padEnd(22)}${columns.join('')}`);
}

/** The longest wait of a client that sends requests at even intervals. */
async function longestWaitMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - ASK_EVERY_MS);
    last = now;
  }, ASK_EVERY_MS);
  await setTimeout(2 * ASK_EVERY_MS);
  await work();
  await setTimeout(2 * ASK_EVERY_MS);
  clearInterval(timer);
  return longest;
}

/** Enough journeys to reach the size, with or without long paths. */
function answerOf(size: number, hasPaths: boolean): string {
  const [journey] = tripResponse.journeys;
  const path = Array.from({ length: 1500 }, (_, index) =>
    [-33.800001 - index / 10_000, 151.200001 + index / 10_000].map((degrees) => Number(degrees.toFixed(6))),
  );
  const legs = journey?.legs.map((leg) => ({ ...leg, coords: path }));
  const long = hasPaths ? { ...journey, legs } : journey;
  const count = Math.ceil(size / JSON.stringify(long).length);
  return JSON.stringify({ ...tripResponse, journeys: Array(count).fill(long) });
}

/** All processing of a response in the service except the network. */
async function findTrips(bytes: Buffer): Promise<unknown> {
  const upstream = (async () => ({
    payload: parseResponse(REQUEST, await parseJson(bytes)),
    json: bytes,
    retrievedAt: Date.parse(NOW),
  })) as unknown as CallUpstream;
  const limits = { rps: Number.POSITIVE_INFINITY, dailyBudget: 1e12 };
  const { queryUpstream } = protectUpstream({ callByKey: [upstream], limits, log: silent });
  const query = tripsOperation.query.parse({ from: '202091', to: 'G2095102' });
  return tripsOperation.handle(query, {
    queryUpstream,
    boards: monitorBoards,
    runs: new Runs({ now: () => Date.parse(NOW) }),
    lines: noLines,
    now: () => Date.parse(NOW),
    ids,
    run: () => Promise.reject(new Error('not needed')),
  });
}

async function medianOf(measure: () => Promise<number>): Promise<number> {
  const figures: number[] = [];
  for (let round = 0; round < Number(rounds); round++) figures.push(await measure());
  return median(figures);
}
