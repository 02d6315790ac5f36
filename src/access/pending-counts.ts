import { randomUUID } from 'node:crypto';
import { createBoundedMap } from '../own-memory.ts';
import type { UtcDay } from './day.ts';
import type { Counter, CountUpdate } from './store.ts';

/** What the store does not know yet of one account and day. */
interface Pending {
  accountId: string;
  day: UtcDay;
  /** Requests to be counted; below zero when more are to be given back. */
  count: number;
  /** Admission requests whose answers got lost. */
  inDoubt: number;
  /** The sender of the requests in doubt. */
  sender: string;
  /** The last `usedBySender` received before the first of them got lost. */
  usedBySenderBefore: number;
}

/** A name under which this process asks the store to admit requests of one account on one day. */
export interface Sender {
  readonly name: string;
  /** How many were admitted for it, as far as the store has told. */
  used: number;
}

interface Entry {
  /** Not sent yet, by day. */
  waiting: Map<UtcDay, Pending>;
  /** Sent and not acknowledged: sent again unchanged, with the same number, until it is. */
  sent: CountUpdate | null;
  sending: Promise<void> | null;
  next: Promise<void> | null;
}

/** Counts on this side and sends the counts to the store, so that each request counts once whatever gets lost. */
export interface PendingCounts {
  /**
   * The sender of admission requests of that account and day. It is another one after doubts were settled. `noteUsed`
   * keeps what the store answers to it; the store settles later doubts by comparing with that number.
   */
  senderOf(accountId: string, day: UtcDay): Sender;
  /** Requests to be counted, or to be given back when negative. */
  add(accountId: string, day: UtcDay, count: number): void;
  /** An admission request whose answer got lost for good. `isServed`: the request was admitted without the response. */
  addInDoubt(accountId: string, day: UtcDay, isServed: boolean, count?: number): void;
  has(accountId: string): boolean;
  /** Resolves when the store knows everything that was added for the account before. */
  settle(accountId: string): Promise<void>;
  /** The accounts of which something is pending. */
  accounts(): string[];
}

const MAX_REMEMBERED = 100_000;

export function createPendingCounts(store: Pick<Counter, 'update'>): PendingCounts {
  const processName = randomUUID();
  const entries = new Map<string, Entry>();
  const senders = createBoundedMap<Sender>(MAX_REMEMBERED);
  let names = 0;
  let updates = 0;

  function senderOf(accountId: string, day: UtcDay): Sender {
    const known = senders.get(accountId + day);
    if (known) return known;
    const sender = { name: `${processName}-${++names}`, used: 0 };
    senders.set(accountId + day, sender);
    return sender;
  }

  function pendingOf(accountId: string, day: UtcDay): Pending {
    const entry = entries.get(accountId) ?? { waiting: new Map(), sent: null, sending: null, next: null };
    entries.set(accountId, entry);
    const waiting = entry.waiting.get(day);
    if (waiting) return waiting;
    const { name: sender } = senderOf(accountId, day);
    const pending = { accountId, day, count: 0, inDoubt: 0, sender, usedBySenderBefore: 0 };
    entry.waiting.set(day, pending);
    return pending;
  }

  /** One at a time. What is added while one is under way may not be in it, so later callers wait for the next one. */
  function send(accountId: string, entry: Entry): Promise<void> {
    if (entry.sending) {
      entry.next ??= entry.sending
        .catch(() => {})
        .then(() => {
          entry.next = null;
          return send(accountId, entry);
        });
      return entry.next;
    }
    entry.sending = sendOnce(accountId, entry).finally(() => {
      entry.sending = null;
    });
    return entry.sending;
  }

  /** Counts that arrive meanwhile wait for the next batch. Otherwise the loop would never end under load. */
  async function sendOnce(accountId: string, entry: Entry): Promise<void> {
    if (entry.sent) await deliver(entry, entry.sent);
    const waiting = [...entry.waiting.values()];
    for (const pending of waiting) {
      entry.waiting.delete(pending.day);
      if (pending.count === 0 && pending.inDoubt === 0) continue;
      entry.sent = { ...pending, number: ++updates };
      await deliver(entry, entry.sent);
    }
    if (entry.waiting.size === 0 && entries.get(accountId) === entry) entries.delete(accountId);
  }

  async function deliver(entry: Entry, update: CountUpdate): Promise<void> {
    const usedBySender = await store.update(update);
    entry.sent = null;
    const sender = senderOf(update.accountId, update.day);
    if (sender.name !== update.sender) return;
    if (update.inDoubt === 0) noteUsed(sender, usedBySender);
    // From now on the store refuses what this sender asked for before and what arrives only later.
    else senders.delete(update.accountId + update.day);
  }

  return {
    senderOf,
    add(accountId, day, count) {
      pendingOf(accountId, day).count += count;
    },
    addInDoubt(accountId, day, isServed, count = 1) {
      const pending = pendingOf(accountId, day);
      if (pending.inDoubt === 0) {
        const { name, used } = senderOf(accountId, day);
        Object.assign(pending, { sender: name, usedBySenderBefore: used });
      }
      pending.inDoubt += count;
      if (isServed) pending.count += count;
    },
    has: (accountId) => entries.has(accountId),
    async settle(accountId) {
      const entry = entries.get(accountId);
      if (entry) await send(accountId, entry);
    },
    accounts: () => [...entries.keys()],
  };
}

/** Responses may arrive in another order than the store gave them. */
export function noteUsed(sender: Sender, used: number): void {
  sender.used = Math.max(sender.used, used);
}
