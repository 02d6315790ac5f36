import { setTimeout as sleep } from 'node:timers/promises';
import { createSilenceWatch } from './silence.ts';
import { type Counter, StoreAwayError } from './store.ts';

/** A store that says nothing for so long while it is asked is away. */
const SILENCE_MS = 200;
const PROBE_EVERY_MS = 100;

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
  const unlessSilent = createSilenceWatch(silenceMs);
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

  function startProbing(part: string, accountId: string, error: StoreAwayError): void {
    if (away.has(part) || closing.signal.aborted) return;
    // Not the error itself: the client's errors carry what was sent.
    if (away.size === 0) log.warn({ reason: error.message }, 'the account store is away: known keys go on');
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
