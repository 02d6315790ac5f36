import type { Presence, StoreState } from '../core/redis/presence.ts';
import type { Account, KeyEnding, KeyRecord } from './account.ts';
import type { UtcDay } from './day.ts';
import type { Allowance, Grant } from './grant.ts';
import type { Plan } from './plan.ts';

/** Asks to admit requests with this key on that day, all of them or none, and to count them. */
export interface AdmissionRequest {
  accountId: string;
  keyHash: string;
  day: UtcDay;
  /** How many; one unless given. */
  count?: number;
  /** The process that asks, by a name that is used for this account and day only. */
  sender: string;
  /** Further counters of the account that all have to stay within their limits; none unless given. */
  allowances?: readonly Pick<Allowance, 'counter' | 'limit'>[];
}

/**
 * `used` is the account's count of that day, these requests included when they were admitted. `usedBySender` is how many of
 * them were admitted for the sender, 0 where these were not. `usedOfAllowances` are the counts of the allowances, in their order.
 */
export type AdmissionReply =
  | { kind: 'unknown' }
  | { kind: 'revoked' }
  | {
      kind: 'admitted' | 'exhausted';
      plan: string;
      email?: string;
      used: number;
      usedBySender: number;
      ending?: KeyEnding;
      usedOfAllowances?: number[];
    };

/** The store's record of a key and of its account's day, read without counting anything. */
export type KeyReading =
  | { kind: 'unknown' }
  | { kind: 'revoked' }
  | { kind: 'known'; plan: string; email?: string; used: number; ending?: KeyEnding; grant?: Grant | null };

/** A correction of an account's count: requests that were admitted without the store, less those given back. */
export interface CountUpdate {
  accountId: string;
  /** Or the name of another counter, which begins with a day: see `Allowance`. */
  day: UtcDay;
  count: number;
  /**
   * Admission requests whose responses got lost. The store subtracts those of them that it counted: the part of
   * `usedBySender` that lies above `usedBySenderBefore`, the last value that the sender received. It refuses admission
   * requests of this sender from then on, because some of them may still be on their way.
   */
  inDoubt: number;
  usedBySenderBefore: number;
  sender: string;
  /** Rises with each update of a sender; an update that arrives twice counts once. */
  number: number;
}

/** Accounts of people who get responses of upstream, or of the sandbox. The two are never in one store. */
export type StoreKind = 'real' | 'sandbox';

/** The address of the account that the sandbox opens for itself. */
export const SANDBOX_EMAIL = 'sandbox@transit.invalid';

/** The part of the store that every request needs. Its calls reject with `UnavailableError` only. */
export interface QuotaStore {
  /** Whether the store is another process, at some distance. */
  readonly isRemote: boolean;
  /** Whether the store answers; the key is an account id. */
  readonly presence: Presence;
  /** How many instances share the store; while it is away, as last known. */
  instances(): number;
  admit(request: AdmissionRequest): Promise<AdmissionReply>;
  /** Works while the store takes no writes. */
  readKey(request: Pick<AdmissionRequest, 'accountId' | 'keyHash' | 'day'>): Promise<KeyReading>;
  /** Finds out by writing. Does not reject. */
  check(): Promise<StoreState>;
  /** Never takes a count below zero and ignores deleted accounts. Resolves with `usedBySender`. */
  update(update: CountUpdate): Promise<number>;
}

/** The accounts and their keys. Whatever is acknowledged is durable. */
export interface Accounts {
  /**
   * Tells whose accounts these are. A store that was never marked is real, unless it has no account at all (null), or none but
   * that of the sandbox.
   */
  readKind(): Promise<StoreKind | null>;
  /** Marks the store; a mark that it has already is kept. */
  markKind(kind: StoreKind): Promise<void>;
  /**
   * The account with that address: the existing one unchanged, or a new one, with the given id unless that is taken.
   * `wantsQuotaMails` is true unless given.
   */
  openAccount(
    account: Omit<Account, 'id'> & Partial<Pick<Account, 'id'>> & { wantsQuotaMails?: boolean },
  ): Promise<Account>;
  findAccount(id: string): Promise<Account | null>;
  findAccountByEmail(email: string): Promise<Account | null>;
  /** Sorted by address. */
  listAccounts(): Promise<Account[]>;
  /** False when there is no such account. */
  setPlan(accountId: string, plan: Plan): Promise<boolean>;
  /** Deletes the account, its keys and its counts, and remembers its id; false when there is no such account. */
  deleteAccount(accountId: string, now: Date): Promise<boolean>;
  /**
   * False when the account already has `maxLive` valid keys, or does not exist. A key that is restored from a backup may be
   * revoked; `revokedAt` is null unless given.
   */
  addKey(
    key: Omit<KeyRecord, 'revokedAt' | 'lastUsedOn' | 'grant'> & Partial<Pick<KeyRecord, 'revokedAt' | 'grant'>>,
    maxLive: number,
  ): Promise<boolean>;
  /** Oldest first, revoked ones included. */
  listKeys(accountId: string): Promise<KeyRecord[]>;
  /**
   * Refuses the key from the UTC day of `at` on, which may lie ahead; of two such days the earlier one holds. False when
   * there is no such key. `decidedAt` is when that was decided; `at` unless given.
   */
  revokeKey(accountId: string, keyHash: string, at: Date, decidedAt?: Date): Promise<boolean>;
  /**
   * Notes that a link to the account's keys was used. True for the first who uses it, of all processes, and never for a link
   * that was issued before one that was used.
   */
  useLink(accountId: string, issuedAt: Date): Promise<boolean>;
  /** Requests counted on each of the days. */
  readUsage(accountId: string, days: readonly UtcDay[]): Promise<number[]>;
  /** Sets the count of a day, unless more were counted. */
  raiseUsage(accountId: string, day: UtcDay, count: number): Promise<void>;
  /** Whether the owner wants mails about the daily limit; true unless switched off. */
  wantsQuotaMails(accountId: string): Promise<boolean>;
  /** False when there is no such account. */
  setQuotaMails(accountId: string, isWanted: boolean): Promise<boolean>;
  /**
   * For one mail about so much of a day's limit: true for the first who asks, of all processes, and never for a lower
   * percentage after a higher one, nor when the owner wants no such mails.
   */
  claimQuotaMail(accountId: string, day: UtcDay, percent: number): Promise<boolean>;
}

/** The decisions of operators, beside the accounts. Whatever is acknowledged is durable. */
export interface OperatorRecords {
  /** The restrictions by name, when they have changed since that version; else null. */
  readRestrictions(knownVersion: string): Promise<{ version: string; values: Record<string, string> } | null>;
  /** Replaces the restriction of that name; null lifts it. */
  setRestriction(name: string, value: string | null): Promise<void>;
  /** Ids of accounts that were deleted, and when: a backup must not bring them back. */
  readDeleted(): Promise<Record<string, string>>;
  /** Null for an account that may be restored. */
  setDeleted(accountId: string, at: string | null): Promise<void>;
}

export interface AccountStore extends QuotaStore, Accounts, OperatorRecords {
  close(): Promise<void>;
}

/** Counts of so many UTC days are kept, the present one included: enough to look back a month. */
export const DAYS_KEPT = 32;
