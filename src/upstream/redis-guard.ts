import { ReplyError } from 'ioredis';
import type { Log } from './guarded-call.ts';

/** Nobody waits longer for Redis. */
const SILENCE_MS = 150;
const PROBE_EVERY_MS = 200;
const LOG_EVERY_MS = 60_000;

/** Runs commands for as long as Redis is there. Nobody waits for one that is away: it is probed in the background. */
export interface RedisGuard {
  /** What the command answers; `otherwise` when Redis is away, goes away, or refuses the command. */
  run<Answer, Otherwise>(command: () => Promise<Answer>, otherwise: Otherwise): Promise<Answer | Otherwise>;
  isAway(): boolean;
}

export function createRedisGuard({ ping, log }: { ping: () => Promise<unknown>; log: Log }): RedisGuard {
  let isAway = false;
  let refusalLoggedAt = Number.NEGATIVE_INFINITY;

  async function run<Answer, Otherwise>(command: () => Promise<Answer>, otherwise: Otherwise) {
    if (isAway) return otherwise;
    try {
      return await unlessSilent(command());
    } catch (error) {
      if (error instanceof ReplyError) logRefusal(error);
      else goOnWithout(error);
      return otherwise;
    }
  }

  function goOnWithout(error: unknown): void {
    if (isAway) return;
    isAway = true;
    log.warn({ err: error }, 'Redis is away: answers and the call budget are kept in this process');
    probeLater();
  }

  function probeLater(): void {
    setTimeout(async () => {
      try {
        await unlessSilent(ping());
        isAway = false;
        log.info({}, 'Redis is back: answers and the call budget are shared again');
      } catch {
        probeLater();
      }
    }, PROBE_EVERY_MS).unref();
  }

  /** Out of memory, read-only: Redis is there, so it is asked again. */
  function logRefusal(error: unknown): void {
    if (performance.now() - refusalLoggedAt < LOG_EVERY_MS) return;
    refusalLoggedAt = performance.now();
    log.warn({ err: error }, 'Redis refuses a command');
  }

  return { run, isAway: () => isAway };
}

/** If it was this process that was busy, answers lie unread when the timer fires: they are read before `setImmediate`. */
function unlessSilent<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const timer = setTimeout(() => {
    setImmediate(() => reject(new Error(`no answer from Redis within ${SILENCE_MS} ms`)));
  }, SILENCE_MS);
  answer.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
