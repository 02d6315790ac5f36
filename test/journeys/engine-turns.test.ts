import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DAY_MS, HOUR_MS, systemClock } from '#src/core/clock.ts';
import { shrinkCaches } from '#src/core/own-memory.ts';
import type { Priority } from '#src/core/turn-queue.ts';
import { JourneyEngine } from '#src/journeys/engine.ts';
import type { EngineMessage, EngineQuery, SearchName } from '#src/journeys/engine-messages.ts';
import { calendarDayAt } from '#src/timetable/service-day.ts';
import { ONE_BUS, timetableOf } from '#test/support/timetable.ts';

/** A thread that searches until the test ends its search. */
class Thread extends EventEmitter {
  searches: Extract<EngineMessage, { kind: 'search' }>[] = [];
  /** The kinds of the other messages. */
  received: EngineMessage['kind'][] = [];
  constructor() {
    super();
    threads.push(this);
  }
  postMessage(message: EngineMessage): void {
    if (message.kind === 'search') this.searches.push(message);
    else this.received.push(message.kind);
  }
  finish(more: { mayBeFar?: boolean } = {}): void {
    this.emit('message', { id: this.searches.at(-1)?.id, found: [], ...more });
  }
  unref(): void {}
  async terminate(): Promise<void> {}
}

let threads: Thread[] = [];

/** 08:00 in Sydney on Thursday 26 November 2026. */
const EIGHT = Date.UTC(2026, 10, 25, 21);
const log = { warn() {}, error() {} };
let engine: JourneyEngine;
/** The accounts whose searches have begun, in order. */
let begun: string[];

beforeEach(() => {
  threads = [];
  begun = [];
  vi.useFakeTimers();
  vi.spyOn(systemClock, 'now').mockImplementation(() => Date.now());
  engine = createEngine(1024 * 2 ** 20);
});
afterEach(async () => {
  await engine.close();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

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

function createEngine(memoryLimit: number): JourneyEngine {
  const startThread = () => new Thread() as never;
  return new JourneyEngine(timetableOf(ONE_BUS), { log, now: () => EIGHT, startThread, memoryLimit });
}

/** Each thread starts when the one before is ready. */
function startThreads(): void {
  for (const thread of threads) thread.emit('message', 'ready');
}

/** Sends a search. `outcome` is its result or the cause of its 503, once there is one. */
function send(
  priority: Priority,
  account: string,
  {
    name = 'plan',
    at = EIGHT,
    signal = new AbortController().signal,
    ...more
  }: Partial<EngineQuery> & {
    name?: SearchName;
    signal?: AbortSignal;
  } = {},
) {
  const sent: { outcome: string | null } = { outcome: null };
  const turn = { priority, accounts: new Set([account]), signal, begin: () => begun.push(account) };
  engine.search(name, { ...query, ...more, at } as never, turn).then(
    () => {
      sent.outcome = 'found';
    },
    (error) => {
      sent.outcome = `${error.statusCode} ${error.unavailable}`;
    },
  );
  return sent;
}

const settled = () => vi.advanceTimersByTimeAsync(0);

it('an account beyond its share of the queue gets 503 with Retry-After, and the others their turns', async () => {
  const greedy = Array.from({ length: 10 }, () => send('low', 'greedy'));
  const others = [send('low', 'modest'), ...Array.from({ length: 32 }, () => send('high', 'pro'))];
  await settled();
  expect(greedy.map(({ outcome }) => outcome)).toEqual([null, null, ...Array(8).fill('503 account')]);
  expect(others.every(({ outcome }) => outcome === null)).toBe(true);
  const error = await engine
    .search('plan', query, {
      priority: 'low',
      accounts: new Set(['greedy']),
      signal: AbortSignal.any([]),
      begin() {},
    })
    .catch((error) => error);
  expect(error.headers).toEqual({ 'retry-after': expect.any(String) });
});

it('a Pro client is not refused, however many Free accounts fill the queue', async () => {
  const free = Array.from({ length: 60 }, (_, index) => send('low', `free ${index}`));
  const pro = Array.from({ length: 32 }, () => send('high', 'pro'));
  await settled();
  expect(free.filter(({ outcome }) => outcome === '503 overload')).toHaveLength(52);
  expect(pro.every(({ outcome }) => outcome === null)).toBe(true);
});

it('searches begin by plan and then round-robin by account, background work last', async () => {
  send('background', 'comparison');
  for (const account of ['free a', 'free a', 'free b']) send('low', account);
  for (const account of ['developer', 'pro a', 'pro a', 'pro b'])
    send(account === 'developer' ? 'normal' : 'high', account);
  startThreads();
  while (begun.length < 8) {
    for (const thread of threads) thread.finish();
    await settled();
  }
  const expected = ['pro a', 'pro b', 'pro a', 'developer', 'free a', 'free b', 'free a', 'comparison'];
  expect(begun).toEqual(expected);
});

it('while a Pro client searches, long searches of all others leave it a thread', () => {
  startThreads();
  send('high', 'pro');
  threads[1]?.finish();
  send('low', 'free a');
  // The lines of another day have to be built, and a search by arrival may open several days.
  send('low', 'free b', { at: EIGHT + DAY_MS });
  send('low', 'free c', { isArrival: true });
  send('low', 'free d', { name: 'times' });
  send('normal', 'developer', { name: 'reach' });
  expect(begun).toEqual(['pro', 'free a']);
  send('high', 'pro');
  expect(begun).toEqual(['pro', 'free a', 'pro']);
});

it('while a Pro client searches, an account has one search under way at a time, and its short searches are not held up by others', () => {
  startThreads();
  send('high', 'pro');
  threads[1]?.finish();
  send('low', 'free a', { isArrival: true });
  send('low', 'free a');
  expect(begun).toEqual(['pro', 'free a']);
  send('low', 'free b');
  expect(begun).toEqual(['pro', 'free a', 'free b']);
});

it('without a Pro client, Free accounts use all threads', () => {
  startThreads();
  for (const account of ['free a', 'free b']) send('low', account);
  expect(begun).toEqual(['free a', 'free b']);
});

it('a process with less than 768 MiB plans in one thread, which takes searches of every kind', async () => {
  const thread = await useOneThread();
  expect(threads).toHaveLength(1);
  send('high', 'a', { name: 'via' });
  thread.finish();
  send('low', 'b', { isArrival: true });
  expect(begun).toEqual(['a', 'b']);
});

async function useOneThread(): Promise<Thread> {
  await engine.close();
  threads = [];
  engine = createEngine(512 * 2 ** 20);
  startThreads();
  return threads[0] as Thread;
}

/** The origins of a thread's searches, in order, and whether they are far. */
const searchedBy = ({ searches }: Thread) =>
  searches.map(({ query }) => `${(query as EngineQuery).from.stops[0]?.stop}${'isFar' in query ? ' far' : ''}`);
const from = (stop: number) => ({ from: { stops: [{ stop, seconds: 0 }], withAround: false } });

it('a far search waits behind all others for two seconds, and after that has the place of its plan in the queue', async () => {
  const thread = await useOneThread();
  const far = send('high', 'far', from(1));
  for (let other = 2; other <= 5; other++) send('low', `other ${other}`, from(other));
  thread.finish({ mayBeFar: true });
  expect(searchedBy(thread)).toEqual(['1', '2']);
  await vi.advanceTimersByTimeAsync(1900);
  thread.finish();
  expect(searchedBy(thread)).toEqual(['1', '2', '3']);
  await vi.advanceTimersByTimeAsync(200);
  thread.finish();
  expect(searchedBy(thread)).toEqual(['1', '2', '3', '1 far']);
  thread.finish();
  await settled();
  expect(far.outcome).toBe('found');
  expect(begun).toEqual(['far', 'other 2', 'other 3', 'other 4']);
});

it('a far search begins at once while no other one waits, and ends by the deadline of its request', async () => {
  const thread = await useOneThread();
  const sentAt = Date.now();
  const sent = send('low', 'a');
  await vi.advanceTimersByTimeAsync(1000);
  thread.finish({ mayBeFar: true });
  expect(thread.searches.map(({ deadlineAt }) => deadlineAt - sentAt)).toEqual([4500, 4500]);
  await vi.advanceTimersByTimeAsync(4000);
  expect(sent.outcome).toBe('503 overload');
});

it('a far search leaves the last of two threads to others, and is not made for a caller who has left', async () => {
  startThreads();
  const left = new AbortController();
  const sent = send('high', 'a', { signal: left.signal });
  for (let count = 0; count < 3; count++) send('high', 'b');
  const [first, last] = threads as [Thread, Thread];
  last.finish({ mayBeFar: true });
  left.abort();
  last.finish();
  first.finish();
  last.finish();
  await settled();
  expect(sent.outcome).toBe('503 overload');
  send('high', 'c');
  last.finish({ mayBeFar: true });
  expect(last.searches.some(({ query }) => 'isFar' in query)).toBe(false);
  expect(first.searches.at(-1)?.query).toMatchObject({ isFar: true });
});

it('a far search is accepted even if its account already has its maximum of waiting searches', async () => {
  const thread = await useOneThread();
  const sent = [send('low', 'a'), send('low', 'a'), send('low', 'a'), send('high', 'b')];
  thread.finish({ mayBeFar: true });
  sent.push(send('high', 'b'));
  await settled();
  expect(sent.map(({ outcome }) => outcome)).toEqual(Array(5).fill(null));
});

it('a process short of memory frees the days that threads keep, except today', () => {
  startThreads();
  shrinkCaches(1);
  expect(threads.map(({ received }) => received.at(-1))).toEqual(['keep', 'keep']);
});

it('journeys with via leave a thread to other searches', () => {
  startThreads();
  for (const account of ['a', 'b', 'c']) send('high', account, { name: 'via' });
  expect(begun).toEqual(['a']);
  send('low', 'd');
  expect(begun).toEqual(['a', 'd']);
  threads[0]?.finish();
  expect(begun).toEqual(['a', 'd', 'b']);
});

it('a search goes to the thread that has its day, and to another one if that is busy for a second', async () => {
  startThreads();
  const tomorrow = { at: EIGHT + DAY_MS };
  const daysOf = (thread: number) => threads[thread]?.searches.map(({ query }) => (query.at - EIGHT) / DAY_MS);
  send('low', 'a', tomorrow);
  for (const thread of threads) if (thread.searches.length > 0) thread.finish();
  send('low', 'b', tomorrow);
  send('low', 'c', tomorrow);
  const home = threads.findIndex(({ searches }) => searches.length > 0);
  expect(daysOf(home)).toEqual([1, 1]);
  // Today's searches do not wait behind it: both threads have today.
  send('low', 'd');
  expect(daysOf(1 - home)).toEqual([0]);
  threads[1 - home]?.finish();
  await vi.advanceTimersByTimeAsync(1000);
  expect(daysOf(1 - home)).toEqual([0, 1]);
});

it('an account that searches one day after another uses only one thread, so the other thread keeps its days', () => {
  startThreads();
  for (let day = 1; day <= 9; day++) {
    send('low', 'a', { at: EIGHT + day * DAY_MS });
    for (const thread of threads) if (thread.searches.at(-1)?.query.at === EIGHT + day * DAY_MS) thread.finish();
  }
  expect(threads.map(({ searches }) => searches.length).sort()).toEqual([0, 9]);
});

it('a Pro client does not wait for a thread with its day while a Free search holds that thread', () => {
  startThreads();
  const tomorrow = { at: EIGHT + DAY_MS };
  send('low', 'free a');
  send('low', 'free b', tomorrow);
  send('low', 'free c', { ...tomorrow, isArrival: true });
  threads[1]?.finish();
  threads[0]?.finish();
  expect(begun).toEqual(['free a', 'free b', 'free c']);
  send('high', 'pro', tomorrow);
  expect(begun.at(-1)).toBe('pro');
});

it('the days of a Pro client are built in the thread that others leave to it', () => {
  startThreads();
  send('high', 'pro', { at: EIGHT + DAY_MS });
  expect(threads.map(({ searches }) => searches.length)).toEqual([0, 1]);
});

it('a search by arrival waits for the thread that has the day six hours earlier', () => {
  startThreads();
  send('low', 'a', { at: EIGHT + DAY_MS });
  // 04:00 of the day after.
  const early = EIGHT + 2 * DAY_MS - 4 * HOUR_MS;
  send('low', 'b', { at: early, isArrival: true });
  expect(begun).toEqual(['a']);
  send('low', 'c', { at: early });
  expect(begun).toEqual(['a', 'c']);
});

it('a search that nobody waits for leaves the queue, and goes on once it has begun', async () => {
  startThreads();
  const [first, second] = [new AbortController(), new AbortController()];
  const began = [send('low', 'a', { signal: first.signal }), send('low', 'b', { signal: second.signal })];
  const third = new AbortController();
  const queued = send('low', 'c', { signal: third.signal });
  for (const { abort } of [first, second, third].map((one) => ({ abort: () => one.abort() }))) abort();
  await settled();
  expect(queued.outcome).toBe('503 overload');
  expect(began.map(({ outcome }) => outcome)).toEqual([null, null]);
  for (const thread of threads) thread.finish();
  await settled();
  expect(begun).toEqual(['a', 'b']);
});

it('a search must end 4.5 seconds after its request, waiting included, so that the answer comes within five seconds', async () => {
  const sentAt = Date.now();
  const sent = send('low', 'a');
  await vi.advanceTimersByTimeAsync(1000);
  startThreads();
  expect(threads.flatMap(({ searches }) => searches.map(({ deadlineAt }) => deadlineAt))).toEqual([sentAt + 4500]);
  await vi.advanceTimersByTimeAsync(4000);
  expect(sent.outcome).toBe('503 overload');
});

it('the first thread makes the lines of a day, and the others get them before they prepare', () => {
  const lines = {};
  const received = () => threads.map((thread) => thread.received);
  expect(received()).toEqual([['timetable', 'warm']]);
  threads[0]?.emit('message', { day: calendarDayAt(EIGHT), lines });
  threads[0]?.emit('message', 'ready');
  expect(received()).toEqual([
    ['timetable', 'warm'],
    ['timetable', 'lines', 'warm'],
  ]);
  threads[0]?.emit('error', new Error('out of memory'));
  vi.advanceTimersByTime(1000);
  threads[1]?.emit('message', 'ready');
  expect(received().at(-1)).toEqual(['timetable', 'lines', 'warm']);
});
