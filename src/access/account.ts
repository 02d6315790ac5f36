import { z } from 'zod';
import type { UtcDay } from './day.ts';
import type { Allowance, Grant } from './grant.ts';
import type { Plan } from './plan.ts';

/** The owner of keys. Requests with all keys of an account share its daily count. */
export interface Account {
  /** Part of the text of each key of the account. */
  id: string;
  /** Normalised. Each address has one account. */
  email: string;
  plan: Plan;
  /** UTC, ISO 8601 */
  createdAt: string;
}

/** A key as it is stored: never its text. */
export interface KeyRecord {
  accountId: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  lastFour: string;
  /** The owner's name for the key, or empty. */
  label: string;
  createdAt: string;
  /** Null for a valid key. May lie ahead, at 00:00 UTC of a day: the key is valid until then. */
  revokedAt: string | null;
  /** The last UTC day the key was used on, `YYYYMMDD`. */
  lastUsedOn: string | null;
  /** The uses that a publishable key is for; null for a secret key. */
  grant: Grant | null;
}

export const MAX_LIVE_KEYS = 5;

export function isValid({ revokedAt }: Pick<KeyRecord, 'revokedAt'>, now: Date): boolean {
  return revokedAt === null || new Date(revokedAt) > now;
}

/** The account that a request comes from. */
export interface Caller {
  accountId: string;
  plan: Plan;
  /** The domain of the account's mail address, as far as the store has told. */
  domain?: string;
  /** Present when the key was replaced and still works. */
  ending?: KeyEnding;
  /** Present on a publishable key. */
  grant?: Grant | undefined;
}

/** UTC, ISO 8601 */
export interface KeyEnding {
  /** Since when it is known that the key ends. */
  decidedAt: string;
  endsAt: string;
}

/** How many requests one counts as, and the counts that they have to fit into beside the day of the account. */
export interface Counted {
  count: number;
  day: UtcDay;
  allowances: readonly Allowance[];
}

/**
 * A request that was counted, or refused because too little is left of the day or because the account makes too many
 * requests in a short time, or whose count was given back.
 */
export interface Admission {
  kind: 'admitted' | 'exhausted' | 'throttled' | 'given-back';
  caller: Caller;
  day: UtcDay;
  /** The number of requests that it counts as: one, unless its operation costs more. */
  count: number;
  /** Requests of the account counted that day, this one included if it was counted. Without meaning for unlimited plans. */
  used: number;
  /** The further counts that the request had to fit into, this request included. */
  allowances: readonly (Allowance & { used: number })[];
  /** The one of them that the request did not fit into; absent when it was the day of the account. */
  refusedBy?: Allowance['name'] | undefined;
}

const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

/** The address in the form in which accounts are stored; null when the text is not an address. */
export function normaliseEmail(text: string): string | null {
  return emailSchema.safeParse(text).data ?? null;
}
