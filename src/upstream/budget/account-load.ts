import { LRUCache } from 'lru-cache';
import { HOUR_MS } from '../../clock.ts';
import { DecayingCount } from '../../decaying-count.ts';
import { NO_ACCOUNT } from './ticket.ts';

/** After an hour a call counts about a third, after three hours a twentieth. */
const HALF_LIFE_MS = Math.LN2 * HOUR_MS;
const MAX_ACCOUNTS = 10_000;

/** How many recent calls of upstream each account caused. The account with the oldest last call is dropped beyond 10,000. */
export class AccountLoad {
  readonly #now: () => number;
  readonly #counts = new LRUCache<string, DecayingCount>({ max: MAX_ACCOUNTS });
  readonly #all = new DecayingCount(HALF_LIFE_MS);

  constructor({ now }: { now: () => number }) {
    this.#now = now;
  }

  /** Counts a call for the account. */
  note(account: string): void {
    this.#all.add(1, this.#now());
    if (account === NO_ACCOUNT) return;
    const count = this.#counts.get(account) ?? new DecayingCount(HALF_LIFE_MS);
    count.add(1, this.#now());
    this.#counts.set(account, count);
  }

  /** Returns the account's share of all recent calls, 0 to 1. */
  shareOf = (account: string): number => {
    const count = this.#counts.peek(account);
    return count ? count.read(this.#now()) / this.#all.read(this.#now()) : 0;
  };
}
