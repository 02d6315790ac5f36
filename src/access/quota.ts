import type { Log } from '../core/log.ts';
import { UnavailableError } from '../core/redis/connection.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Admission, Caller, Charge } from './account.ts';
import { createAccountCounts, type Sender } from './account-counts.ts';
import { type QuotaDay, quotaDay } from './day.ts';
import type { ApiKey } from './keys.ts';
import { type KnownCaller, KnownKeys } from './known-keys.ts';
import { PendingCounts, recordUsed } from './pending-counts.ts';
import { PLANS } from './plan.ts';
import type { AdmissionReply, QuotaStore } from './store.ts';

const EVENTS_EVERY_MS = 2000;

/**
 * Admits and charges requests. With a daily limit, the store charges a request before it is admitted, so the limit is exact.
 * Without one, requests do not wait for the store.
 */
export class Quota {
  readonly #store: QuotaStore;
  readonly #now: () => number;
  readonly #log: Log<'warn'>;
  readonly #known: KnownKeys;
  readonly #pending: PendingCounts;
  /** Events by account and counter: a few for each publishable key in use. */
  readonly #events = new Map<string, { accountId: string; counter: string; count: number }>();
  #eventTimer: NodeJS.Timeout | null = null;

  constructor({ store, now, log }: { store: QuotaStore; now: () => number; log: Log<'warn'> }) {
    this.#store = store;
    this.#now = now;
    this.#log = log;
    const counts = createAccountCounts();
    this.#known = new KnownKeys({ now, instances: store.instances, log, counts });
    this.#pending = new PendingCounts(store, counts);
  }

  /**
   * Returns null if the key is unknown or revoked. Throws `SERVICE_UNAVAILABLE` if that cannot be determined now. A request
   * that costs several is admitted only if all fit into the day and the allowances. Returns a promise only if the store must be
   * queried.
   */
  admit(
    key: ApiKey,
    chargeOptions: Partial<Charge> = {},
    caller = this.callerOf(key),
  ): Admission | null | Promise<Admission | null> {
    if (!caller && this.isUnknown(key)) return null;
    const charge = this.#withDefaults(chargeOptions);
    const recalled = caller && this.#recall(caller, charge);
    if (recalled) return recalled;
    const isUnreachable = this.#store.presence.isUnreachable(key.accountId);
    return isUnreachable ? this.#admitUncounted(key, charge) : this.#admitByStore(key, charge);
  }

  /** The admission of a known caller if no lookup is needed; else null. */
  #recall(caller: KnownCaller, charge: Charge): Admission | null {
    const recalled = this.#store.isRemote ? this.#known.recall(caller, charge) : null;
    if (recalled?.kind === 'admitted') this.#countLater(caller.accountId, recalled, recalled.count);
    return recalled;
  }

  /** The charge, by default one request today. */
  #withDefaults({ count = 1, day = quotaDay(this.#now()), allowances = [] }: Partial<Charge>): Charge {
    return { count, day, allowances };
  }

  /**
   * The account of a key, looked up unless the store confirmed the key recently. Null if the key is unknown or revoked. Throws
   * `SERVICE_UNAVAILABLE` if that cannot be determined now.
   */
  async get(key: ApiKey): Promise<KnownCaller | null> {
    if (this.isUnknown(key) || !(await this.#load(key, quotaDay(this.#now())))) return null;
    return this.callerOf(key) ?? refuse();
  }

  /** Looks up the key and its count, unless confirmed recently or not readable now. Returns false if there is no such key. */
  async #load(key: ApiKey, day: QuotaDay): Promise<boolean> {
    const { accountId, hash: keyHash } = key;
    const { presence, isRemote } = this.#store;
    const caller = this.callerOf(key);
    // A file can be read even while it counts as unreachable.
    if ((caller && this.#known.isVerified(caller)) || (isRemote && presence.isUnreachable(accountId))) return true;
    try {
      const reading = await presence.watch(accountId, this.#store.loadKey({ accountId, keyHash, day }));
      return this.#known.storeReading(key, day, reading);
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      return true;
    }
  }

  /**
   * Counts an event of a key under this counter. Sent to the store every few seconds, because refusals are free and can be
   * many.
   */
  recordEvent(accountId: string, counter: string): void {
    const event = this.#events.get(accountId + counter) ?? { accountId, counter, count: 0 };
    event.count++;
    this.#events.set(accountId + counter, event);
    this.#eventTimer ??= setTimeout(() => this.#sendEvents(), EVENTS_EVERY_MS).unref();
  }

  #sendEvents(): void {
    this.#eventTimer = null;
    for (const { accountId, counter, count } of this.#events.values()) this.#pending.add(accountId, counter, count);
    this.#events.clear();
    this.#pending.schedule();
  }

  /** Whether the store recently reported the key as unknown or revoked. */
  isUnknown(key: ApiKey): boolean {
    return this.#known.isUnknown(key);
  }

  /** Whether the store reported the key as revoked when it last refused it. */
  isRevoked(key: ApiKey): boolean {
    return this.#known.isRevoked(key);
  }

  /** The account of a key that the store confirmed in the last ten minutes; null for any other key. */
  callerOf(key: ApiKey): KnownCaller | null {
    return this.#known.callerOf(key);
  }

  /** The admission of a request refused without being charged. */
  throttled(caller: Caller): Admission {
    return this.#known.toAdmission('throttled', caller, this.#withDefaults({ count: 0 }));
  }

  /**
   * Refunds an admitted request; if the store is unreachable, as soon as it is back. With a daily limit, resolves when the store
   * has been updated.
   */
  async refund(admission: Admission): Promise<Admission> {
    const { accountId, plan } = admission.caller;
    this.#countLater(accountId, admission, -admission.count);
    const refunded = this.#known.refund(admission);
    if (PLANS[plan].dailyLimit !== null) await this.#pending.reconcile(accountId);
    return refunded;
  }

  /** Sends unsent counts to the store. */
  async close(): Promise<void> {
    if (this.#eventTimer) clearTimeout(this.#eventTimer);
    this.#sendEvents();
    const accounts = await this.#pending.close();
    if (accounts > 0)
      this.#log.warn({ accounts }, 'stopped while the account store was unreachable: some requests were not counted');
  }

  /** Sends the store all local counts of the account before the request. */
  async #admitByStore(key: ApiKey, charge: Charge): Promise<Admission | null> {
    const { accountId, hash: keyHash } = key;
    const { day, count, allowances } = charge;
    const pending = this.#pending;
    if (pending.has(accountId) && !(await pending.reconcile(accountId))) return this.#admitUncounted(key, charge);
    const sender = pending.senderOf(accountId, day);
    const reply = this.#store.admit({ accountId, keyHash, day, count, sender: sender.name, allowances });
    try {
      const response = await this.#store.presence.watch(accountId, reply);
      if (response.kind === 'admitted') recordUsed(sender, response.usedBySender);
      // The store does not yet know of refunds in progress.
      return this.#known.store(key, charge, response, !pending.has(accountId));
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      // The store did nothing; if it only refuses writes, it may still be readable.
      if (error.reason === 'refused' || !this.#store.isRemote) return this.#admitUncounted(key, charge);
      return this.#admitWithoutReply(key, charge, sender, reply);
    }
  }

  /** The store refuses writes: keys and counts are read if possible, and requests are counted here until it accepts writes. */
  async #admitUncounted(key: ApiKey, charge: Charge): Promise<Admission | null> {
    if (!(await this.#load(key, charge.day))) return null;
    const admission = this.#known.admitWhileUnreachable(key, charge) ?? refuse();
    if (admission.kind === 'admitted') this.#countLater(key.accountId, charge, charge.count);
    return admission;
  }

  /**
   * The store may have charged the request although its response is lost; in the end it must count once. Allowances are assumed
   * to be charged, so one may be off by a request.
   */
  #admitWithoutReply(key: ApiKey, charge: Charge, sender: Sender, reply: Promise<AdmissionReply>): Admission {
    const { accountId } = key;
    const { day, count } = charge;
    const admission = this.#known.admitWhileUnreachable(key, charge);
    const isServed = admission?.kind === 'admitted';
    const servedCount = isServed ? count : 0;
    reply.then(
      (response) => {
        const isCounted = response.kind === 'admitted';
        if (isCounted) recordUsed(sender, response.usedBySender);
        this.#countLater(accountId, charge, servedCount - (isCounted ? count : 0));
      },
      (error: UnavailableError) => {
        if (error.reason !== 'no-response') return this.#countLater(accountId, charge, servedCount);
        this.#pending.addUnacknowledged(accountId, day, isServed, count);
        this.#pending.schedule();
      },
    );
    return admission ?? refuse();
  }

  #countLater(accountId: string, { day, allowances }: Charge, count: number): void {
    if (count === 0) return;
    this.#pending.add(accountId, day, count);
    for (const { counter } of allowances) this.#pending.add(accountId, counter, count);
    this.#pending.schedule();
  }
}

function refuse(): never {
  throw new ApiError(
    'SERVICE_UNAVAILABLE',
    'Your key and its daily count cannot be checked right now. Try again in a few seconds.',
    {
      cause: new Error(
        'the account store is unreachable, and the key is unknown here or its share of the day is used up',
      ),
      headers: { 'retry-after': '5' },
      unavailable: 'store',
    },
  );
}
