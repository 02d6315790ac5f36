import { Worker } from 'node:worker_threads';
import { MAX_FEED_BYTES, UndecodableFeed } from './feed-reader.ts';
import type { ReadReply, ReadRequest } from './feed-thread.ts';

const TIMEOUT_MS = 5000;
/** The limit of the thread's own heap. */
const MAX_HEAP_MEGABYTES = 256;

/**
 * Reads feeds in a worker thread, because the feed of all buses takes 80 ms and would block the event loop. The thread starts
 * with the first feed and is reused. Only the timeout of a waiting feed keeps the process alive.
 */
export class ReadingThread {
  readonly #timeoutMs: number;
  readonly #program: string;
  readonly #waiting = new Map<number, PromiseWithResolvers<ArrayBuffer> & { timer: NodeJS.Timeout }>();
  #worker: Worker | null = null;
  #requests = 0;

  constructor({ timeoutMs = TIMEOUT_MS, program = './feed-thread.ts' } = {}) {
    this.#timeoutMs = timeoutMs;
    this.#program = program;
  }

  /** Returns the packed form. Rejects only with `UndecodableFeed`, even if the thread dies or takes too long. */
  async read(bytes: Uint8Array): Promise<ArrayBuffer> {
    if (bytes.length > MAX_FEED_BYTES) throw new UndecodableFeed(`more than ${MAX_FEED_BYTES} bytes`);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const request: ReadRequest = { id: ++this.#requests, bytes: new Uint8Array(bytes).buffer };
    const timer = setTimeout(
      () => this.#abandon(worker, `took more than ${this.#timeoutMs} ms to read`),
      this.#timeoutMs,
    );
    const waiting = { ...Promise.withResolvers<ArrayBuffer>(), timer };
    this.#waiting.set(request.id, waiting);
    worker.postMessage(request, [request.bytes]);
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
    if ('packed' in reply) pending.resolve(reply.packed);
    else pending.reject(new UndecodableFeed(reply.problem));
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
