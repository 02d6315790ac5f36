import type { AccountStore, AdmissionReply, AdmissionRequest, CountUpdate } from '#src/access/store.ts';
import type { UnavailableError } from '#src/core/redis/connection.ts';

/** The part of an account's count in Redis that one instance has added. */
export interface AccountLedger {
  /** Acknowledged by Redis. */
  counted: number;
  /** The requests that calls without a reply may have added (`perhapsMore`) and taken away (`perhapsLess`). */
  perhapsMore: number;
  perhapsLess: number;
  /** When the last admission request that Redis answered was sent; 0 for none. */
  requestedAt: number;
  /** When the last update that Redis acknowledged was sent: it contains everything that was pending then. */
  settledAt: number;
}

export interface Ledger {
  /** Keyed by account ID. */
  accounts: Record<string, AccountLedger>;
  /** The periods without Redis. `to` is `NEVER` while one lasts. */
  away: { from: number; to: number }[];
}

export const NEVER = Number.MAX_SAFE_INTEGER;

/** Records the counts that the store has acknowledged. */
export function keepLedger(store: AccountStore, ledger: Ledger): AccountStore {
  const updates = new Map<number, { sentAt: number; isAcknowledged: boolean }>();

  function entryOf(accountId: string): AccountLedger {
    const entry = ledger.accounts[accountId] ?? {
      counted: 0,
      perhapsMore: 0,
      perhapsLess: 0,
      requestedAt: 0,
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
      entry.requestedAt = sentAt;
      return response;
    } catch (error) {
      if ((error as UnavailableError).reason !== 'no-response') entry.perhapsMore -= count;
      throw error;
    }
  }

  /** An update may be sent and acknowledged several times, and counts once. */
  async function update(sent: CountUpdate): Promise<number> {
    const { accountId, count, unacknowledged, number } = sent;
    const entry = entryOf(accountId);
    const more = Math.max(0, count - unacknowledged);
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
    entry.perhapsMore -= more + unacknowledged;
    entry.perhapsLess -= less;
    entry.settledAt = record.sentAt;
    return usedBySender;
  }

  return { ...store, admit, update };
}
