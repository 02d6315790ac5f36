/** Counts how often each question was asked in the last minutes. */
export interface Popularity {
  /** Counts one more request for the question and returns how many there were. */
  note(key: string): number;
}

const GENERATION_MS = 3 * 60_000;
const MAX_QUESTIONS = 50_000;

/** Counts in two generations of three minutes; the older one is dropped when a new one begins. */
export function createPopularity({ now }: { now: () => number }): Popularity {
  let current = new Map<string, number>();
  let previous = new Map<string, number>();
  let since = now();

  return {
    note(key) {
      if (now() - since >= GENERATION_MS || current.size >= MAX_QUESTIONS) {
        previous = current;
        current = new Map();
        since = now();
      }
      const count = (current.get(key) ?? 0) + 1;
      current.set(key, count);
      return count + (previous.get(key) ?? 0);
    },
  };
}
