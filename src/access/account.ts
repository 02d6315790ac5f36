import { z } from 'zod';
import type { Grant } from './grant.ts';
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

const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

/** The address in the form in which accounts are stored; null when the text is not an address. */
export function normaliseEmail(text: string): string | null {
  return emailSchema.safeParse(text).data ?? null;
}
