import type { Distances } from './distance.ts';
import { UnavailableError } from './unavailable-error.ts';

const TICK_MS = 25;

/** The calls to one node that wait for a response. */
interface Line {
  waiting: Set<(error: UnavailableError) => void>;
  /** For how long nothing was heard, without the time in which this process was too busy to listen. */
  silentMs: number;
}

/**
 * Gives up all calls to a node when nothing is heard from it for longer than its distance explains. What counts is
 * silence, not how long a call takes: when many calls wait at once, the last one has to wait for its turn. Time in which
 * this process was busy does not count, because answers lie unread meanwhile.
 */
export function createSilenceDetector(distances: Pick<Distances, 'patienceMs' | 'heard'>) {
  const lines = new Map<string, Line>();

  /** One timer for all calls of a node, for as long as any of them waits. */
  function listen(node: string, line: Line): void {
    const dueAt = performance.now() + TICK_MS;
    setTimeout(() => {
      const wasBusy = performance.now() - dueAt > TICK_MS;
      // Responses that have arrived by now are read before `setImmediate` runs.
      setImmediate(() => {
        if (!wasBusy) line.silentMs += TICK_MS;
        if (line.waiting.size === 0) lines.delete(node);
        else if (line.silentMs < distances.patienceMs(node)) listen(node, line);
        else giveUp(node, line);
      });
    }, TICK_MS);
  }

  function giveUp(node: string, { waiting, silentMs }: Line): void {
    lines.delete(node);
    for (const fail of waiting) fail(new UnavailableError(`no answer for ${silentMs} ms`, 'no-answer'));
    waiting.clear();
  }

  function lineTo(node: string): Line {
    const open = lines.get(node);
    if (open) return open;
    const line: Line = { waiting: new Set(), silentMs: 0 };
    lines.set(node, line);
    listen(node, line);
    return line;
  }

  /**
   * Settles as the call does, or rejects with `UnavailableError` when its node falls silent; `failed` is told why before.
   * The call goes on.
   */
  return function untilSilent<T>(node: string, call: Promise<T>, failed: (error: Error) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const line = lineTo(node);
    const askedAt = performance.now();
    const fail = (error: Error) => {
      failed(error);
      reject(error);
    };
    const heard = () => {
      line.waiting.delete(fail);
      line.silentMs = 0;
    };
    line.waiting.add(fail);
    call.then(
      (value) => {
        distances.heard(node, performance.now() - askedAt);
        heard();
        resolve(value);
      },
      (error) => {
        // A failure after the call was given up is no news.
        const isAwaited = line.waiting.has(fail);
        heard();
        if (isAwaited) fail(error);
      },
    );
    return promise;
  };
}
