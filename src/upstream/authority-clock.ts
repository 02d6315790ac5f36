import type { Log } from '../log.ts';

/** A larger difference hides vehicles that have not left yet, or shows some that have. */
const MAX_SKEW_MS = 5000;
/** `Date` has whole seconds. */
const DATE_STEP_MS = 1000;

/** Compares the clock of the authority, which its responses tell in `Date`, with ours. */
export class AuthorityClock {
  /** By how much the authority's clock is ahead at least, in milliseconds; null until a response has told. */
  skewMs: number | null = null;
  readonly #log: Log;
  #isOff = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** `date` was written between the two moments if the clocks agree: how long the response took is no difference. */
  note(date: string | undefined, { sentAt, receivedAt }: { sentAt: number; receivedAt: number }): void {
    const said = Date.parse(date ?? '');
    if (Number.isNaN(said)) return;
    const behind = Math.min(0, said + DATE_STEP_MS - sentAt);
    this.skewMs = behind < 0 ? behind : Math.max(0, said - receivedAt);
    const isOff = Math.abs(this.skewMs) > MAX_SKEW_MS;
    if (isOff === this.#isOff) return;
    this.#isOff = isOff;
    const fields = { skewSeconds: this.skewMs / 1000 };
    if (isOff) this.#log.warn(fields, 'the clock of the authority and ours differ by more than 5 seconds');
    else this.#log.info(fields, 'the clock of the authority and ours agree again');
  }
}
