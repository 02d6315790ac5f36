import { z } from 'zod';
import type { Plan } from './plan.ts';

/** Who pays, or could. Requests of all keys of an account share its daily counter. */
export interface Account {
  /** Also the account part of each of its keys. */
  id: string;
  /** Normalised; one account an address. */
  email: string;
  plan: Plan;
  /** UTC, ISO 8601 */
  createdAt: string;
}

/** A key as it is kept: never its text. */
export interface KeyRecord {
  accountId: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  lastFour: string;
  /** What its owner calls it; empty when they do not. */
  label: string;
  createdAt: string;
  /** Null while it is valid. May lie ahead, at 00:00 UTC of a day: it is valid until then. */
  revokedAt: string | null;
  /** The last UTC day it was used on, `YYYYMMDD`. */
  lastUsedOn: string | null;
}

export const MAX_LIVE_KEYS = 5;

const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

/** The address as accounts are known by, or null when it is none. */
export function normaliseEmail(text: string): string | null {
  return emailSchema.safeParse(text).data ?? null;
}
