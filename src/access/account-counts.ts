import { createBoundedMap } from '../core/own-memory.ts';

const MAX_COUNTERS = 60_000;

/** A name under which this process asks the store to admit requests of one account on one day. */
export interface Sender {
  readonly name: string;
  /** How many were admitted for it, as far as the store has told. */
  used: number;
}

/** The requests that one counter of an account has counted, as far as this process knows. Requests change the object and do not replace it. */
interface AccountCount {
  /** The count that the store has told. */
  used: number;
  /** Admitted here since then, without the store. */
  admittedSince: number;
  /** When that was last changed. */
  at: number;
  /** When the store last said that nothing is left. */
  exhaustedAt: number;
  /** Of a day's counter; null before a request was sent. */
  sender: Sender | null;
}

export const NOTHING_KNOWN: Readonly<AccountCount> = {
  used: 0,
  admittedSince: 0,
  at: Number.NEGATIVE_INFINITY,
  exhaustedAt: Number.NEGATIVE_INFINITY,
  sender: null,
};

/** By account and counter: the day of an account, or an allowance of a key. */
export type AccountCounts = ReturnType<typeof createAccountCounts>;

export function createAccountCounts() {
  return createBoundedMap<AccountCount>('counts of accounts', MAX_COUNTERS);
}
