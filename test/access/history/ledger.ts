import type { AccountStore, AdmissionReply, AdmissionRequest, CountUpdate } from '#src/access/store.ts';
import type { UnavailableError } from '#src/core/redis/connection.ts';

/** An account's count in Redis, as far as one instance has added to it. */
export interface AccountLedger {
  /** Acknowledged by Redis. */
  counted: number;
  /** The requests that calls without a reply may have added, and taken away. */
  perhapsMore: number;
  perhapsLess: number;
  /** When the last admission request was sent that Redis has answered; 0 for none. */
  askedAt: number;
  /** When the last update was sent that Redis has acknowledged: it contains all that was pending then. */
  settledAt: number;
}

export interface Ledger {
  /** By account id. */
  accounts: Record<string, AccountLedger>;
  /** When the instance was without Redis. `to` is `NEVER` until it is over. */
  away: { from: number; to: number }[];
}

export const NEVER = Number.MAX_SAFE_INTEGER;

/** Writes down, beside the store, what the store has acknowledged. */
export function keepLedger(store: AccountStore, ledger: Ledger): AccountStore {
  const updates = new Map<number, { sentAt: number; isAcknowledged: boolean }>();

  function entryOf(accountId: string): AccountLedger {
    const entry = ledger.accounts[accountId] ?? {
      counted: 0,
      perhapsMore: 0,
      perhapsLess: 0,
      askedAt: 0,
      settledAt: 0,
    };
    ledger.accounts[accountId] = entry;
    return entry;
  }

  async function admit(request: AdmissionRequest): Promise<AdmissionReply> {
    const { accountId, count = 1 } = request;
    const entry = entryOf(accountId);
    const sentAt = Date.now();
    entry.perhapsMore += count;
    try {
      const response = await store.admit(request);
      entry.perhapsMore -= count;
      if (response.kind === 'admitted') entry.counted += count;
      entry.askedAt = sentAt;
      return response;
    } catch (error) {
      if ((error as UnavailableError).reason !== 'no-response') entry.perhapsMore -= count;
      throw error;
    }
  }

  /** The same update may be sent several times and acknowledged several times; it counts once. */
  async function update(sent: CountUpdate): Promise<number> {
    const { accountId, count, inDoubt, number } = sent;
    const entry = entryOf(accountId);
    const more = Math.max(0, count - inDoubt);
    const less = Math.max(0, -count);
    const record = updates.get(number) ?? { sentAt: Date.now(), isAcknowledged: false };
    if (!updates.has(number)) {
      entry.perhapsMore += more;
      entry.perhapsLess += less;
    }
    updates.set(number, record);
    const usedBySender = await store.update(sent);
    if (record.isAcknowledged) return usedBySender;
    record.isAcknowledged = true;
    entry.counted += count;
    entry.perhapsMore -= more + inDoubt;
    entry.perhapsLess -= less;
    entry.settledAt = record.sentAt;
    return usedBySender;
  }

  return { ...store, admit, update };
}
