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
}

/** Counts on this side and tells the store, exactly once, as soon as it can be told. */
export interface Tally {
  add(accountId: string, day: UtcDay, count: number): void;
  /** Resolves when the store knows of all so far, of the accounts that the filter takes. */
  settle(takes: (accountId: string) => boolean): Promise<void>;
  /** The accounts that the store does not know all of. */
  unsettled(): string[];
}

export function createTally(store: Pick<Counter, 'add'>, sender: string): Tally {
  const entries = new Map<string, Entry>();
  let batches = 0;

  function send(entry: Entry): Promise<void> {
    entry.sending ??= sendAll(entry).finally(() => {
      entry.sending = null;
    });
    return entry.sending;
  }

  async function sendAll(entry: Entry): Promise<void> {
    const { accountId, day } = entry;
    while (entry.sent || entry.waiting !== 0) {
      if (!entry.sent) {
        entry.sent = { count: entry.waiting, number: ++batches };
        entry.waiting = 0;
      }
      await store.add({ accountId, day, sender, ...entry.sent });
      entry.sent = null;
    }
    entries.delete(accountId + day);
  }

  return {
    add(accountId, day, count) {
      const entry = entries.get(accountId + day) ?? { accountId, day, waiting: 0, sent: null, sending: null };
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
