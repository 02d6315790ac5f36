import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '#src/core/clock.ts';
import type { EngineMessage, EngineQuery } from '#src/journeys/engine-messages.ts';
import { JourneyEngines, withNewestTimetable } from '#src/journeys/engines.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { ONE_BUS, timetableOf } from '#test/support/timetable.ts';

/** A thread that prepares and searches when the test says so. */
class Thread extends EventEmitter {
  packed: SharedArrayBuffer | null = null;
  searches: number[] = [];
  isEnded = false;
  postMessage(message: EngineMessage): void {
    if (message.kind === 'timetable') this.packed = message.packed;
    if (message.kind === 'search') this.searches.push(message.id);
  }
  finish(): void {
    if (this.searches.length > 0) this.emit('message', { id: this.searches.at(-1), found: [] });
  }
  unref(): void {}
  async terminate(): Promise<void> {
    this.isEnded = true;
  }
}

const EIGHT = Date.UTC(2026, 10, 25, 21);
const [before, after] = [timetableOf(ONE_BUS), timetableOf(ONE_BUS)];
const anyEnd = { stops: [], withAround: false };
const query: EngineQuery = {
  from: anyEnd,
  to: anyEnd,
  at: EIGHT,
  now: EIGHT,
  modes: 127,
  isWheelchair: false,
  maxRides: 3,
  limit: 1,
  isArrival: false,
  walkSeconds: null,
  avoidedStops: [],
};
let threads: Thread[];
let engines: JourneyEngines;

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(systemClock, 'now').mockImplementation(() => Date.now());
  openWith(1024);
});
afterEach(async () => {
  await engines.close();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Opens engines of a process with this many MiB. */
function openWith(mebibytes: number): void {
  threads = [];
  const startThread = () => {
    const thread = new Thread();
    threads.push(thread);
    return thread as never;
  };
  engines = new JourneyEngines({
    log: { warn() {}, error() {} },
    now: () => EIGHT,
    startThread,
    memoryLimit: mebibytes * 2 ** 20,
  });
}

/** The first thread of a timetable. */
const threadOf = (timetable: Timetable) => threads.find(({ packed }) => packed === timetable.packed) as Thread;

/** Sends a search of a timetable. `outcome` is its result or its status, once there is one. */
function send(timetable = before) {
  const sent: { outcome: string | number | null } = { outcome: null };
  const settle = (outcome: string | number) => {
    sent.outcome = outcome;
  };
  engines
    .get(timetable)
    .search('plan', query)
    .then(
      () => settle('found'),
      (error) => settle(error.statusCode),
    );
  return sent;
}

/** Starts with the first timetable, and replaces it by the second one as the service does. */
async function replace(): Promise<[Thread, Thread]> {
  engines.use(before);
  threadOf(before).emit('message', 'ready');
  const prepared = engines.prepare(after);
  for (const message of ['ready', 'warm']) threadOf(after).emit('message', message);
  await prepared;
  engines.use(after);
  return [threadOf(before), threadOf(after)];
}

it('a timetable counts as prepared only when one of its threads has warmed up', async () => {
  let isPrepared = false;
  const prepared = engines.prepare(before).then(() => {
    isPrepared = true;
  });
  threads[0]?.emit('message', 'ready');
  await vi.advanceTimersByTimeAsync(3000);
  expect(isPrepared).toBe(false);
  threads[0]?.emit('message', 'warm');
  await prepared;
});

it('a search starts on a thread that has not warmed up yet', async () => {
  engines.use(before);
  const sent = send();
  threads[0]?.emit('message', 'ready');
  threads[0]?.finish();
  await vi.advanceTimersByTimeAsync(0);
  expect(sent.outcome).toBe('found');
});

it('while the threads of the next timetable start, journeys are planned with the one in use', async () => {
  engines.use(before);
  threads[0]?.emit('message', 'ready');
  void engines.prepare(after);
  const sent = send();
  threads[0]?.finish();
  await vi.advanceTimersByTimeAsync(0);
  expect(sent.outcome).toBe('found');
  expect(threads.map(({ packed }) => packed)).toEqual([before.packed, before.packed, after.packed]);
});

it('searches that wait when the timetable is replaced are answered, with the timetable of their request', async () => {
  engines.use(before);
  threads[0]?.emit('message', 'ready');
  const waiting = [send(), send()];
  const [old, next] = await replace();
  const sent = [...waiting, send(before), send(after)];
  for (let round = 0; round < 3; round++) {
    for (const thread of threads) thread.finish();
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(sent.map(({ outcome }) => outcome)).toEqual(['found', 'found', 'found', 'found']);
  expect([old.searches.length, next.searches.length]).toEqual([3, 1]);
});

it('the threads of a replaced timetable end once its requests are over', async () => {
  const [old, next] = await replace();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([old.isEnded, next.isEnded]).toEqual([true, false]);
  expect(() => send(before)).toThrow(expect.objectContaining({ statusCode: 503 }));
});

/** Starts with little memory and two searches, and replaces the timetable. */
async function replaceWithLittleMemory() {
  await engines.close();
  openWith(512);
  engines.use(before);
  const [thread] = threads as [Thread];
  thread.emit('message', 'ready');
  const waiting = [send(), send()];
  await engines.prepare(after);
  let tries = 0;
  const again = withNewestTimetable(async () => engines.get(tries++ === 0 ? before : after).search('plan', query));
  engines.use(after);
  await vi.advanceTimersByTimeAsync(0);
  return { thread, waiting, again };
}

it('with little memory, the only thread switches to the next timetable: waiting searches are refused and can be sent again', async () => {
  const { thread, waiting, again } = await replaceWithLittleMemory();
  expect(threads.map(({ isEnded, packed }) => [isEnded, packed])).toEqual([[false, after.packed]]);
  expect(waiting.map(({ outcome }) => outcome)).toEqual([503, 503]);
  thread.emit('message', 'ready');
  thread.finish();
  expect(await again).toMatchObject({ found: [] });
  expect(thread.searches).toHaveLength(2);
});

it('a result from the previous timetable answers no search of the next one', async () => {
  const { thread, again } = await replaceWithLittleMemory();
  let found: unknown = null;
  void again.then((searched) => {
    found = searched.found;
  });
  thread.finish();
  thread.emit('message', 'ready');
  await vi.advanceTimersByTimeAsync(0);
  expect(found).toBeNull();
  thread.finish();
  await again;
});

it('a thread still busy with a search of the previous timetable is replaced after a minute', async () => {
  const { again } = await replaceWithLittleMemory();
  const refused = expect(again).rejects.toMatchObject({ statusCode: 503 });
  await vi.advanceTimersByTimeAsync(60_000);
  await refused;
  expect(threads.map(({ isEnded }) => isEnded)).toEqual([true, false]);
});

it('a thread that fails in a search of the previous timetable is replaced', async () => {
  const { thread, again } = await replaceWithLittleMemory();
  const refused = expect(again).rejects.toMatchObject({ statusCode: 503 });
  thread.emit('error', new Error('out of memory'));
  await refused;
  await vi.advanceTimersByTimeAsync(1000);
  expect(threads.map(({ isEnded }) => isEnded)).toEqual([true, false]);
});
