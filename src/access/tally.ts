import type { UtcDay } from './day.ts';
import type { Counter } from './store.ts';

/** Requests of an account and day that the store does not know of yet. */
interface Entry {
  accountId: string;
  day: UtcDay;
  /** Not sent yet; below zero when more are to be given back than to be counted. */
  waiting: number;
  /** Sent and not acknowledged: it is sent again as it was, so that it counts once however often it arrives. */
  sent: { count: number; number: number } | null;
  sending: Promise<void> | null;
  next: Promise<void> | null;
}

/** Counts on this side and tells the store, exactly once, as soon as it can be told. */
export interface Tally {
  add(accountId: string, day: UtcDay, count: number): void;
  /** Resolves when the store knows of all that was added before, of the accounts that the filter takes. */
  settle(takes: (accountId: string) => boolean): Promise<void>;
  /** The accounts that the store does not know all of. */
  unsettled(): string[];
}

export function createTally(store: Pick<Counter, 'add'>, sender: string): Tally {
  const entries = new Map<string, Entry>();
  let batches = 0;

  /** One at a time. Who comes while one is under way waits for the next, for its own may not be in this one. */
  function send(entry: Entry): Promise<void> {
    if (entry.sending) {
      entry.next ??= entry.sending
        .catch(() => {})
        .then(() => {
          entry.next = null;
          return send(entry);
        });
      return entry.next;
    }
    entry.sending = sendOnce(entry).finally(() => {
      entry.sending = null;
    });
    return entry.sending;
  }

  /** What is added meanwhile is left for the next time: under load there would be no end. */
  async function sendOnce(entry: Entry): Promise<void> {
    if (entry.sent) await deliver(entry, entry.sent);
    if (entry.waiting !== 0) {
      entry.sent = { count: entry.waiting, number: ++batches };
      entry.waiting = 0;
      await deliver(entry, entry.sent);
    }
    const name = entry.accountId + entry.day;
    if (entry.waiting === 0 && entries.get(name) === entry) entries.delete(name);
  }

  async function deliver(entry: Entry, sent: NonNullable<Entry['sent']>): Promise<void> {
    const { accountId, day } = entry;
    await store.add({ accountId, day, sender, ...sent });
    entry.sent = null;
  }

  return {
    add(accountId, day, count) {
      const entry = entries.get(accountId + day) ?? openEntry(accountId, day);
      entry.waiting += count;
      entries.set(accountId + day, entry);
    },
    async settle(takes) {
      const asked = [...entries.values()].filter(({ accountId }) => takes(accountId));
      await Promise.all(asked.map(send));
    },
    unsettled: () => [...new Set([...entries.values()].map(({ accountId }) => accountId))],
  };
}

function openEntry(accountId: string, day: UtcDay): Entry {
  return { accountId, day, waiting: 0, sent: null, sending: null, next: null };
}
