/**
 * Runs identical concurrent work once. `Waiting` is what the work knows about its callers; `join` adds a new one. The work
 * continues even if all of its callers give up.
 */
export class SingleFlight<Result, Waiting> {
  /**
   * A flight is set to null when it lands: a `Map`'s old backing store keeps deleted entries, and what they refer to, alive
   * until a full garbage collection.
   */
  readonly #underWay = new Map<
    string,
    { waiting: Waiting; flight: { result: Promise<Result>; startedAt: number } | null }
  >();
  readonly #add: (waiting: Waiting, newcomer: Waiting) => void;
  readonly #now: () => number;

  constructor(add: (waiting: Waiting, newcomer: Waiting) => void, now: () => number) {
    this.#add = add;
    this.#now = now;
  }

  /** Joins the flight for the key, or starts a new one, for which `isOurs` is true. */
  join(key: string, newcomer: Waiting, work: (waiting: Waiting) => Promise<Result>) {
    const underWay = this.#underWay.get(key);
    if (underWay?.flight) {
      this.#add(underWay.waiting, newcomer);
      return { ...underWay.flight, isOurs: false };
    }
    const entry: NonNullable<typeof underWay> = { waiting: newcomer, flight: null };
    const result = work(newcomer).finally(() => {
      this.#underWay.delete(key);
      entry.flight = null;
    });
    // All callers may have given up, and an unhandled rejection would end the process.
    result.catch(() => {});
    const flight = { result, startedAt: this.#now() };
    entry.flight = flight;
    this.#underWay.set(key, entry);
    return { ...flight, isOurs: true };
  }
}
