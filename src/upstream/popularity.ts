import { MINUTE_MS } from '../clock.ts';
import { TwoGenerations } from '../decaying-count.ts';
import { textNumber } from '../own-memory.ts';

const GENERATION_MS = 3 * MINUTE_MS;

/** Counts how often each request was asked in the last three to six minutes. */
export class Popularity {
  readonly #counts: TwoGenerations;

  constructor(now: () => number) {
    this.#counts = new TwoGenerations(GENERATION_MS, now);
  }

  /** Counts one more request with the key and returns how many there were. */
  note(key: string): number {
    const { current, previous } = this.#counts.open();
    const number = textNumber(key);
    const count = (current.get(number) ?? 0) + 1;
    current.set(number, count);
    return count + (previous.get(number) ?? 0);
  }
}
