import { type BoundedMap, createBoundedMap } from '../core/own-memory.ts';

const MAX_COUNTERS = 60_000;

/** The name under which this process sends one account's charges for one day to the store. */
export interface Sender {
  readonly name: string;
  /** How many requests were admitted under it, as last reported by the store. */
  used: number;
}

/** What this process knows about one counter of an account. Updated in place, never replaced. */
interface AccountCount {
  /** The count last reported by the store. */
  used: number;
  /** Requests that this process has admitted since that report, without the store. */
  admittedSince: number;
  /** When `admittedSince` last changed. */
  at: number;
  /** When the store last reported the counter as exhausted. */
  exhaustedAt: number;
  /** Only for a day's counter; null until a request is sent. */
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
export type AccountCounts = BoundedMap<AccountCount>;

export const createAccountCounts = (): AccountCounts => createBoundedMap('counts of accounts', MAX_COUNTERS);
