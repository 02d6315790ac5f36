import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Clock, sleep } from '../clock.ts';
import { ApiError } from '../errors/api-error.ts';
import { BreakerOpenError } from './breaker.ts';
import { BudgetExhaustedError } from './budget/budget.ts';
import type { SharedStore } from './shared-store.ts';

/** A lock is extended while its holder works; when the holder dies, another instance takes over after this. */
const LOCK_TTL_MS = 2000;
const EXTEND_EVERY_MS = 700;
const LOOK_EVERY_MS = 50;
/** How long the other instances take over the holder's failure instead of asking too. */
const FAILURE_NOTE_MS = 1000;
const FAILURE_NOTE = 'failed:';

/**
 * Single flight across instances: one instance at a time does `work`; the others wait and `look` for its result. `shared` is
 * fulfilled when they can find it, or never will; it does not reject. The waiting ends after `maxWaitMs`, when no request
 * waits any more.
 */
export function createInstanceFlight({
  store,
  clock,
  maxWaitMs,
}: {
  store: SharedStore;
  clock: Clock;
  maxWaitMs: number;
}) {
  return async function alone<Result>(
    key: string,
    { look, work }: { look(): Promise<Result | null>; work(): Promise<{ result: Result; shared: Promise<void> }> },
  ): Promise<Result> {
    const lockKey = `lock:${key}`;
    const token = randomUUID();
    const giveUpAt = clock.now() + maxWaitMs;
    for (;;) {
      // Redis takes the commands in their order: a response that was given to it before the lock was free is found.
      const [isOurs, brought] = await Promise.all([store.lock(lockKey, token, LOCK_TTL_MS), look()]);
      if (isOurs && brought === null) break;
      if (isOurs) store.unlock(lockKey, token);
      if (brought !== null) return brought;
      const failure = readFailure(await store.readLock(lockKey));
      if (failure) throw failure;
      if (clock.now() >= giveUpAt) throw tooLate();
      await sleep(clock, LOOK_EVERY_MS);
    }
    const release = keepAlive(lockKey, token);
    try {
      const { result, shared } = await work();
      // The lock is kept until the result is shared; the requests get it before.
      shared.then(() => {
        release();
        store.unlock(lockKey, token);
      });
      return result;
    } catch (error) {
      release();
      const note = isOfCall(error) ? { text: writeFailure(error), ttlMs: FAILURE_NOTE_MS } : undefined;
      store.unlock(lockKey, token, note);
      throw error;
    }
  };

  function keepAlive(lockKey: string, token: string): () => void {
    const extend = () => {
      void store.lock(lockKey, token, LOCK_TTL_MS);
      cancel = clock.after(EXTEND_EVERY_MS, extend);
    };
    let cancel = clock.after(EXTEND_EVERY_MS, extend);
    return () => cancel();
  }
}

/** Whether a call has failed, and was not refused before it was made. */
export function isOfCall(error: unknown): error is ApiError {
  return error instanceof ApiError && !(error instanceof BudgetExhaustedError) && !(error instanceof BreakerOpenError);
}

export function tooLate(): ApiError {
  return new ApiError('UPSTREAM_TIMEOUT', 'The transport authority did not answer in time. Try again later.');
}

function writeFailure({ code, message, headers }: ApiError): string {
  return FAILURE_NOTE + JSON.stringify({ code, message, headers });
}

/** The failures of calls, and the only header that they have: whatever else is written there reaches no caller. */
const failureSchema = z.object({
  code: z.enum(['UPSTREAM_ERROR', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT']),
  message: z.string().max(500),
  headers: z.object({
    'retry-after': z
      .string()
      .regex(/^\d{1,6}$/)
      .optional(),
  }),
});

/** Null for a lock, and for a note in another form: then the wait goes on. */
function readFailure(note: string): ApiError | null {
  if (!note.startsWith(FAILURE_NOTE)) return null;
  try {
    const { code, message, headers } = failureSchema.parse(JSON.parse(note.slice(FAILURE_NOTE.length)));
    const retryAfter = headers['retry-after'];
    return new ApiError(code, message, {
      ...(retryAfter && { headers: { 'retry-after': retryAfter } }),
      cause: new Error('reported by another instance'),
    });
  } catch {
    return null;
  }
}
