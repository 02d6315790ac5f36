import type { Account, KeyRecord } from './account.ts';
import type { UtcDay } from './day.ts';
import type { Plan } from './plan.ts';

/** May this key be served, on that day? Being admitted counts one. */
export interface Question {
  accountId: string;
  keyHash: string;
  day: UtcDay;
  /** Which process asks. */
  sender: string;
}

/**
 * `used` is the account's count of that day, this request included when it was admitted; `bySender` is how many of
 * them were admitted for the process that asks.
 */
export type StoreAnswer =
  | { kind: 'unknown' }
  | { kind: 'admitted'; plan: Plan; used: number; bySender: number }
  | { kind: 'exhausted'; plan: Plan; used: number };

/** Requests counted (or, when negative, given back) after the event. */
export interface Batch {
  accountId: string;
  day: UtcDay;
  count: number;
  /** Which process sends it, and its number, rising: a batch that is sent twice counts once. */
  sender: string;
  number: number;
}

/** What is asked for every request. Rejects with `StoreAwayError` only. */
export interface Counter {
  /** Whether it is another process, that can be away or slow. */
  readonly isRemote: boolean;
  /** Names what becomes unreachable together with this account. */
  partOf(accountId: string): string;
  admit(question: Question): Promise<StoreAnswer>;
  /** As `bySender` of the last admission. */
  countBySender(question: Omit<Question, 'keyHash'>): Promise<number>;
  /** Never takes a count below zero; an account that is gone is passed over. */
  add(batch: Batch): Promise<void>;
  /** Resolves when the account's records can be reached. */
  ping(accountId: string): Promise<void>;
}

/** What is asked when keys are issued and accounts looked after. What it acknowledges is durable. */
export interface Register {
  /** The account of that address: the existing one, as it is, or a new one; with the given id unless that is taken. */
  openAccount(account: Omit<Account, 'id'> & Partial<Pick<Account, 'id'>>): Promise<Account>;
  findAccount(id: string): Promise<Account | null>;
  findAccountByEmail(email: string): Promise<Account | null>;
  /** By address. */
  listAccounts(): Promise<Account[]>;
  /** False when there is no such account; so for the others. */
  setPlan(accountId: string, plan: Plan): Promise<boolean>;
  /** The account with all that is known of it. `now` tells which days may have counters. */
  deleteAccount(accountId: string, now: Date): Promise<boolean>;
  /** False when the account has as many valid keys as it may. */
  addKey(key: Omit<KeyRecord, 'revokedAt' | 'lastUsedOn'>, maxLive: number): Promise<boolean>;
  /** Oldest first, revoked ones included. */
  listKeys(accountId: string): Promise<KeyRecord[]>;
  /** At once, or ahead: a key is refused from the UTC day of `at` on. Of two times the earlier one holds. */
  revokeKey(accountId: string, keyHash: string, at: Date): Promise<boolean>;
  /** Requests counted on each of the days. */
  readUsage(accountId: string, days: readonly UtcDay[]): Promise<number[]>;
}

export interface AccountStore extends Counter, Register {
  close(): Promise<void>;
}

/** The store did not do what it was asked. In doubt: it may have, only the answer is missing. */
export class StoreAwayError extends Error {
  override readonly name = 'StoreAwayError';
  readonly isInDoubt: boolean;

  constructor(message: string, options: { isInDoubt: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.isInDoubt = options.isInDoubt;
  }
}
