import { Worker } from 'node:worker_threads';
import { MAX_FEED_BYTES, UndecodableFeed } from './feed-reader.ts';
import type { ReadReply, ReadRequest } from './feed-thread.ts';

/**
 * Reads feeds in a worker thread: the feed of all buses takes 80 ms, which would block the event loop. The thread
 * starts with the first feed, stays for the next ones, and never keeps the process alive.
 */
export interface ReadingThread {
  /** The packed form. Rejects with `UndecodableFeed` and nothing else, also when the thread dies or takes too long. */
  read(bytes: Uint8Array): Promise<ArrayBuffer>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 5000;
/** Of the thread's own heap. */
const MAX_HEAP_MEGABYTES = 256;

interface Waiting {
  resolve(packed: ArrayBuffer): void;
  reject(error: UndecodableFeed): void;
  timer: NodeJS.Timeout;
}

export function createReadingThread({ timeoutMs = TIMEOUT_MS, program = './feed-thread.ts' } = {}): ReadingThread {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let requests = 0;

  function start(): Worker {
    const started = new Worker(new URL(program, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MEGABYTES },
    });
    started.unref();
    started.on('message', settle);
    started.on('error', ({ message }) => abandon(started, `the reading thread failed: ${message}`));
    started.on('exit', () => abandon(started, 'the reading thread ended'));
    return started;
  }

  function settle(reply: ReadReply): void {
    const one = waiting.get(reply.id);
    if (!one) return;
    clearTimeout(one.timer);
    waiting.delete(reply.id);
    if ('packed' in reply) one.resolve(reply.packed);
    else one.reject(new UndecodableFeed(reply.problem));
  }

  /** Rejects every reading under way; the next feed starts another thread. */
  function abandon(ended: Worker, problem: string): void {
    if (worker !== ended) return;
    worker = null;
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer);
      reject(new UndecodableFeed(problem));
    }
    waiting.clear();
    void ended.terminate();
  }

  function read(bytes: Uint8Array): Promise<ArrayBuffer> {
    if (bytes.length > MAX_FEED_BYTES) return Promise.reject(new UndecodableFeed(`more than ${MAX_FEED_BYTES} bytes`));
    worker ??= start();
    const asked = worker;
    const request: ReadRequest = { id: ++requests, bytes: new Uint8Array(bytes).buffer };
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => abandon(asked, `took more than ${timeoutMs} ms to read`), timeoutMs);
      timer.unref();
      waiting.set(request.id, { resolve, reject, timer });
      asked.postMessage(request, [request.bytes]);
    });
  }

  async function close(): Promise<void> {
    const ended = worker;
    if (!ended) return;
    abandon(ended, 'the service is closing');
    await ended.terminate();
  }

  return { read, close };
}
