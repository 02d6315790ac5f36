import { z } from 'zod';
import type { QuotaDay } from './day.ts';
import type { Allowance, Grant } from './grant.ts';
import type { PlanName } from './plan.ts';

/** The owner of keys. All keys of an account share its daily limit. */
export interface Account {
  /** Contained in the text of each of the account's keys. */
  id: string;
  /** Normalised; each address has at most one account. */
  email: string;
  plan: PlanName;
  /** UTC, ISO 8601 */
  createdAt: string;
}

/** A key as stored, without its text. */
export interface KeyRecord {
  accountId: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  lastFour: string;
  /** The owner's name for the key, or empty. */
  label: string;
  createdAt: string;
  /** Null for a valid key. May be in the future (the end of a quota day): the key is valid until then. */
  revokedAt: string | null;
  /** The last quota day on which the key was used, `YYYYMMDD`. */
  lastUsedOn: string | null;
  /** What a publishable key allows; null for a secret key. */
  grant: Grant | null;
}

export const MAX_LIVE_KEYS = 5;

export function isValid({ revokedAt }: { revokedAt: string | null }, now: number): boolean {
  return revokedAt === null || Date.parse(revokedAt) > now;
}

/** The account that a request comes from. */
export interface Caller {
  accountId: string;
  plan: PlanName;
  /** The domain of the account's email address, if known. */
  domain?: string;
  /** Present if the key was replaced and still works. */
  ending?: KeyEnding;
  /** Present on a publishable key. */
  grant?: Grant | undefined;
}

/** UTC, ISO 8601 */
export interface KeyEnding {
  /** When the key's end was decided. */
  decidedAt: string;
  endsAt: string;
}

/** What a request is charged, and the allowances it must fit into besides the account's daily limit. */
export interface Charge {
  count: number;
  day: QuotaDay;
  allowances: readonly Allowance[];
}

/**
 * The outcome of a charge. `exhausted`: too little of the quota is left. `throttled`: too many requests in a short time.
 * `given-back`: refunded.
 */
export interface Admission {
  kind: 'admitted' | 'exhausted' | 'throttled' | 'given-back';
  caller: Caller;
  day: QuotaDay;
  /** The number of requests charged: one, unless the operation costs more. */
  count: number;
  /** Requests of the account charged that day, including this one if it was charged. Meaningless for unlimited plans. */
  used: number;
  /** The allowances that the request had to fit into, including this request. */
  allowances: readonly (Allowance & { used: number })[];
  /** The allowance that refused the request; absent if the account's daily limit did. */
  refusedBy?: Allowance['name'] | undefined;
}

const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

/** The address as stored with accounts; null if the text is not an address. */
export function normaliseEmail(text: string): string | null {
  return emailSchema.safeParse(text).data ?? null;
}
