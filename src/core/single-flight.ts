/**
 * Runs identical concurrent work once. `Waiting` is what the work knows about its callers; `join` adds a new one. When all
 * callers have left, the work's signal aborts, and the next caller starts new work. Callers without a signal never leave.
 */
export class SingleFlight<Result, Waiting> {
  /**
   * A flight is set to null when it lands: a `Map`'s old backing store keeps deleted entries, and what they refer to, alive
   * until a full garbage collection.
   */
  readonly #underWay = new Map<string, FlightEntry<Result, Waiting>>();
  readonly #add: (waiting: Waiting, newcomer: Waiting) => void;
  readonly #now: () => number;

  constructor(add: (waiting: Waiting, newcomer: Waiting) => void, now: () => number) {
    this.#add = add;
    this.#now = now;
  }

  /** Joins the flight for the key, or starts a new one, for which `isOurs` is true. `signal` aborts when the caller leaves. */
  join(
    key: string,
    newcomer: Waiting,
    work: (waiting: Waiting, abandoned: AbortSignal) => Promise<Result>,
    signal?: AbortSignal,
  ) {
    const underWay = this.#underWay.get(key);
    if (underWay?.flight) {
      this.#add(underWay.waiting, newcomer);
      this.#leaveOnAbort(key, underWay, signal);
      return { ...underWay.flight, waiting: underWay.waiting, isOurs: false };
    }
    const entry: FlightEntry<Result, Waiting> = {
      waiting: newcomer,
      callers: 0,
      abandoned: new AbortController(),
      flight: null,
    };
    const result = work(newcomer, entry.abandoned.signal).finally(() => {
      this.#forget(key, entry);
      entry.flight = null;
    });
    // All callers may have given up, and an unhandled rejection would end the process.
    result.catch(() => {});
    const flight = { result, startedAt: this.#now() };
    entry.flight = flight;
    this.#underWay.set(key, entry);
    this.#leaveOnAbort(key, entry, signal);
    return { ...flight, waiting: newcomer, isOurs: true };
  }

  #leaveOnAbort(key: string, entry: FlightEntry<Result, Waiting>, signal: AbortSignal | undefined): void {
    entry.callers++;
    const leave = () => {
      if (--entry.callers > 0 || !entry.flight) return;
      this.#forget(key, entry);
      entry.abandoned.abort();
    };
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave, { once: true });
  }

  #forget(key: string, entry: FlightEntry<Result, Waiting>): void {
    if (this.#underWay.get(key) === entry) this.#underWay.delete(key);
  }
}

/** The work for one key. `callers` are those still waiting; `flight` is null until the work has begun. */
interface FlightEntry<Result, Waiting> {
  waiting: Waiting;
  callers: number;
  abandoned: AbortController;
  flight: { result: Promise<Result>; startedAt: number } | null;
}
