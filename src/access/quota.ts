import type { FastifyBaseLogger } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { UnavailableError } from '../redis/connection.ts';
import type { Admission, Caller, Counted } from './account.ts';
import { utcDay } from './day.ts';
import type { Allowance } from './grant.ts';
import type { ApiKey } from './keys.ts';
import { type KnownCaller, KnownKeys } from './known-keys.ts';
import { noteUsed, PendingCounts, type Sender } from './pending-counts.ts';
import { PLANS } from './plan.ts';
import type { AdmissionReply, QuotaStore } from './store.ts';

const EVENTS_EVERY_MS = 2000;

/**
 * Admits requests and counts them. Where there is a limit, the store counts before the request is admitted, so the limit
 * is exact. Where there is none, requests do not wait for the store.
 */
export class Quota {
  readonly #store: QuotaStore;
  readonly #now: () => Date;
  readonly #log: Pick<FastifyBaseLogger, 'warn'>;
  readonly #known: KnownKeys;
  readonly #pending: PendingCounts;
  /** Events by account and counter: at most a few for each publishable key that is in use. */
  readonly #events = new Map<string, { accountId: string; counter: string; count: number }>();
  #eventTimer: NodeJS.Timeout | null = null;

  constructor({ store, now, log }: { store: QuotaStore; now: () => Date; log: Pick<FastifyBaseLogger, 'warn'> }) {
    this.#store = store;
    this.#now = now;
    this.#log = log;
    this.#known = new KnownKeys({ now, instances: store.instances, log });
    this.#pending = new PendingCounts(store);
  }

  /**
   * Null: there is no such key, or it was revoked. Throws `SERVICE_UNAVAILABLE` when that cannot be known now. A request
   * that counts as several is admitted when all of them fit into the day.
   */
  async admit(
    key: ApiKey,
    { count = 1, day = utcDay(this.#now()), allowances }: Partial<Counted> = {},
  ): Promise<Admission | null> {
    if (this.isUnknown(key)) return null;
    const caller = this.callerOf(key);
    const recalled = allowances?.length ? null : caller && this.recall(caller, count, day);
    if (recalled) return recalled;
    const counted = { count, day, allowances };
    if (!this.#store.presence.isAway(key.accountId)) return this.#admitByStore(key, counted);
    return this.#store.isRemote ? this.#admitWhileAway(key, counted) : this.#admitUncounted(key, counted);
  }

  /**
   * The account of a key, which is read unless the store has confirmed the key a moment ago. Null: there is no such key, or it
   * was revoked. Throws `SERVICE_UNAVAILABLE` when that cannot be known now.
   */
  async find(key: ApiKey): Promise<KnownCaller | null> {
    if (this.isUnknown(key)) return null;
    const caller = this.callerOf(key);
    if (caller && this.#known.isVerified(caller)) return caller;
    const { accountId, hash: keyHash } = key;
    const { presence } = this.#store;
    const day = utcDay(this.#now());
    try {
      if (presence.isAway(accountId) && this.#store.isRemote) return caller ?? refuse();
      const reading = await presence.watch(accountId, this.#store.readKey({ accountId, keyHash, day }));
      return this.#known.learnReading(key, day, reading) ? this.callerOf(key) : null;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      return caller ?? refuse();
    }
  }

  /** The refusal of a request that an allowance, or the day, was too small for a moment ago; null when the store must be asked. */
  recallRefusal(caller: KnownCaller, allowances: readonly Allowance[]): Admission | null {
    return this.#known.recallRefusal(caller, utcDay(this.#now()), 1, allowances);
  }

  /** Counts what happened to a key, under that name of a counter. Told to the store every few seconds, because refusals are free and can be many. */
  noteEvent(accountId: string, counter: string): void {
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

  /** The same for a known caller, where the store need not be asked; else null. */
  recall(caller: KnownCaller, count = 1, day = utcDay(this.#now())): Admission | null {
    const recalled = this.#store.isRemote ? this.#known.recall(caller, day, count) : null;
    if (recalled?.kind === 'admitted') this.#countLater(recalled);
    return recalled;
  }

  /** Whether the store has said in the last seconds that there is no such key. */
  isUnknown(key: ApiKey): boolean {
    return this.#known.isUnknown(key);
  }

  /** The account of a key that the store has confirmed in the last ten minutes; null for any other key. */
  callerOf(key: ApiKey): KnownCaller | null {
    return this.#known.callerOf(key);
  }

  /** A request that is refused without being counted. */
  throttled(caller: Caller): Admission {
    const day = utcDay(this.#now());
    return { kind: 'throttled', caller, day, count: 0, used: this.#known.usedOn(day, caller.accountId) };
  }

  /**
   * Takes back the count of an admitted request; while the store is away, as soon as it is back. Where there is a limit,
   * resolves when the store has been told.
   */
  async giveBack(admission: Admission): Promise<Admission> {
    const { accountId, plan } = admission.caller;
    this.#countLater(admission, -admission.count);
    const givenBack = this.#known.giveBack(admission);
    if (PLANS[plan].dailyLimit !== null) await this.#pending.settle(accountId);
    return givenBack;
  }

  /** Counts so many requests more, whatever is left of the day. */
  charge(admission: Admission, count: number): Admission {
    this.#countLater(admission, count);
    return { ...admission, used: admission.used + count };
  }

  /** Sends the store the counts that it does not know yet. */
  async close(): Promise<void> {
    if (this.#eventTimer) clearTimeout(this.#eventTimer);
    this.#sendEvents();
    const accounts = await this.#pending.close();
    if (accounts > 0)
      this.#log.warn({ accounts }, 'stopped while the account store was away: some requests are not counted');
  }

  /** Before the store is asked about an account, it learns all that was counted here without it. */
  async #admitByStore(key: ApiKey, counted: Counted): Promise<Admission | null> {
    const { accountId, hash: keyHash } = key;
    const { day, count, allowances } = counted;
    const pending = this.#pending;
    if (pending.has(accountId) && !(await pending.settle(accountId))) return this.#admitUncounted(key, counted);
    const sender = pending.senderOf(accountId, day);
    const reply = this.#store.admit({
      accountId,
      keyHash,
      day,
      count,
      sender: sender.name,
      ...(allowances && { allowances }),
    });
    try {
      const response = await this.#store.presence.watch(accountId, reply);
      if (response.kind === 'admitted') noteUsed(sender, response.usedBySender);
      // The store does not know yet of counts that are being given back.
      return this.#known.learn(key, counted, response, !pending.has(accountId));
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      // Nothing was done: what cannot be written may still be read.
      if (error.reason === 'refused' || !this.#store.isRemote) return this.#admitUncounted(key, counted);
      return this.#admitWithoutReply(key, { ...counted, sender }, reply);
    }
  }

  /**
   * The store takes no writes: its keys and counts are read, and the request is counted here until it does. A file can be
   * read while it counts as away.
   */
  async #admitUncounted(key: ApiKey, counted: Counted): Promise<Admission | null> {
    const { accountId, hash: keyHash } = key;
    const { day } = counted;
    const { presence, isRemote } = this.#store;
    const caller = this.callerOf(key);
    const canRead = !isRemote || !presence.isAway(accountId);
    if (canRead && !(caller && this.#known.isVerified(caller))) {
      try {
        const reading = await presence.watch(accountId, this.#store.readKey({ accountId, keyHash, day }));
        if (!this.#known.learnReading(key, day, reading)) return null;
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
      }
    }
    return this.#admitWhileAway(key, counted);
  }

  #admitWhileAway(key: ApiKey, counted: Counted): Admission {
    const admission = this.#known.admitWhileAway(key, counted) ?? refuse();
    if (admission.kind === 'admitted') this.#countLater(admission);
    return admission;
  }

  /**
   * The store may have counted the request although its response does not come: it must count once in the end. Allowances are
   * taken as counted then: one may be a request off.
   */
  #admitWithoutReply(key: ApiKey, counted: Counted & { sender: Sender }, reply: Promise<AdmissionReply>): Admission {
    const { accountId } = key;
    const { day, count, allowances, sender } = counted;
    const admission = this.#known.admitWhileAway(key, counted);
    const countLater = (wanted: number) => {
      this.#pending.add(accountId, day, wanted);
      for (const { counter } of allowances ?? []) this.#pending.add(accountId, counter, wanted);
      this.#pending.schedule();
    };
    const isServed = admission?.kind === 'admitted';
    reply.then(
      (response) => {
        if (response.kind === 'admitted') noteUsed(sender, response.usedBySender);
        countLater(count * (Number(isServed) - Number(response.kind === 'admitted')));
      },
      (error: UnavailableError) => {
        if (error.reason === 'no-response') this.#pending.addInDoubt(accountId, day, isServed, count);
        else countLater(count * Number(isServed));
        this.#pending.schedule();
      },
    );
    return admission ?? refuse();
  }

  #countLater({ caller, day, allowances, count: own }: Admission, count = own): void {
    if (count === 0) return;
    this.#pending.add(caller.accountId, day, count);
    for (const { counter } of allowances ?? []) this.#pending.add(caller.accountId, counter, count);
    this.#pending.schedule();
  }
}

function refuse(): never {
  throw new ApiError(
    'SERVICE_UNAVAILABLE',
    'Your key and its daily count cannot be checked right now. Try again in a few seconds.',
    {
      cause: new Error('the account store is away: the key is not known here, or its share of the day is used up'),
      headers: { 'retry-after': '5' },
    },
  );
}
