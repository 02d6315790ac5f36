import { StoreAwayError } from './store.ts';

const TICK_MS = 25;

/** The calls to one part of the store that wait for an answer. */
interface Line {
  waiting: Set<(error: StoreAwayError) => void>;
  /** For how long this process was listening and heard nothing. */
  silentMs: number;
}

/**
 * Gives up calls when nothing is heard from their part of the store. What counts is silence, not how long a call takes:
 * when many ask at once the last of them waits for its turn. And only time in which this process was listening counts:
 * while it is busy itself, answers lie unread.
 */
export function createSilenceWatch(silenceMs: number) {
  const lines = new Map<string, Line>();

  /** One timer for all calls of a part, for as long as there are any. */
  function listen(part: string, line: Line): void {
    const dueAt = performance.now() + TICK_MS;
    setTimeout(() => {
      const wasBusy = performance.now() - dueAt > TICK_MS;
      // What has arrived by now is read before `setImmediate`.
      setImmediate(() => {
        if (!wasBusy) line.silentMs += TICK_MS;
        if (line.waiting.size === 0) lines.delete(part);
        else if (line.silentMs < silenceMs) listen(part, line);
        else giveUp(part, line);
      });
    }, TICK_MS);
  }

  function giveUp(part: string, { waiting, silentMs }: Line): void {
    lines.delete(part);
    const error = new StoreAwayError(`no answer for ${silentMs} ms`, { isInDoubt: true });
    for (const reject of waiting) reject(error);
  }

  function lineTo(part: string): Line {
    const open = lines.get(part);
    if (open) return open;
    const line: Line = { waiting: new Set(), silentMs: 0 };
    lines.set(part, line);
    listen(part, line);
    return line;
  }

  /** What the call resolves or rejects with, or `StoreAwayError` when its part falls silent. */
  return function unlessSilent<T>(part: string, call: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const line = lineTo(part);
    line.waiting.add(reject);
    const heard = () => {
      line.waiting.delete(reject);
      line.silentMs = 0;
    };
    call.then(heard, heard);
    call.then(resolve, reject);
    return promise;
  };
}
