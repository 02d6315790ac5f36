import { randomUUID } from 'node:crypto';
import { ApiError, ERROR_TABLE, type ErrorCode } from '../errors.ts';
import { BreakerOpenError } from './breaker.ts';
import { BudgetExhaustedError } from './budget/budget.ts';
import { type Clock, sleep } from './clock.ts';
import type { SharedStore } from './shared-store.ts';

/** A lock is extended while its holder works; when the holder dies, another instance takes over after this. */
const LOCK_TTL_MS = 2000;
const EXTEND_EVERY_MS = 700;
const LOOK_EVERY_MS = 50;
/** How long the other instances take over the holder's failure instead of asking too. */
const FAILURE_NOTE_MS = 1000;
const FAILURE_NOTE = 'failed:';

/** Single flight across instances: equal questions of all instances share one call. */
export interface InstanceFlight {
  /** One instance at a time does `work`; the others wait and `look` for its result. */
  alone<Result>(key: string, task: { look(): Promise<Result | null>; work(): Promise<Result> }): Promise<Result>;
}

export function createInstanceFlight({ store, clock }: { store: SharedStore; clock: Clock }): InstanceFlight {
  return {
    async alone(key, { look, work }) {
      const lockKey = `lock:${key}`;
      const token = randomUUID();
      for (;;) {
        const brought = await look();
        if (brought !== null) return brought;
        if (await store.lock(lockKey, token, LOCK_TTL_MS)) break;
        const failure = readFailure(await store.get(lockKey));
        if (failure) throw failure;
        await sleep(clock, LOOK_EVERY_MS);
      }
      return hold(lockKey, token, work);
    },
  };

  async function hold<Result>(lockKey: string, token: string, work: () => Promise<Result>): Promise<Result> {
    const release = keepAlive(lockKey, token);
    try {
      const result = await work();
      release();
      store.unlock(lockKey, token);
      return result;
    } catch (error) {
      release();
      const isOfUpstream =
        error instanceof ApiError && !(error instanceof BudgetExhaustedError) && !(error instanceof BreakerOpenError);
      store.unlock(lockKey, token, isOfUpstream ? { text: writeFailure(error), ttlMs: FAILURE_NOTE_MS } : undefined);
      throw error;
    }
  }

  function keepAlive(lockKey: string, token: string): () => void {
    let cancel = clock.after(EXTEND_EVERY_MS, extend);
    function extend(): void {
      store.extend(lockKey, token, LOCK_TTL_MS);
      cancel = clock.after(EXTEND_EVERY_MS, extend);
    }
    return () => cancel();
  }
}

function writeFailure({ code, message, headers }: ApiError): string {
  return FAILURE_NOTE + JSON.stringify({ code, message, headers });
}

function readFailure(note: Buffer | null): ApiError | null {
  const text = note?.toString('utf8') ?? '';
  if (!text.startsWith(FAILURE_NOTE)) return null;
  const { code, message, headers } = JSON.parse(text.slice(FAILURE_NOTE.length));
  if (!Object.hasOwn(ERROR_TABLE, code)) return null;
  return new ApiError(code as ErrorCode, message, { headers, cause: new Error('reported by another instance') });
}
