import { SECOND_MS, within } from '../core/clock.ts';

/** The process counts as ready after this time even if preparations go on, because it serves everything else. */
const PREPARED_MS = 10 * SECOND_MS;

/** What the process does before it counts as ready. */
export class Preparations {
  readonly #missing = new Set<string>();

  /** Until `work` is done, or for ten seconds, the process is not ready; `missing` says why. */
  add(missing: string, work: Promise<unknown>): void {
    this.#missing.add(missing);
    const end = () => void this.#missing.delete(missing);
    within(PREPARED_MS, work, () => new Error(missing)).then(end, end);
  }

  missing(): string | null {
    return this.#missing.size > 0 ? [...this.#missing].join('; ') : null;
  }
}
