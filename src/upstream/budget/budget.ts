import type { Clock } from '../../core/clock.ts';
import { rankOf, type Ticket, TurnQueue } from '../../core/turn-queue.ts';
import { ApiError, type UnavailableCause } from '../../errors/api-error.ts';
import { KeyPool } from './key-pool.ts';
import type { Meter, TakeResult } from './meter.ts';
import type { Limits } from './pace.ts';

const MESSAGES = {
  day: 'No calls to Transport for NSW are left for now. Try again later.',
  rate: 'Too many requests are waiting for Transport for NSW. Try again later.',
  account: 'Too many of your requests are waiting for Transport for NSW. Send fewer at once, or try again later.',
  upstream: 'Transport for NSW accepts no requests right now. Try again later.',
} as const satisfies Partial<Record<UnavailableCause, string>>;
const MAX_RETRY_AFTER_SECONDS = 3600;

/** No call is available in time. This says nothing about upstream's health. */
export class BudgetExhaustedError extends ApiError {
  constructor(unavailable: keyof typeof MESSAGES, waitMs: number) {
    const seconds = Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)));
    super('UPSTREAM_UNAVAILABLE', MESSAGES[unavailable], { headers: { 'retry-after': String(seconds) }, unavailable });
  }
}

/** A request to the queue for one call. */
export interface CallTicket extends Ticket {
  /** A key that upstream refused for this request; another one is used. */
  refusedBy?: number;
  hasCall?: boolean;
}

/** A ticket in the queue. It may be served by a call that was taken for another one. */
interface Waiting {
  ticket: CallTicket;
  /** True while a call is being taken for it. */
  isTaking: boolean;
  /** When it is refused, in milliseconds since 1970. */
  until: number;
  resolve(key: number): void;
  reject(error: Error): void;
}

/** The longest a ticket waits for its call. */
const MAX_WAIT_MS = 3000;
/** Longest queue until the meters have reported whether calls are available. */
const MAX_QUEUE = 1000;
const CAUSES = { rate: 'rate', day: 'day', paused: 'upstream' } as const;

/**
 * The queue for calls with all upstream keys; no longer than can be served within three seconds. Up to one second's worth of
 * calls is taken from the meters concurrently, because their store may be far away. Each call goes to the first ticket in the
 * queue.
 */
export class Budget {
  readonly #clock: Clock;
  readonly #keys: KeyPool;
  readonly #queue = new TurnQueue<Waiting>();
  readonly #callsPerSecond: number;
  #underWay = 0;
  /** While calls are refused: the priorities, the end and the reason. */
  #block: { rank: number; until: number; cause: 'day' | 'rate' | 'upstream'; cancel(): void } | null = null;

  constructor({ meters, limits, clock }: { meters: readonly Meter[]; limits: Limits; clock: Clock }) {
    this.#clock = clock;
    this.#keys = new KeyPool(meters, limits, clock.now);
    this.#callsPerSecond = limits.rps * meters.length;
  }

  /**
   * Waits for a call. Returns the index of the upstream key to use; throws `BudgetExhaustedError` if no call is available in
   * time, or when all callers have hung up.
   */
  spend(ticket: CallTicket, abandoned?: AbortSignal): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiting = { ticket, isTaking: false, until: this.#clock.now() + MAX_WAIT_MS, resolve, reject };
    this.#queue.join(waiting);
    const leave = () => {
      if (this.#queue.has(waiting) && !waiting.isTaking) this.#refuse(waiting, 'rate');
    };
    abandoned?.addEventListener('abort', leave, { once: true });
    // Queues tickets that arrive together before serving the first one.
    queueMicrotask(() => this.#serve());
    return promise;
  }

  /** Call this when upstream refuses calls with this key for `ms` milliseconds. */
  closeKey(key: number, ms: number): void {
    this.#keys.close(key, ms);
  }

  /** Call this when a call with this key, started at `startedAt`, has succeeded. */
  recordSuccess(key: number, startedAt: number): void {
    this.#keys.recordSuccess(key, startedAt);
  }

  state() {
    return {
      /** The share of calls still available to requests for now, 0 to 1. */
      budgetLeft: this.#keys.budgetLeft(),
      waiting: this.#queue.length,
      /** Why requests get no calls for now; null while they do. */
      shortage: this.#keys.shortage(),
    };
  }

  #serve(): void {
    this.#refuseSurplus();
    while (this.#underWay < this.#callsPerSecond) {
      const next = this.#queue.inOrder().find(({ waiting }) => !waiting.isTaking)?.waiting;
      if (!next || (this.#block && rankOf(next.ticket.priority) <= this.#block.rank)) return;
      this.#spendFor(next);
    }
  }

  async #spendFor(waiting: Waiting): Promise<void> {
    waiting.isTaking = true;
    this.#underWay++;
    const [key, result] = await this.#keys.spend(waiting.ticket.priority, waiting.ticket.refusedBy);
    this.#underWay--;
    waiting.isTaking = false;
    if (result.isTaken) this.#grant(key);
    else if (this.#clock.now() + result.waitMs > waiting.until)
      this.#refuse(waiting, CAUSES[result.why], result.waitMs);
    else this.#blockFor(result, rankOf(waiting.ticket.priority));
    this.#serve();
  }

  #grant(key: number): void {
    const first = this.#queue.inOrder().find(({ waiting: { ticket } }) => ticket.refusedBy !== key)?.waiting;
    if (!first) return;
    this.#queue.serve(first);
    first.ticket.hasCall = true;
    first.resolve(key);
  }

  /** Stops taking calls for a while: for `rate` all calls, for `day` calls of this priority and lower ones. */
  #blockFor({ why, waitMs }: TakeResult & { isTaken: false }, rank: number): void {
    const now = this.#clock.now();
    const until = Math.min(now + Math.max(1, waitMs), ...this.#queue.inOrder().map(({ waiting }) => waiting.until));
    const before = this.#block;
    const block = { rank: why === 'day' ? rank : Number.POSITIVE_INFINITY, cause: CAUSES[why] };
    if (before && until >= before.until) {
      if (block.rank > before.rank) Object.assign(before, block);
      return;
    }
    before?.cancel();
    const cancel = this.#clock.after(Math.max(1, until - now), () => {
      this.#block = null;
      this.#serve();
    });
    this.#block = { ...(before && before.rank > block.rank ? before : block), until, cancel };
  }

  #refuse(waiting: Waiting, cause: keyof typeof MESSAGES, waitMs = MAX_WAIT_MS): void {
    this.#queue.leave(waiting);
    waiting.reject(new BudgetExhaustedError(cause, waitMs));
  }

  /**
   * Refuses tickets that waited too long and, while calls are scarce, tickets beyond an account's limit and at the end of the
   * queue.
   */
  #refuseSurplus(): void {
    const cause = this.#block?.cause ?? 'rate';
    const longest = this.#block ? (this.#callsPerSecond * MAX_WAIT_MS) / 1000 : MAX_QUEUE;
    let place = 0;
    for (const { waiting, isBeyond } of this.#queue.inOrder()) {
      if (waiting.until <= this.#clock.now()) this.#refuse(waiting, cause);
      else if (waiting.isTaking) place++;
      else if (this.#block && isBeyond) this.#refuse(waiting, 'account');
      else if (place >= longest) this.#refuse(waiting, cause);
      else place++;
    }
  }
}
