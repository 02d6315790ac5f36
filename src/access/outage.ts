import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type Counter, StoreAwayError } from './store.ts';

/** A store that says nothing for so long while it is asked is away. */
const SILENCE_MS = 200;
const PROBE_EVERY_MS = 100;
const MAX_PARTS = 10_000;

interface Log {
  info(message: string): void;
  warn(fields: object, message: string): void;
}

/** Knows whether the store can be asked, so that nobody waits for one that is away. */
export interface Outage {
  isAway(accountId: string): boolean;
  /** The answer, or `StoreAwayError` when none comes. The call itself goes on: its late answer is the caller's. */
  wait<T>(accountId: string, call: Promise<T>): Promise<T>;
  close(): void;
}

/** `beforeBack` does what has to be done before a part of the store that came back is asked by requests again. */
export function watchStore(options: {
  store: Pick<Counter, 'partOf' | 'ping'>;
  beforeBack: (part: string) => Promise<void>;
  log: Log;
  silenceMs?: number;
}): Outage {
  const { store, beforeBack, log, silenceMs = SILENCE_MS } = options;
  const away = new Set<string>();
  const heardAt = new LRUCache<string, number>({ max: MAX_PARTS });
  const closing = new AbortController();

  async function wait<T>(accountId: string, call: Promise<T>): Promise<T> {
    const part = store.partOf(accountId);
    try {
      return await unlessSilent(part, call);
    } catch (error) {
      if (error instanceof StoreAwayError) startProbing(part, accountId, error);
      throw error;
    }
  }

  /** Many may be asking at once and the last of them waits for its turn: silence is what counts, not its own wait. */
  function unlessSilent<T>(part: string, call: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const askedAt = performance.now();
    let timer = setTimeout(check, silenceMs);

    function check(): void {
      // If it was this process that was busy, answers are waiting to be read. They are read before `setImmediate`.
      setImmediate(() => {
        const silentFor = performance.now() - Math.max(askedAt, heardAt.get(part) ?? 0);
        if (silentFor < silenceMs) timer = setTimeout(check, silenceMs - silentFor);
        else reject(new StoreAwayError(`no answer for ${Math.round(silentFor)} ms`, { isInDoubt: true }));
      });
    }
    call.then(
      (answer) => {
        heardAt.set(part, performance.now());
        clearTimeout(timer);
        resolve(answer);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
    return promise;
  }

  function startProbing(part: string, accountId: string, error: StoreAwayError): void {
    if (away.has(part) || closing.signal.aborted) return;
    if (away.size === 0) log.warn({ err: error.cause ?? error }, 'the account store is away: known keys go on');
    away.add(part);
    probeUntilBack(part, accountId).catch(() => away.delete(part));
  }

  async function probeUntilBack(part: string, accountId: string): Promise<void> {
    do await sleep(PROBE_EVERY_MS, undefined, { ref: false, signal: closing.signal });
    while (!(await isBack(part, accountId)));
    away.delete(part);
    if (away.size === 0) log.info('the account store is back and knows of every request');
  }

  /** An answer that was long in coming, as from a process that was stopped, says nothing of the next one. */
  async function isBack(part: string, accountId: string): Promise<boolean> {
    const askedAt = performance.now();
    try {
      await store.ping(accountId);
      if (performance.now() - askedAt >= silenceMs) return false;
      await beforeBack(part);
      return true;
    } catch {
      return false;
    }
  }

  return { isAway: (accountId) => away.has(store.partOf(accountId)), wait, close: () => closing.abort() };
}
