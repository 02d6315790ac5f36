import { Worker } from 'node:worker_threads';
import { SECOND_MS } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { serviceUnavailable } from '../errors/messages.ts';
import type { Feed } from '../realtime/feed/feed.ts';
import type { TrustedFeed } from '../realtime/overlay.ts';
import type { FeedSourceId } from '../realtime/polling/feed-source.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { EngineMessage, EngineReply, SearchName, SearchQuery, SearchResult } from './engine-messages.ts';

const THREADS = 2;
const MAX_WAITING = 40;
/** A journey with `via` takes about a second of a thread. Other searches go first, and always have the second thread. */
const MAX_WAITING_VIA = MAX_WAITING / 2;
/** Other searches take some 50 ms. */
const DEADLINE_MS = 5 * SECOND_MS;
/**
 * A busy machine delays searches too. A thread that is replaced has to prepare for two seconds of processor time, which would make
 * the next searches fail too.
 */
const STUCK_MS = 60 * SECOND_MS;
const RESTART_MS = SECOND_MS;
/** The limit of a thread's own heap; the columns lie outside it. */
const MAX_HEAP_MEGABYTES = 192;

interface Waiting extends PromiseWithResolvers<SearchResult<SearchName>> {
  search: { name: SearchName; query: SearchQuery<SearchName> };
  timer: NodeJS.Timeout;
}

interface Thread {
  worker: Worker;
  packed: SharedArrayBuffer;
  /** The feeds that the thread has received. */
  feeds: Map<FeedSourceId, Feed>;
  /** Whether the thread has prepared for its timetable. Until then, searches wait in the queue. */
  isReady: boolean;
  /** The search in progress; null while the thread is idle. */
  current: { id: number; waiting: Waiting } | null;
}

/**
 * Plans journeys in worker threads, which start with the first timetable. Each thread runs one search at a time; further
 * searches queue.
 */
export class JourneyEngine {
  readonly #log: Log<'warn' | 'error'>;
  readonly #now: () => number;
  readonly #queue: Waiting[] = [];
  readonly #threads: Thread[] = [];
  #timetable: Timetable | null = null;
  #feeds: readonly TrustedFeed[] = [];
  #lastId = 0;
  #isClosed = false;

  constructor({ log, now }: { log: Log<'warn' | 'error'>; now: () => number }) {
    this.#log = log;
    this.#now = now;
  }

  /** Switches all threads to this timetable. Queued searches fail, because their stop numbers belong to the old one. */
  use(timetable: Timetable): void {
    if (this.#timetable === timetable) return;
    this.#timetable = timetable;
    for (const waiting of this.#queue.splice(0)) this.#fail(waiting, 'there is a new timetable');
    // A new thread frees all memory of the old timetable.
    for (const thread of [...this.#threads]) if (!thread.current) this.#end(thread);
    this.#refill();
  }

  /**
   * Searches the current timetable with these feeds. Rejects with `SERVICE_UNAVAILABLE` if the search takes too long or the
   * queue is full.
   */
  search<Name extends SearchName>(
    name: Name,
    query: SearchQuery<Name>,
    feeds: readonly TrustedFeed[],
  ): Promise<SearchResult<Name>> {
    this.#feeds = feeds;
    const isFull = this.#queue.length >= MAX_WAITING;
    if (isFull || (name === 'via' && this.#queue.filter(isVia).length >= MAX_WAITING_VIA)) {
      return Promise.reject(serviceUnavailable('too many journey searches are waiting'));
    }
    const waiting: Waiting = {
      ...Promise.withResolvers<SearchResult<SearchName>>(),
      search: { name, query },
      timer: setTimeout(() => this.#giveUp(waiting), DEADLINE_MS),
    };
    this.#queue.push(waiting);
    this.#serve();
    return waiting.promise as Promise<SearchResult<Name>>;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const ended = this.#threads.splice(0);
    for (const { current } of ended) if (current) this.#fail(current.waiting, 'the service is closing');
    for (const waiting of this.#queue.splice(0)) this.#fail(waiting, 'the service is closing');
    await Promise.all(ended.map(({ worker }) => worker.terminate()));
  }

  #serve(): void {
    for (const thread of this.#threads) {
      if (thread.current || !thread.isReady) continue;
      const waiting = this.#takeNext();
      if (!waiting) return;
      this.#sendFeeds(thread);
      thread.current = { id: ++this.#lastId, waiting };
      this.#post(thread, { kind: 'search', id: this.#lastId, ...waiting.search });
    }
  }

  #takeNext(): Waiting | undefined {
    const isPlanningVia = this.#threads.some(({ current }) => current && isVia(current.waiting));
    const next = this.#queue.find((waiting) => !isVia(waiting)) ?? (isPlanningVia ? undefined : this.#queue[0]);
    if (next) this.#queue.splice(this.#queue.indexOf(next), 1);
    return next;
  }

  #sendFeeds({ worker, feeds }: Thread): void {
    const trusted = new Map(this.#feeds.map(({ source, feed }) => [source, feed]));
    const post = (message: EngineMessage) => worker.postMessage(message);
    for (const [source, feed] of trusted) {
      if (feeds.get(source) === feed) continue;
      feeds.set(source, feed);
      post({ kind: 'feed', source, packed: feed.packed });
    }
    for (const source of [...feeds.keys()]) {
      if (trusted.has(source)) continue;
      feeds.delete(source);
      post({ kind: 'feed', source, packed: null });
    }
  }

  #post({ worker }: Thread, message: EngineMessage): void {
    worker.postMessage(message);
  }

  #start(): void {
    const { packed } = this.#timetable as Timetable;
    const worker = new Worker(new URL('./engine-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MEGABYTES },
    });
    worker.unref();
    const thread: Thread = { worker, packed, feeds: new Map(), isReady: false, current: null };
    worker.on('message', (reply: EngineReply | 'ready') => this.#settle(thread, reply));
    worker.on('error', (err) => {
      this.#log.error({ err }, 'a thread that plans journeys failed');
      // Its cause may end the next thread too, so wait.
      if (this.#end(thread)) setTimeout(() => this.#refill(), RESTART_MS).unref();
    });
    this.#threads.push(thread);
    this.#post(thread, { kind: 'timetable', packed, now: this.#now() });
  }

  #settle(thread: Thread, reply: EngineReply | 'ready'): void {
    if (reply === 'ready') {
      thread.isReady = true;
      this.#serve();
      return;
    }
    const { current } = thread;
    if (current?.id !== reply.id) return;
    thread.current = null;
    clearTimeout(current.waiting.timer);
    if ('found' in reply) current.waiting.resolve(reply.found);
    else {
      this.#log.error({ problem: reply.problem }, 'journeys could not be planned');
      current.waiting.reject(serviceUnavailable('a search failed'));
    }
    if (thread.packed !== this.#timetable?.packed) this.#replace(thread);
    this.#serve();
  }

  /** A search cannot be interrupted, so a thread that is stuck in one is ended. */
  #giveUp(waiting: Waiting): void {
    const at = this.#queue.indexOf(waiting);
    if (at >= 0) this.#queue.splice(at, 1);
    this.#fail(waiting, 'the journey search took too long');
    const thread = this.#threads.find(({ current }) => current?.waiting === waiting);
    if (!thread) return;
    const endStuck = () => thread.current?.waiting === waiting && this.#replace(thread);
    setTimeout(endStuck, STUCK_MS - DEADLINE_MS).unref();
  }

  #fail(waiting: Waiting, cause: string): void {
    clearTimeout(waiting.timer);
    waiting.reject(serviceUnavailable(cause));
  }

  #replace(thread: Thread): void {
    if (this.#end(thread)) this.#refill();
  }

  #refill(): void {
    while (!this.#isClosed && this.#threads.length < THREADS) this.#start();
    this.#serve();
  }

  #end(thread: Thread): boolean {
    const at = this.#threads.indexOf(thread);
    if (at < 0) return false;
    this.#threads.splice(at, 1);
    const lostSearches = [
      ...(thread.current ? [thread.current.waiting] : []),
      ...(this.#threads.length === 0 ? this.#queue.splice(0) : []),
    ];
    for (const waiting of lostSearches) this.#fail(waiting, 'a thread that plans journeys ended');
    void thread.worker.terminate();
    return true;
  }
}

function isVia({ search }: Waiting): boolean {
  return search.name === 'via';
}
