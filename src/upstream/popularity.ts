import { textNumber } from '../own-memory.ts';

/** Counts how often each request was asked in the last minutes. */
export interface Popularity {
  /** Counts one more request for the request and returns how many there were. */
  note(key: string): number;
}

const GENERATION_MS = 3 * 60_000;
const MAX_QUESTIONS = 50_000;

/**
 * Counts in two generations of three minutes; the older one is dropped when a new one begins. Requests are known by 32
 * bits of their hash, so that each takes the same memory, however long it is. Two that share them only count as one.
 */
export function createPopularity({ now }: { now: () => number }): Popularity {
  let current = new Map<number, number>();
  let previous = new Map<number, number>();
  let since = now();

  return {
    note(key) {
      if (now() - since >= GENERATION_MS || current.size >= MAX_QUESTIONS) {
        previous = current;
        current = new Map();
        since = now();
      }
      const name = textNumber(key);
      const count = (current.get(name) ?? 0) + 1;
      current.set(name, count);
      return count + (previous.get(name) ?? 0);
    },
  };
}
