/** Counts what an import leaves out, by reason. */
export class LeftOutCounter {
  readonly #counts = new Map<string, number>();

  add(reason: string): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  addAll(other: LeftOutCounter): void {
    for (const [reason, count] of other.#counts) this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + count);
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}

/** "3,181 calls without time, 1 passing point", the most frequent reasons first. */
export function describeLeftOut(leftOut: Readonly<Record<string, number>>, limit = Number.POSITIVE_INFINITY): string {
  return Object.entries(leftOut)
    .sort(([, one], [, other]) => other - one)
    .slice(0, limit)
    .map(([reason, count]) => `${count.toLocaleString('en')} ${count === 1 ? reason : reason.replace(NOUN, '$&s')}`)
    .join(', ');
}

/** The part of a reason that gets the plural. */
const NOUN = /^(?:(?:empty|passing|repeated|calendar(?= date)) )?[a-z]+(?<!s)(?= |,|$)/;
