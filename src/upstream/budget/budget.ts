import { type Clock, sleep } from '../../clock.ts';
import { isHigher, type Priority } from '../../efa/ask.ts';
import { ApiError } from '../../errors/api-error.ts';
import { KeyPool } from './key-pool.ts';
import type { Meter } from './meter.ts';
import { isWithin, stretchFor } from './pace.ts';
import { AccountLoad, accountsOf, NO_ACCOUNT, reserveLimitsOf, type Ticket } from './reserve-limits.ts';
import { type Waiting, WaitingLine } from './waiting-line.ts';

/** The budget has no call for this ticket at present. It says nothing about upstream's health. */
export class BudgetExhaustedError extends ApiError {
  constructor(waitMs: number, { message, cause } = SCARCE) {
    const seconds = Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)));
    super('UPSTREAM_UNAVAILABLE', message, {
      cause: new Error(cause),
      headers: { 'retry-after': String(seconds) },
      isForWantOfCalls: true,
    });
  }
}

/** Each reason has a message for the caller and a cause for the log. */
const SCARCE = {
  message: 'The service may not ask the transport authority more often for now. Try later.',
  cause: 'no upstream call in time: the budget is short, or the store of its counts slow',
};
const TOO_MANY_AT_ONCE: typeof SCARCE = {
  message:
    'Several of your requests wait for the transport authority already. Send fewer at the same time, or try later.',
  cause: 'the account has too many requests waiting for upstream',
};
const MAX_WAIT_MS = 2000;
/** A longer line refuses tickets even before the meters have told whether there are calls for them. */
const MAX_LINE = 1000;
const MAX_RETRY_AFTER_SECONDS = 3600;

/**
 * One line for the calls of all upstream keys, as long as what can be served within two seconds. Several calls are taken
 * from the meters at the same time, because their store may be far away: as many as a second has. One that was taken goes to a
 * ticket of higher priority that came meanwhile.
 */
export class Budget {
  readonly #clock: Clock;
  readonly #noteCall: ((account: string) => void) | undefined;
  readonly #keys: KeyPool;
  readonly #load: AccountLoad;
  readonly #line: WaitingLine;
  readonly #mostUnderWay: number;
  /** True while the line waits for the rate to allow the next call. */
  #isBlocked = false;

  /** `noteCall` is told of each call, by the account for which it is made; of those of no account it is not told. */
  constructor(options: {
    meters: readonly Meter[];
    rps: number;
    clock: Clock;
    noteCall?: ((account: string) => void) | undefined;
  }) {
    const { meters, rps, clock } = options;
    this.#clock = clock;
    this.#noteCall = options.noteCall;
    this.#keys = new KeyPool(meters, clock.now);
    this.#load = new AccountLoad(clock.now);
    this.#mostUnderWay = rps * meters.length;
    this.#line = new WaitingLine(this.#mostUnderWay * (MAX_WAIT_MS / 1000), this.#load);
  }

  /** Waits in line for a call; the index of the upstream key to make it with. Throws `BudgetExhaustedError`. */
  take(ticket: Ticket): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiting = { ticket, until: this.#clock.now() + MAX_WAIT_MS, resolve, reject };
    this.#line.join(waiting);
    if (this.#line.all().length > MAX_LINE) this.#refuse(waiting, MAX_WAIT_MS);
    if (this.#isBlocked) this.#refuseSurplus();
    // Tickets that arrive together are in line before the first of them is served.
    queueMicrotask(() => this.#serve());
    return promise;
  }

  /** To be called when upstream wants no calls with this key for so long. */
  closeKey(key: number, ms: number): void {
    this.#keys.close(key, ms);
  }

  /** To be called when a call with this key, begun at that moment, has succeeded. */
  noteSuccess(key: number, startedAt: number): void {
    this.#keys.noteSuccess(key, startedAt);
  }

  /** By how much freshness is stretched at present for requests of that priority, 1 to 4. */
  stretch(priority: Priority): number {
    return stretchFor(priority, this.#keys.reserveFill(), this.#line.fillFor(priority));
  }

  state() {
    return {
      /** By how much freshness is stretched for plans other than Pro, 1 to 4. */
      stretch: this.stretch('low'),
      /** 1 is full, 0 is nothing left for now. */
      reserveFill: Math.max(0, this.#keys.reserveFill()),
      waiting: this.#line.all().length,
      /** Why no plan gets further calls for now. */
      shortage: this.#keys.shortage(),
    };
  }

  #serve(): void {
    while (!this.#isBlocked && this.#line.underWay.size < this.#mostUnderWay) {
      const next = this.#line.first();
      if (!next) return;
      this.#takeFor(next);
    }
  }

  async #takeFor(waiting: Waiting): Promise<void> {
    const { now } = this.#clock;
    const limits = reserveLimitsOf(waiting.ticket, this.#load);
    this.#line.underWay.add(waiting);
    const [key, result] = await this.#keys.take(limits, waiting.ticket.refusedBy);
    this.#line.underWay.delete(waiting);
    if (result.isTaken) {
      const isBefore = ({ ticket }: Waiting) =>
        isHigher(ticket.priority, waiting.ticket.priority) &&
        ticket.refusedBy !== key &&
        isWithin(limits, reserveLimitsOf(ticket, this.#load));
      this.#grant(this.#line.first(isBefore) ?? waiting, key);
    } else if (result.why === 'rate' && now() < waiting.until) this.#waitForRate(result.waitMs);
    else this.#refuse(waiting, result.waitMs);
    this.#refuseLate();
    this.#serve();
  }

  async #waitForRate(waitMs: number): Promise<void> {
    const wasBlocked = this.#isBlocked;
    this.#isBlocked = true;
    this.#refuseSurplus();
    if (wasBlocked) return;
    const untilLate = this.#line.waiting().map(({ until }) => until - this.#clock.now());
    await sleep(this.#clock, Math.max(1, Math.min(waitMs, ...untilLate)));
    this.#isBlocked = false;
    this.#refuseLate();
    this.#serve();
  }

  #grant(waiting: Waiting, key: number): void {
    const [causer = ''] = accountsOf(waiting.ticket);
    this.#load.note(causer);
    if (causer !== NO_ACCOUNT) this.#noteCall?.(causer);
    this.#line.noteServed(waiting.ticket);
    this.#line.leave(waiting);
    waiting.resolve(key);
  }

  #refuse(waiting: Waiting, waitMs: number, reason?: typeof SCARCE): void {
    this.#line.leave(waiting);
    waiting.reject(new BudgetExhaustedError(waitMs, reason));
  }

  #refuseLate(): void {
    const now = this.#clock.now();
    for (const late of this.#line.waiting()) if (late.until <= now) this.#refuse(late, MAX_WAIT_MS);
  }

  #refuseSurplus(): void {
    const { ofAccounts, ofLine } = this.#line.surplus();
    for (const waiting of ofAccounts) this.#refuse(waiting, MAX_WAIT_MS, TOO_MANY_AT_ONCE);
    for (const waiting of ofLine) this.#refuse(waiting, MAX_WAIT_MS);
  }
}
