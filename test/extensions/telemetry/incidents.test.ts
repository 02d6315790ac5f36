import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRedis, type SharedRedis } from '#src/core/redis/shared-redis.ts';
import {
  addObservation,
  createIncidentLog,
  fileIncidents,
  type IncidentRecord,
  redisIncidents,
} from '#src/extensions/telemetry/incidents.ts';
import { startRedis, type TestRedis } from '#test/support/redis.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-11-20T02:00:00Z');
const DEGRADED = { status: 'degraded', reason: 'some requests fail' } as const;
const DOWN = { status: 'down', reason: 'most requests fail' } as const;

/** One observation a minute. */
function observeAll(states: readonly (typeof DEGRADED | typeof DOWN | null)[], startedAt = 0): IncidentRecord | null {
  return states.reduce<IncidentRecord | null>(
    (record, state, minute) => addObservation(record, state, { at: START + minute * MINUTE, startedAt }),
    null,
  );
}

it('an incident begins with the first of two observations, and ends with the first good one', () => {
  expect(observeAll([null, DEGRADED, null, null])?.incidents).toEqual([]);
  expect(observeAll([null, DEGRADED, DEGRADED])?.incidents).toEqual([{ ...DEGRADED, from: START + MINUTE, to: null }]);
  expect(observeAll([DEGRADED, DEGRADED, DEGRADED, null])?.incidents).toEqual([
    { ...DEGRADED, from: START, to: START + 3 * MINUTE },
  ]);
});

it('an incident has its worst state, and continues if the state returns within ten minutes', () => {
  const states = [DEGRADED, DEGRADED, DOWN, DEGRADED, null, null, DEGRADED, DEGRADED, null];
  expect(observeAll(states)?.incidents).toEqual([{ ...DOWN, from: START, to: START + 8 * MINUTE }]);
  const apart = [DEGRADED, DEGRADED, ...Array(15).fill(null), DOWN, DOWN];
  expect(observeAll(apart)?.incidents.map(({ status, to }) => [status, to === null])).toEqual([
    ['degraded', false],
    ['down', true],
  ]);
});

it('after a start, a time without observations is recorded as down, and ends what lasted before', () => {
  const before = observeAll([DEGRADED, DEGRADED]);
  const at = START + 60 * MINUTE;
  const down = { status: 'down', reason: 'the service was not running', from: START + MINUTE, to: at };
  expect(addObservation(before, null, { at, startedAt: at - 1000 }).incidents).toEqual([
    { ...DEGRADED, from: START, to: START + MINUTE },
    down,
  ]);
  // The instance ran all the time, but its store was unreachable.
  expect(addObservation(observeAll([null]), null, { at, startedAt: START - MINUTE }).incidents).toEqual([]);
});

it('incidents are kept for 90 days, and at most 200 of them', () => {
  const old = { ...DOWN, from: START - 91 * 1440 * MINUTE, to: START - 90 * 1440 * MINUTE - 1 };
  const many = Array.from({ length: 200 }, (_, index) => ({ ...DOWN, from: START - index, to: START - index }));
  const record = { since: 0, seenAt: START, suspected: null, incidents: [old, ...many] };
  const at = START + 20 * MINUTE;
  const once = addObservation(record, DEGRADED, { at, startedAt: 0 });
  expect(once.incidents).toEqual(many);
  expect(addObservation(once, DEGRADED, { at: at + MINUTE, startedAt: 0 }).incidents).toHaveLength(200);
});

it('the record survives a restart in a file, and a corrupt file is replaced', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'incidents-'));
  const path = join(folder, 'incidents.json');
  let at = START;
  const open = () => createIncidentLog({ store: fileIncidents(path), isSandbox: false, now: () => at });
  const log = open();
  expect(await log.load()).toBeNull();
  await log.observe(DOWN);
  at += MINUTE;
  await log.observe(DOWN);
  expect((await open().load())?.incidents).toEqual([{ ...DOWN, from: START, to: null }]);
  await writeFile(path, '{"since":"yesterday"}');
  expect(await log.load()).toBeNull();
  await log.observe(null);
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ since: at, incidents: [] });
  await rm(folder, { recursive: true });
});

let redis: TestRedis;
let room: SharedRedis;
beforeAll(async () => {
  redis = await startRedis();
  room = await openRedis([redis.url], { info() {}, warn() {} });
});
afterAll(async () => {
  room.close();
  await redis.stop();
});

it('instances share one record in Redis, and only one of them observes at a time', async () => {
  const store = redisIncidents({ redis: room, source: 'test' });
  const [one, other] = [store, redisIncidents({ redis: room, source: 'test' })].map((shared) =>
    createIncidentLog({ store: shared, isSandbox: false, now: () => START }),
  );
  await one?.observe(DOWN);
  // It would confirm the state, if it observed as well.
  await other?.observe(DOWN);
  expect(await other?.load()).toEqual({
    since: START,
    seenAt: START,
    suspected: { ...DOWN, from: START },
    incidents: [],
  });
  expect(await redisIncidents({ redis: room, source: 'elsewhere' }).load()).toBeNull();
});
