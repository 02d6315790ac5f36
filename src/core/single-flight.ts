/**
 * Equal work that is under way is done once. `Waiting` is what the work knows of those who wait for it; `join` adds a
 * newcomer to them. The work goes on when all of them have given up.
 */
export class SingleFlight<Result, Waiting> {
  /**
   * A flight is null after landing: the former memory of a `Map` keeps deleted entries, and what they refer to, from being
   * freed until a full garbage collection.
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

  /** The flight under way for the key, else a new one, which is `isOurs`. */
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
    // All requests may have given up, and a rejection without a handler would end the process.
    result.catch(() => {});
    const flight = { result, startedAt: this.#now() };
    entry.flight = flight;
    this.#underWay.set(key, entry);
    return { ...flight, isOurs: true };
  }
}
