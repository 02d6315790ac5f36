import { LRUCache } from 'lru-cache';
import type { UtcDay } from './day.ts';
import type { Counter } from './store.ts';

/** Questions of one account and day whose answers got lost together with the connection. */
interface Lost {
  accountId: string;
  day: UtcDay;
  questions: number;
  /** How many of the requests were served nevertheless. */
  served: number;
  /** What the store had counted for this process before. */
  heard: number;
}

const MAX_HEARD = 100_000;

/**
 * Finds out what became of questions that were never answered. The store keeps how many requests it counted for each
 * process; what it has more than it was heard to say are the lost ones that it counted.
 */
export interface Doubts {
  hear(accountId: string, day: UtcDay, bySender: number): void;
  lose(accountId: string, day: UtcDay, isServed: boolean): void;
  /** Resolves with what is still to be counted, or given back, of the accounts that the filter takes. */
  resolve(takes: (accountId: string) => boolean): Promise<{ accountId: string; day: UtcDay; count: number }[]>;
}

export function createDoubts(store: Pick<Counter, 'countBySender'>, sender: string): Doubts {
  const heard = new LRUCache<string, number>({ max: MAX_HEARD });
  const lost = new Map<string, Lost>();

  return {
    hear(accountId, day, bySender) {
      heard.set(accountId + day, bySender);
    },
    lose(accountId, day, isServed) {
      const name = accountId + day;
      const entry = lost.get(name) ?? { accountId, day, questions: 0, served: 0, heard: heard.get(name) ?? 0 };
      entry.questions += 1;
      entry.served += Number(isServed);
      lost.set(name, entry);
    },
    async resolve(takes) {
      const asked = [...lost.entries()].filter(([, { accountId }]) => takes(accountId));
      return Promise.all(
        asked.map(async ([name, { accountId, day, questions, served, heard }]) => {
          const known = await store.countBySender({ accountId, day, sender });
          lost.delete(name);
          const counted = Math.min(questions, Math.max(0, known - heard));
          return { accountId, day, count: served - counted };
        }),
      );
    },
  };
}
