import { Worker } from 'node:worker_threads';
import { MINUTE_MS, SECOND_MS, systemClock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { hasLittleMemory } from '../core/memory-limit.ts';
import { onShortage } from '../core/own-memory.ts';
import { accountsOf, BACKGROUND, isHigher, type Priority, TurnQueue } from '../core/turn-queue.ts';
import type { ApiError } from '../errors/api-error.ts';
import { searchTookTooLong, serviceUnavailable, tooManySearches } from '../errors/messages.ts';
import { LiveTimetable } from '../realtime/live-timetable.ts';
import type { Snapshot } from '../realtime/snapshot.ts';
import { calendarDayAt } from '../timetable/service-day.ts';
import type { Timetable } from '../timetable/timetable.ts';
import {
  type EngineMessage,
  type EngineReply,
  KEPT_DAYS,
  type SearchName,
  type SearchQuery,
  type ThreadMessage,
  TOOK_TOO_LONG,
} from './engine-messages.ts';
import type { SharedLines } from './raptor/lines.ts';
import { dayOf, isBehind, isByArrival, isFar, type Searched, type WaitingSearch } from './waiting-search.ts';

/** The longest queue, over all accounts. Beyond it, the searches at the end are refused. */
const MAX_QUEUE = 40;
/** The time limit of a search, from when it joins the queue. Most searches take some 50 ms. */
const DEADLINE_MS = 5 * SECOND_MS;
/** A search ends by itself this long before its deadline, with what it has found. */
const REPLY_MS = SECOND_MS / 2;
/** A search that would begin later would hardly have time. */
const MAX_WAIT_MS = 4 * SECOND_MS;
/** After a search, the last thread is reserved for its priority and higher ones for this long (see `JourneyEngine`). */
const RESERVED_MS = MINUTE_MS;
/** How long a search waits for a busy thread that has its day, while another one is idle and would have to build the day's lines. */
const DAY_PATIENCE_MS = SECOND_MS;
/**
 * A search that takes this long is stuck. The limit is long because a busy machine delays searches too, and a new thread first
 * needs two seconds of processor time, in which the next searches would fail too.
 */
const STUCK_MS = 60 * SECOND_MS;
const RESTART_MS = SECOND_MS;
/** The limit of a thread's own heap; the columns lie outside it. */
const MAX_HEAP_MEGABYTES = 192;

export interface EngineOptions {
  log: Log<'warn' | 'error'>;
  now: () => number;
  /** The timetable with the newest snapshots. */
  snapshotFor?: ((timetable: Timetable) => LiveTimetable) | undefined;
  startThread?: typeof startThread;
  /** The memory limit of the process, in bytes. */
  memoryLimit?: number;
}

interface Thread {
  worker: Worker;
  /** The snapshots that the thread has received last. */
  snapshots: readonly Snapshot[];
  /** The days whose lines the thread has, the one used last at the end. */
  days: number[];
  /** Whether the thread has prepared for its timetable. Until then, searches wait in the queue. */
  isReady: boolean;
  /** The search in progress; null while the thread is idle. */
  current: { id: number; waiting: WaitingSearch; live: LiveTimetable } | null;
}

/**
 * Plans journeys of one timetable in worker threads. Each thread runs one search at a time; further searches wait for their turn, by
 * priority and account. A search that finds nothing within a day waits a second time, to search three days: such a far search takes
 * many times as long, so others go first. A search cannot be interrupted, so the last of two threads is kept free for short ones: it
 * never takes far searches or journeys with `via`. For a minute after a search of a higher priority, it takes lower priorities only if
 * the search is short and no other one of the same account is running.
 */
export class JourneyEngine {
  readonly #log: Log<'warn' | 'error'>;
  readonly #now: () => number;
  readonly #snapshotFor: (timetable: Timetable) => LiveTimetable;
  readonly #startThread: typeof startThread;
  readonly #threadCount: number;
  readonly #queue = new TurnQueue<WaitingSearch>();
  readonly #threads: Thread[] = [];
  /** Threads of another engine, which start faster than new ones. */
  readonly #inherited: Worker[];
  /** When the latest search of each priority arrived. */
  readonly #latestAt = new Map<Priority, number>();
  readonly #timetable: Timetable;
  readonly #prepared = Promise.withResolvers<void>();
  /** The lines of yesterday, today and tomorrow, by day. One thread has made them for all. */
  readonly #lines = new Map<number, SharedLines>();
  #lastId = 0;
  #isServingLater = false;
  #isClosed = false;
  readonly #endRelease = onShortage(() => this.#closeOtherDays());

  constructor(timetable: Timetable, options: EngineOptions, inherited: Worker[] = []) {
    this.#timetable = timetable;
    this.#inherited = inherited;
    this.#log = options.log;
    this.#now = options.now;
    this.#snapshotFor = options.snapshotFor ?? ((timetable) => new LiveTimetable(timetable));
    this.#startThread = options.startThread ?? startThread;
    // With the timetable of all New South Wales, each thread takes some 100 MB.
    this.#threadCount = hasLittleMemory(options.memoryLimit) ? 1 : 2;
    this.#startNext();
  }

  /** Resolves when the first thread searches fast, or the engine is closed. */
  get prepared(): Promise<void> {
    return this.#prepared.promise;
  }

  /**
   * Searches with the snapshots that are newest when the search begins. Rejects with `SERVICE_UNAVAILABLE` if the search takes too
   * long, the account has too many searches waiting, or the queue is full. `turn.begin` is called when a thread begins the search.
   */
  search<Name extends SearchName>(
    name: Name,
    query: SearchQuery<Name>,
    { priority, accounts, signal, begin } = BACKGROUND,
  ): Promise<Searched<Name>> {
    const queuedAt = systemClock.now();
    const waiting: WaitingSearch = {
      ...Promise.withResolvers<Searched<SearchName>>(),
      ticket: { priority, accounts: [accounts] },
      search: { name, query, deadlineAt: queuedAt + DEADLINE_MS - REPLY_MS },
      day: dayOf(query),
      queuedAt,
      begin,
      signal,
      timer: undefined,
      isSettled: false,
    };
    const leave = () => this.#failUnwanted(waiting);
    signal.addEventListener('abort', leave, { once: true });
    this.#latestAt.set(priority, queuedAt);
    this.#join(waiting);
    this.#serve();
    this.#refuseSurplus();
    const found = waiting.promise.finally(() => signal.removeEventListener('abort', leave));
    return found as Promise<Searched<Name>>;
  }

  #join(waiting: WaitingSearch): void {
    const { queuedAt, signal } = waiting;
    const leftMs = queuedAt + MAX_WAIT_MS - systemClock.now();
    clearTimeout(waiting.timer);
    waiting.timer = setTimeout(() => this.#fail(waiting, serviceUnavailable('no thread was free')), leftMs);
    this.#queue.join(waiting);
    if (signal.aborted) this.#failUnwanted(waiting);
  }

  /** Ends the threads. Running and waiting searches are refused for `cause`. */
  async close(cause = 'the service is closing'): Promise<void> {
    await Promise.all(this.#endSearches(cause).map((worker) => worker.terminate()));
  }

  /** Closes, but leaves the threads to the engine of another timetable. They may still be in a search. */
  release(cause: string): Worker[] {
    const workers = this.#endSearches(cause);
    for (const worker of workers) for (const name of ['message', 'error']) worker.removeAllListeners(name);
    return workers;
  }

  #endSearches(cause: string): Worker[] {
    this.#isClosed = true;
    this.#prepared.resolve();
    this.#endRelease();
    const ended = this.#threads.splice(0);
    for (const { current } of ended) if (current) this.#fail(current.waiting, serviceUnavailable(cause));
    this.#refuseAll(cause);
    return [...ended.map(({ worker }) => worker), ...this.#inherited.splice(0)];
  }

  #serve(): void {
    for (;;) {
      const next = this.#findNext();
      if (!next) break;
      this.#begin(next.thread, next.waiting);
    }
    this.#serveLater();
  }

  /** The first search of the queue that has a thread now. */
  #findNext(): { thread: Thread; waiting: WaitingSearch } | null {
    if (this.#threads.every(({ isReady, current }) => !isReady || current)) return null;
    const inOrder = this.#queue.inOrder().map(({ waiting }) => waiting);
    for (const waiting of [...inOrder.filter((one) => !isBehind(one)), ...inOrder.filter(isBehind)]) {
      const thread = this.#chooseThread(waiting);
      if (thread) return { thread, waiting };
    }
    return null;
  }

  /**
   * Prefers an idle thread that has the day: the last one, or the first one while the last is reserved for higher priorities. Null
   * if the search has to wait. A search does not wait behind one of a lower priority, which may be long.
   */
  #chooseThread(waiting: WaitingSearch): Thread | null {
    const open = this.#threads.filter((thread) => thread.isReady && this.#isOpenTo(thread, waiting));
    const hasDay = ({ days }: Thread) => days.includes(waiting.day);
    const { priority } = waiting.ticket;
    const isWorthWaitingFor = ({ current }: Thread) => current && !isHigher(priority, current.waiting.ticket.priority);
    const idle = open.filter(({ current }) => !current);
    const known = this.#isReservedFrom(waiting) ? idle.find(hasDay) : idle.findLast(hasDay);
    if (known) return known;
    const isPatient = systemClock.now() - waiting.queuedAt < DAY_PATIENCE_MS;
    if (isPatient && open.some((thread) => hasDay(thread) && isWorthWaitingFor(thread))) return null;
    return idle.at(-1) ?? null;
  }

  #isOpenTo(thread: Thread, waiting: WaitingSearch): boolean {
    if (this.#threads.length === 1 || thread !== this.#threads.at(-1)) return true;
    if (waiting.search.name === 'via' || isFar(waiting)) return false;
    return !this.#isReservedFrom(waiting) || (isShortIn(thread, waiting) && !this.#isSearchingFor(waiting));
  }

  /** Whether a higher priority has searched within the last minute. */
  #isReservedFrom({ ticket }: WaitingSearch): boolean {
    const since = systemClock.now() - RESERVED_MS;
    return [...this.#latestAt].some(([other, at]) => at > since && isHigher(other, ticket.priority));
  }

  /** Whether a thread searches for one of the same accounts. */
  #isSearchingFor({ ticket }: WaitingSearch): boolean {
    const searching = this.#threads.flatMap(({ current }) => (current ? accountsOf(current.waiting.ticket) : []));
    return accountsOf(ticket).some((account) => searching.includes(account));
  }

  #begin(thread: Thread, waiting: WaitingSearch): void {
    this.#queue.serve(waiting);
    clearTimeout(waiting.timer);
    const { search, day } = waiting;
    // A far search has begun before, and has lines of its own.
    if (!isFar(waiting)) {
      waiting.begin();
      thread.days = [...thread.days.filter((other) => other !== day), day].slice(-KEPT_DAYS);
    }
    const leftMs = search.deadlineAt + REPLY_MS - systemClock.now();
    waiting.timer = setTimeout(() => this.#giveUp(thread, waiting), leftMs);
    const id = ++this.#lastId;
    const live = this.#snapshotFor(this.#timetable);
    this.#sendSnapshots(thread, live);
    thread.current = { id, waiting, live };
    this.#post(thread, { kind: 'search', id, ...search });
  }

  /** Serves the queue again once searches stop waiting for a busy thread that has their day. */
  #serveLater(): void {
    if (this.#isServingLater || this.#queue.length === 0) return;
    this.#isServingLater = true;
    const serve = () => {
      this.#isServingLater = false;
      this.#serve();
    };
    setTimeout(serve, DAY_PATIENCE_MS);
  }

  /** Refuses searches beyond an account's limit, and those at the end of a queue that is too long. */
  #refuseSurplus(): void {
    let place = 0;
    for (const { waiting, isBeyond } of this.#queue.inOrder()) {
      if (isBeyond && !isFar(waiting)) this.#fail(waiting, tooManySearches());
      else if (++place > MAX_QUEUE) this.#fail(waiting, serviceUnavailable('too many journey searches are waiting'));
    }
  }

  #refuseAll(cause: string): void {
    for (const { waiting } of this.#queue.inOrder()) this.#fail(waiting, serviceUnavailable(cause));
  }

  #sendSnapshots(thread: Thread, { snapshots }: LiveTimetable): void {
    const { snapshots: known } = thread;
    if (snapshots.length === known.length && snapshots.every((one, index) => one === known[index])) return;
    thread.snapshots = snapshots;
    this.#post(thread, { kind: 'snapshots', packed: snapshots.map(({ packed }) => packed) });
  }

  #post({ worker }: Thread, message: EngineMessage): void {
    worker.postMessage(message);
  }

  /** Starts one thread after the other, so that the first one makes the lines for all. */
  #startNext(): void {
    if (this.#isClosed || this.#threads.length === this.#threadCount) return;
    if (this.#threads.every(({ isReady }) => isReady)) this.#start();
  }

  #start(): void {
    const worker =
      this.#inherited.shift() ?? this.#startThread({ isLast: this.#threads.length === this.#threadCount - 1 });
    worker.unref();
    const now = this.#now();
    const days = [...this.#lines.keys()].filter((day) => day !== calendarDayAt(now));
    const thread: Thread = {
      worker,
      snapshots: [],
      days: [...days, calendarDayAt(now)],
      isReady: false,
      current: null,
    };
    worker.on('message', (message: ThreadMessage) => this.#receive(thread, message));
    worker.on('error', (err) => {
      this.#log.error({ err }, 'a thread that plans journeys failed');
      // What ended the thread may end the next one too, so wait.
      if (this.#end(thread)) setTimeout(() => this.#startNext(), RESTART_MS).unref();
    });
    this.#threads.push(thread);
    this.#post(thread, { kind: 'timetable', packed: this.#timetable.packed });
    for (const [day, lines] of this.#lines) this.#post(thread, { kind: 'lines', day, lines });
    this.#post(thread, { kind: 'warm', now });
    setTimeout(() => thread.isReady || this.#replace(thread), STUCK_MS).unref();
  }

  #receive(thread: Thread, message: ThreadMessage): void {
    if (message === 'ready') {
      thread.isReady = true;
      this.#startNext();
      this.#serve();
    } else if (message === 'warm') {
      this.#prepared.resolve();
    } else if ('day' in message) this.#share(thread, message);
    else this.#settle(thread, message);
  }

  /** Gives the lines of a day to the other threads. If two threads have made the same lines, both use those that came first. */
  #share(from: Thread, { day, lines }: { day: number; lines: SharedLines }): void {
    const known = this.#lines.get(day);
    if (known) {
      this.#post(from, { kind: 'lines', day, lines: known });
      return;
    }
    const today = calendarDayAt(this.#now());
    for (const other of this.#lines.keys()) if (Math.abs(other - today) > 1) this.#lines.delete(other);
    this.#lines.set(day, lines);
    for (const thread of this.#threads) {
      if (thread === from) continue;
      thread.days = [day, ...thread.days.filter((other) => other !== day)].slice(-KEPT_DAYS);
      this.#post(thread, { kind: 'lines', day, lines });
    }
  }

  /** Frees the lines of all days but today. */
  #closeOtherDays(): void {
    const day = calendarDayAt(this.#now());
    for (const other of this.#lines.keys()) if (other !== day) this.#lines.delete(other);
    for (const thread of this.#threads) {
      thread.days = thread.days.filter((other) => other === day);
      this.#post(thread, { kind: 'keep', day });
    }
  }

  #settle(thread: Thread, reply: EngineReply): void {
    const { current } = thread;
    if (current?.id !== reply.id) return;
    thread.current = null;
    this.#settleSearch(current, reply);
    this.#serve();
  }

  #settleSearch({ waiting, live }: NonNullable<Thread['current']>, reply: EngineReply): void {
    if (waiting.isSettled) return;
    if ('found' in reply && reply.mayBeFar) {
      waiting.search.query = { ...waiting.search.query, isFar: true } as SearchQuery<SearchName>;
      this.#join(waiting);
    } else if ('found' in reply) {
      waiting.isSettled = true;
      clearTimeout(waiting.timer);
      waiting.resolve({ found: reply.found, live, isPartial: reply.isPartial ?? false });
    } else if (reply.problem === TOOK_TOO_LONG) {
      this.#fail(waiting, searchTookTooLong());
    } else {
      this.#log.error({ problem: reply.problem }, 'journeys could not be planned');
      this.#fail(waiting, serviceUnavailable('a search failed'));
    }
  }

  /** Fails a search at its deadline. Its thread is replaced only if it is still in that search much later. */
  #giveUp(thread: Thread, waiting: WaitingSearch): void {
    this.#fail(waiting, searchTookTooLong());
    const endStuck = () => thread.current?.waiting === waiting && this.#replace(thread);
    setTimeout(endStuck, STUCK_MS - DEADLINE_MS).unref();
  }

  /** Fails a search that its caller no longer wants, if it waits in the queue. A running search continues. */
  #failUnwanted(waiting: WaitingSearch): void {
    if (this.#queue.has(waiting)) this.#fail(waiting, serviceUnavailable('nobody waits for the search any more'));
  }

  #fail(waiting: WaitingSearch, error: ApiError): void {
    this.#queue.leave(waiting);
    waiting.isSettled = true;
    clearTimeout(waiting.timer);
    waiting.reject(error);
  }

  #replace(thread: Thread): void {
    if (this.#end(thread)) this.#startNext();
  }

  #end(thread: Thread): boolean {
    const at = this.#threads.indexOf(thread);
    if (at < 0) return false;
    this.#threads.splice(at, 1);
    const cause = 'a thread that plans journeys ended';
    if (thread.current) this.#fail(thread.current.waiting, serviceUnavailable(cause));
    if (this.#threads.length === 0) this.#refuseAll(cause);
    void thread.worker.terminate();
    return true;
  }
}

function startThread(workerData: { isLast: boolean }): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: MAX_HEAP_MEGABYTES };
  return new Worker(new URL('./engine-thread.ts', import.meta.url), { resourceLimits, workerData });
}

/** Whether the search takes some 50 ms in that thread, because the lines of its day are there. */
function isShortIn({ days }: Thread, { search: { name, query }, day }: WaitingSearch): boolean {
  return name === 'plan' && !isByArrival(query) && days.includes(day);
}
