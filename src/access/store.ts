import type { Presence, StoreState } from '../core/redis/presence.ts';
import type { Account, KeyEnding, KeyRecord } from './account.ts';
import type { QuotaDay } from './day.ts';
import type { CounterLimit, Grant } from './grant.ts';
import type { PlanName } from './plan.ts';

/** Names a key and the day whose count is wanted with it. */
export interface KeyLookup {
  accountId: string;
  keyHash: string;
  day: QuotaDay;
}

/** Requests to admit and charge `count` requests with this key on that day, all or none. */
export interface AdmissionRequest extends KeyLookup {
  /** Default one. */
  count?: number;
  /** Identifies this process for this account and day. */
  sender: string;
  /** Further counters of the account that must stay within their limits; default none. */
  allowances?: readonly CounterLimit[];
}

/**
 * `used` is the account's count of that day, including these requests if admitted. `usedBySender` is how many were admitted for
 * the sender, 0 if these were not. `usedOfAllowances` are the counts of the allowances, in order.
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

/** The store's record of a key and of its account's day, read without charging. */
export type KeyReading =
  | { kind: 'unknown' }
  | { kind: 'revoked' }
  | { kind: 'known'; plan: string; email?: string; used: number; ending?: KeyEnding; grant?: Grant | null };

/** A correction of an account's count: requests admitted without the store, minus refunds. */
export interface CountUpdate {
  accountId: string;
  /** A day, or the name of another counter that begins with a day (see `Allowance`). */
  day: QuotaDay;
  count: number;
  /**
   * Number of admission requests whose responses were lost. The store subtracts the ones that it counted: the part of
   * `usedBySender` above `usedBySenderBefore`, the last value that the sender received. It then refuses further admission
   * requests of this sender, because some may still be in transit.
   */
  unacknowledged: number;
  usedBySenderBefore: number;
  sender: string;
  /** Increases with each update of a sender; a duplicate update counts once. */
  number: number;
}

/** `real` accounts get responses from upstream, `sandbox` accounts from the sandbox. They never share a store. */
export type StoreKind = 'real' | 'sandbox';

/** The address of the account that the sandbox creates for itself. */
export const SANDBOX_EMAIL = 'sandbox@transit.invalid';

/** Takes corrections of counts. Its calls reject only with `UnavailableError`. */
export interface CountStore {
  /** Whether the store responds; keyed by account ID. */
  readonly presence: Presence;
  /** Never makes a count negative; ignores deleted accounts. Resolves to `usedBySender`. */
  update(update: CountUpdate): Promise<number>;
}

/** The part of the store needed by every request. */
export interface QuotaStore extends CountStore {
  /** Whether the store is another process, possibly far away. */
  readonly isRemote: boolean;
  /** The number of instances sharing the store; while it is unreachable, the last known number. */
  instances(): number;
  admit(request: AdmissionRequest): Promise<AdmissionReply>;
  /** Works even while the store refuses writes. */
  loadKey(lookup: KeyLookup): Promise<KeyReading>;
  /** Checks by writing. Never rejects. */
  check(): Promise<StoreState>;
}

/** An account to open; `wantsQuotaMails` defaults to true. */
interface NewAccount extends Omit<Account, 'id'> {
  id?: string;
  wantsQuotaMails?: boolean;
}

/** A key to store. One restored from a backup may be revoked; `revokedAt` and `grant` default to null. */
interface NewKey extends Omit<KeyRecord, 'revokedAt' | 'lastUsedOn' | 'grant'> {
  revokedAt?: string | null;
  grant?: Grant | null;
}

/** Accounts and their keys. Acknowledged writes are durable. */
export interface Accounts {
  /**
   * Whether the accounts are real or the sandbox's. An unmarked store is real, unless it has no accounts (null) or only the
   * sandbox's.
   */
  loadKind(): Promise<StoreKind | null>;
  /** Marks the store; an existing mark is kept. */
  markKind(kind: StoreKind): Promise<void>;
  /** The account with this address: an existing one unchanged, or a new one with the given ID unless that is taken. */
  openAccount(account: NewAccount): Promise<Account>;
  loadAccount(id: string): Promise<Account | null>;
  loadAccountByEmail(email: string): Promise<Account | null>;
  /** Sorted by address. */
  listAccounts(): Promise<Account[]>;
  /** False if there is no such account. */
  setPlan(accountId: string, plan: PlanName): Promise<boolean>;
  /** Deletes the account with its keys and counts, and remembers its ID. False if there is no such account. */
  deleteAccount(accountId: string, now: number): Promise<boolean>;
  /** False if the account already has `maxLive` valid keys or does not exist. */
  addKey(key: NewKey, maxLive: number): Promise<boolean>;
  /** Oldest first, including revoked ones. */
  listKeys(accountId: string): Promise<KeyRecord[]>;
  /**
   * Revokes the key from the quota day of `at`, which may be in the future; the earlier of two such days applies. False if there
   * is no such key. `decidedAt` is when this was decided, by default `at`.
   */
  revokeKey(accountId: string, keyHash: string, at: number, decidedAt?: number): Promise<boolean>;
  /**
   * Records that a link to the account's keys was used. True for its first use across all processes; false for links issued
   * before one that was used.
   */
  useLink(accountId: string, issuedAt: number): Promise<boolean>;
  /** Requests charged on each of the days. */
  loadUsage(accountId: string, days: readonly QuotaDay[]): Promise<number[]>;
  /** Raises the count of a day to `count`, unless it is higher already. */
  raiseUsage(accountId: string, day: QuotaDay, count: number): Promise<void>;
  /** Whether the owner wants mails about the daily limit; default true. */
  wantsQuotaMails(accountId: string): Promise<boolean>;
  /** False if there is no such account. */
  setQuotaMails(accountId: string, isWanted: boolean): Promise<boolean>;
  /**
   * Claims the mail about this percentage of a day's limit. True for the first caller across all processes; false if a higher
   * percentage was claimed or the owner wants no such mails.
   */
  claimQuotaMail(accountId: string, day: QuotaDay, percent: number): Promise<boolean>;
}

/** What each process needs to enforce suspensions; loaded every second. */
export interface RestrictionSource {
  /** The restrictions by name if they changed since that version; else null. */
  loadRestrictions(knownVersion: string): Promise<{ version: string; values: Record<string, string> } | null>;
}

/** Operators' decisions, stored with the accounts. Whatever is acknowledged is durable. */
export interface OperatorRecords extends RestrictionSource {
  /** Replaces the restriction with this name; null lifts it. */
  setRestriction(name: string, value: string | null): Promise<void>;
  /** IDs of deleted accounts and when they were deleted: a backup must not restore them. */
  loadDeleted(): Promise<Record<string, string>>;
  /** `at` is null for an account that may be restored. */
  setDeleted(accountId: string, at: string | null): Promise<void>;
}

/** All that another store must implement. */
export interface AccountStore extends QuotaStore, Accounts, OperatorRecords {
  close(): Promise<void>;
}

/** Number of quota days for which counts are kept, including today: enough for the past month. */
export const DAYS_KEPT = 32;
