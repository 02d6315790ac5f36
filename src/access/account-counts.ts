import { createBoundedMap } from '../core/own-memory.ts';

const MAX_COUNTERS = 60_000;

/** A name under which this process sends one account's charges of one day to the store. */
export interface Sender {
  readonly name: string;
  /** How many requests were admitted under it, as last reported by the store. */
  used: number;
}

/** What this process knows about one counter of an account. Updated in place, never replaced. */
interface AccountCount {
  /** The count last reported by the store. */
  used: number;
  /** Requests admitted here since then, without the store. */
  admittedSince: number;
  /** When that last changed. */
  at: number;
  /** When the store last reported the counter as exhausted. */
  exhaustedAt: number;
  /** For a day's counter; null before a request was sent. */
  sender: Sender | null;
}

export const NOTHING_KNOWN: Readonly<AccountCount> = {
  used: 0,
  admittedSince: 0,
  at: Number.NEGATIVE_INFINITY,
  exhaustedAt: Number.NEGATIVE_INFINITY,
  sender: null,
};

/** Keyed by account and counter: the account's day, or an allowance of a key. */
export type AccountCounts = ReturnType<typeof createAccountCounts>;

export function createAccountCounts() {
  return createBoundedMap<AccountCount>('counts of accounts', MAX_COUNTERS);
}
