import { Worker } from 'node:worker_threads';
import type { FeedId } from '../polling/feed-source.ts';
import { Snapshot } from '../snapshot.ts';
import { Feed } from './feed.ts';
import { MAX_FEED_BYTES, UndecodableFeed } from './feed-reader.ts';
import type { ReadReply, ReadRequest } from './feed-thread.ts';

/** A feed and its predicted runs. `snapshot` is null for positions and without a timetable. */
export interface ReadFeed {
  feed: Feed;
  snapshot: Snapshot | null;
}

const TIMEOUT_MS = 5000;
/** The limit of the thread's own heap. */
const MAX_HEAP_MEGABYTES = 256;

/** Reads feeds with a timetable; see `ReadingThread`. */
export interface FeedReader {
  use: ReadingThread['use'];
  parse: ReadingThread['parse'];
  open: ReadingThread['open'];
}

/**
 * Reads feeds and predicts their runs in a worker thread, because that takes a tenth of a second for the feed of all buses. The
 * thread starts with the first feed and is reused. It keeps the process alive only while a feed is being read.
 */
export class ReadingThread {
  readonly #timeoutMs: number;
  readonly #program: string;
  readonly #waiting = new Map<number, PromiseWithResolvers<ReadFeed> & { timer: NodeJS.Timeout }>();
  #worker: Worker | null = null;
  #timetable: SharedArrayBuffer | null = null;
  #requests = 0;

  constructor({ timeoutMs = TIMEOUT_MS, program = './feed-thread.ts' } = {}) {
    this.#timeoutMs = timeoutMs;
    this.#program = program;
  }

  /** Uses this timetable to predict all feeds that are read from now on. */
  use(timetable: SharedArrayBuffer): void {
    this.#timetable = timetable;
    this.#worker?.postMessage({ kind: 'timetable', packed: timetable } satisfies ReadRequest);
  }

  /** Reads a feed and predicts its runs. Rejects only with `UndecodableFeed`, even if the thread dies or takes too long. */
  async parse(feed: FeedId, bytes: Uint8Array): Promise<ReadFeed> {
    if (bytes.length > MAX_FEED_BYTES) throw new UndecodableFeed(`more than ${MAX_FEED_BYTES} bytes`);
    return this.#send({ kind: 'read', id: ++this.#requests, feed, bytes: new Uint8Array(bytes).buffer });
  }

  /** Predicts the runs of a feed in its packed form, for instance one read by another instance. Rejects like `parse`. */
  async open(feed: FeedId, packed: ArrayBuffer): Promise<ReadFeed> {
    return this.#send({ kind: 'open', id: ++this.#requests, feed, packed: packed.slice(0) });
  }

  #send(request: Extract<ReadRequest, { id: number }>): Promise<ReadFeed> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const timer = setTimeout(
      () => this.#abandon(worker, `took more than ${this.#timeoutMs} ms to read`),
      this.#timeoutMs,
    );
    const waiting = { ...Promise.withResolvers<ReadFeed>(), timer };
    this.#waiting.set(request.id, waiting);
    worker.postMessage(request, [request.kind === 'read' ? request.bytes : request.packed]);
    return waiting.promise;
  }

  async close(): Promise<void> {
    const ended = this.#worker;
    if (!ended) return;
    this.#abandon(ended, 'the service is closing');
    await ended.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL(this.#program, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MEGABYTES },
    });
    worker.unref();
    if (this.#timetable) worker.postMessage({ kind: 'timetable', packed: this.#timetable } satisfies ReadRequest);
    worker.on('message', (reply: ReadReply) => this.#settle(reply));
    worker.on('error', ({ message }) => this.#abandon(worker, `the reading thread failed: ${message}`));
    worker.on('exit', () => this.#abandon(worker, 'the reading thread ended'));
    return worker;
  }

  #settle(reply: ReadReply): void {
    const pending = this.#waiting.get(reply.id);
    if (!pending) return;
    clearTimeout(pending.timer);
    this.#waiting.delete(reply.id);
    if ('packed' in reply) {
      const { packed, snapshot } = reply;
      pending.resolve({ feed: new Feed(packed), snapshot: snapshot && new Snapshot(snapshot) });
    } else pending.reject(new UndecodableFeed(reply.problem));
  }

  /** Rejects all pending reads; the next feed starts a new thread. */
  #abandon(ended: Worker, problem: string): void {
    if (this.#worker !== ended) return;
    this.#worker = null;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new UndecodableFeed(problem));
    }
    this.#waiting.clear();
    void ended.terminate();
  }
}
