/** Counts what an import leaves out, by reason. */
export class LeftOut {
  readonly #counts = new Map<string, number>();

  add(reason: string): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}
