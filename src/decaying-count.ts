/** A count in which events count less with time: half as much after each half-life. */
export class DecayingCount {
  readonly #lifeMs: number;
  #count = 0;
  #at = 0;

  constructor(halfLifeMs: number) {
    this.#lifeMs = halfLifeMs / Math.LN2;
  }

  add(count: number, now: number): void {
    this.#count = this.read(now) + count;
    this.#at = now;
  }

  read(now: number): number {
    return this.#count * Math.exp(Math.min(0, this.#at - now) / this.#lifeMs);
  }
}

const MAX_KEYS = 50_000;

/**
 * A number for each of many texts, remembered for one to two generations. It stands where a decaying count of each text
 * would take several times the memory. Keys are 32 bits of a hash (`textNumber`), so that each takes the same memory,
 * however long its text is; two texts that share them count as one.
 */
export class TwoGenerations {
  readonly #generationMs: number;
  readonly #now: () => number;
  #current = new Map<number, number>();
  #previous = new Map<number, number>();
  #since: number;

  constructor(generationMs: number, now: () => number) {
    this.#generationMs = generationMs;
    this.#now = now;
    this.#since = now();
  }

  /** Returns both generations; numbers are set in `current`. */
  open(): { current: Map<number, number>; previous: ReadonlyMap<number, number> } {
    if (this.#now() - this.#since >= this.#generationMs || this.#current.size >= MAX_KEYS) {
      this.#previous = this.#current;
      this.#current = new Map();
      this.#since = this.#now();
    }
    return { current: this.#current, previous: this.#previous };
  }
}
