import { deserialize, serialize } from 'node:v8';
import { readJson } from '#src/efa/answer/json-reader.ts';
import type { AskAuthority } from '#src/efa/ask.ts';
import { type Question, readAnswer } from '#src/efa/question.ts';
import { noLiveBoards } from '#src/live/boards/live-boards.ts';
import { tripsOperation } from '#src/trips/operation.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { NOW, tripAnswer } from '#test/contract/payloads.ts';
import { cpuMsOf, longestBlockMs } from './event-loop.ts';
import { describeMachine, print } from './machine.ts';
import { median } from './percentiles.ts';

/*
 * For how long one large answer of the authority keeps the event loop busy: the longest time between two turns of
 * the loop. Beside it, the processor time of JSON.parse at once, and of deserialisation, which is what the main thread
 * would spend on an answer that a worker thread has parsed.
 * `node bench/large-answer.ts [rounds]`
 */
const [rounds = '5'] = process.argv.slice(2);
const MEGABYTE = 1_000_000;
const SIZES = [0.5, 2.3, 5.9];
const QUESTION: Question = { kind: 'trip', from: '202091', to: 'G2095102', at: null, isArrival: false };
const silent = { info() {}, warn() {}, error() {} };

print(describeMachine());
print('\nmilliseconds, the median of the rounds');
print('      MB   JSON.parse   deserialise   longest block of reading   longest block of a request');
for (const size of SIZES) {
  const text = answerOf(size * MEGABYTE);
  const bytes = Buffer.from(text);
  const serialised = serialize(JSON.parse(text));
  const figures = [
    await medianOf(() => cpuMsOf(10, () => JSON.parse(text))),
    await medianOf(() => cpuMsOf(10, () => deserialize(serialised))),
    await medianOf(() => longestBlockMs(() => readJson(bytes))),
    await medianOf(() => longestBlockMs(() => findTrips(bytes))),
  ];
  const columns = [(bytes.length / MEGABYTE).toFixed(1), ...figures.map((figure) => figure.toFixed(1))];
  print(columns.map((column, index) => column.padStart([8, 13, 14, 27, 29][index] ?? 0)).join(''));
}

/** Journeys with long paths, as many as make up the size. */
function answerOf(size: number): string {
  const [journey] = tripAnswer.journeys;
  const path = Array.from({ length: 1500 }, (_, index) =>
    [-33.800001 - index / 10_000, 151.200001 + index / 10_000].map((degrees) => Number(degrees.toFixed(6))),
  );
  const legs = journey?.legs.map((leg) => ({ ...leg, coords: path }));
  const long = { ...journey, legs };
  const count = Math.ceil(size / JSON.stringify(long).length);
  return JSON.stringify({ ...tripAnswer, journeys: Array(count).fill(long) });
}

/** All that happens to an answer on its way through the service, but for the network. */
async function findTrips(bytes: Buffer): Promise<unknown> {
  const upstream = (async () => ({
    payload: readAnswer(QUESTION, await readJson(bytes)),
    json: bytes,
    retrievedAt: new Date(NOW),
  })) as unknown as AskAuthority;
  const limits = { rps: Number.POSITIVE_INFINITY, dailyBudget: 1e12 };
  const { ask } = protectUpstream({ asks: [upstream], limits, log: silent });
  const query = tripsOperation.query.parse({ from: '202091', to: 'G2095102' });
  return tripsOperation.find(query, {
    ask,
    liveBoards: noLiveBoards,
    now: () => new Date(NOW),
    run: () => Promise.reject(new Error('not needed')),
  });
}

async function medianOf(measure: () => Promise<number>): Promise<number> {
  const figures: number[] = [];
  for (let round = 0; round < Number(rounds); round++) figures.push(await measure());
  return median(figures);
}
