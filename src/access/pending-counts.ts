import { randomUUID } from 'node:crypto';
import { UnavailableError } from '../core/redis/connection.ts';
import { type AccountCounts, createAccountCounts, NOTHING_KNOWN, type Sender } from './account-counts.ts';
import type { QuotaDay } from './day.ts';
import type { CountStore, CountUpdate } from './store.ts';

/** The updates of one account. At most one is under way, so that the store sees them in order. */
interface UnsentUpdates {
  /**
   * Unsent updates by day. `count` is negative if refunds exceed charges. `sender` is that of the unacknowledged requests;
   * `usedBySenderBefore` is the last value received before the first of these requests was lost.
   */
  waiting: Map<QuotaDay, Omit<CountUpdate, 'number'>>;
  /** Sent but unacknowledged: resent unchanged, with the same number, until acknowledged. */
  sent: CountUpdate | null;
  sending: Promise<void> | null;
  next: Promise<void> | null;
}

const RECONCILE_EVERY_MS = 100;
/** Delay after a responding store has refused a count. */
const RETRY_AFTER_MS = 1000;
/** An exiting process retries for this long, so that a brief outage of the store loses no counts. */
const LAST_TRIES_MS = 2000;

/** Collects charges here and sends them to the store, so that each request counts exactly once even if messages are lost. */
export class PendingCounts {
  readonly #store: CountStore;
  readonly #processName = randomUUID();
  readonly #entries = new Map<string, UnsentUpdates>();
  readonly #counts: AccountCounts;
  #names = 0;
  #updates = 0;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(store: CountStore, counts = createAccountCounts()) {
    this.#store = store;
    this.#counts = counts;
  }

  /**
   * The sender for admission requests of this account and day; replaced once its unacknowledged requests are reconciled.
   * `recordUsed` records the store's replies to it; later reconciliations start from the last one.
   */
  senderOf(accountId: string, day: QuotaDay): Sender {
    const entry = this.#counts.get(accountId + day);
    if (entry?.sender) return entry.sender;
    const sender = { name: `${this.#processName}-${++this.#names}`, used: 0 };
    if (entry) entry.sender = sender;
    else this.#counts.set(accountId + day, { ...NOTHING_KNOWN, sender });
    return sender;
  }

  /** Adds requests to charge, or to refund if negative. */
  add(accountId: string, day: QuotaDay, count: number): void {
    this.#pendingOf(accountId, day).count += count;
  }

  /** Adds an admission request whose response will never arrive. `isServed`: it was admitted without the response. */
  addUnacknowledged(accountId: string, day: QuotaDay, isServed: boolean, count = 1): void {
    const pending = this.#pendingOf(accountId, day);
    if (pending.unacknowledged === 0) {
      const { name, used } = this.senderOf(accountId, day);
      Object.assign(pending, { sender: name, usedBySenderBefore: used });
    }
    pending.unacknowledged += count;
    if (isServed) pending.count += count;
  }

  has(accountId: string): boolean {
    return this.#entries.has(accountId);
  }

  /** Sends all updates soon, along with those added until then; while the store is unreachable, as soon as it is back. */
  schedule(afterMs = RECONCILE_EVERY_MS): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => void this.#reconcileAll(), afterMs).unref();
  }

  /** Sends at once. Resolves to whether the store then has everything that was added for the account before this call. */
  async reconcile(accountId: string): Promise<boolean> {
    if (this.#store.presence.isUnreachable(accountId)) return false;
    const entry = this.#entries.get(accountId);
    try {
      if (entry) await this.#send(accountId, entry);
      return true;
    } catch (error) {
      if (error instanceof UnavailableError) return false;
      throw error;
    }
  }

  /** Tries for two more seconds. Resolves to the number of accounts with unsent updates. */
  async close(): Promise<number> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    for (let waitedMs = 0; ; waitedMs += RECONCILE_EVERY_MS) {
      await this.#reconcileAll();
      if (this.#entries.size === 0 || waitedMs >= LAST_TRIES_MS) return this.#entries.size;
      await new Promise((resolve) => setTimeout(resolve, RECONCILE_EVERY_MS));
    }
  }

  async #reconcileAll(): Promise<void> {
    const { presence } = this.#store;
    const reachable = [...this.#entries.keys()].filter((accountId) => !presence.isUnreachable(accountId));
    const outcomes = await Promise.all(
      reachable.map(async (accountId) => (await this.reconcile(accountId)) || presence.isUnreachable(accountId)),
    );
    this.#timer = null;
    if (this.#entries.size > 0) this.schedule(outcomes.includes(false) ? RETRY_AFTER_MS : RECONCILE_EVERY_MS);
  }

  #pendingOf(accountId: string, day: QuotaDay): Omit<CountUpdate, 'number'> {
    const entry = this.#entries.get(accountId) ?? { waiting: new Map(), sent: null, sending: null, next: null };
    this.#entries.set(accountId, entry);
    const waiting = entry.waiting.get(day);
    if (waiting) return waiting;
    const { name: sender } = this.senderOf(accountId, day);
    const pending = { accountId, day, count: 0, unacknowledged: 0, sender, usedBySenderBefore: 0 };
    entry.waiting.set(day, pending);
    return pending;
  }

  /**
   * Only one send runs at a time. Updates added during a send may not be part of it, so later callers wait for the next one.
   */
  #send(accountId: string, entry: UnsentUpdates): Promise<void> {
    if (entry.sending) {
      entry.next ??= entry.sending
        .catch(() => {})
        .then(() => {
          entry.next = null;
          return this.#send(accountId, entry);
        });
      return entry.next;
    }
    entry.sending = this.#sendOnce(accountId, entry).finally(() => {
      entry.sending = null;
    });
    return entry.sending;
  }

  #forgetSender(accountId: string, day: QuotaDay): void {
    const entry = this.#counts.get(accountId + day);
    if (entry) entry.sender = null;
  }

  /** Counts that arrive meanwhile wait for the next batch; otherwise the loop would never end under load. */
  async #sendOnce(accountId: string, entry: UnsentUpdates): Promise<void> {
    if (entry.sent) await this.#deliver(entry, entry.sent);
    const waiting = [...entry.waiting.values()];
    for (const pending of waiting) {
      entry.waiting.delete(pending.day);
      if (pending.count === 0 && pending.unacknowledged === 0) continue;
      entry.sent = { ...pending, number: ++this.#updates };
      await this.#deliver(entry, entry.sent);
    }
    if (entry.waiting.size === 0 && this.#entries.get(accountId) === entry) this.#entries.delete(accountId);
  }

  async #deliver(entry: UnsentUpdates, update: CountUpdate): Promise<void> {
    const { accountId } = update;
    const usedBySender = await this.#store.presence.watch(accountId, this.#store.update(update));
    entry.sent = null;
    const sender = this.senderOf(accountId, update.day);
    if (sender.name !== update.sender) return;
    if (update.unacknowledged === 0) recordUsed(sender, usedBySender);
    // The store now refuses earlier requests of this sender that arrive late.
    else this.#forgetSender(accountId, update.day);
  }
}

/** Takes the larger number, because responses may arrive out of order. */
export function recordUsed(sender: Sender, used: number): void {
  sender.used = Math.max(sender.used, used);
}
