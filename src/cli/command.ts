import { readFile } from 'node:fs/promises';
import type { ParseArgsConfig, parseArgs } from 'node:util';
import { type Account, normaliseEmail } from '../access/account.ts';
import type { Accounts, OperatorRecords } from '../access/store.ts';

export const OPTIONS = {
  email: { type: 'string' },
  plan: { type: 'string' },
  label: { type: 'string' },
  publishable: { type: 'boolean' },
  origin: { type: 'string', multiple: true },
  apps: { type: 'boolean' },
  operation: { type: 'string', multiple: true },
  'per-day': { type: 'string' },
  'per-visitor': { type: 'string' },
  days: { type: 'string' },
  keep: { type: 'string' },
  'restore-deleted': { type: 'boolean' },
  csv: { type: 'boolean' },
  reason: { type: 'string' },
  lift: { type: 'boolean' },
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options'];

/** Characters that drive a terminal or hide in a text. */
export const UNPRINTABLE = /\p{C}/u;

/** The command line cannot be carried out as it is written. The message is for the operator. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface CommandInput {
  store: Accounts & OperatorRecords;
  /** The words after the name of the command. */
  operands: string[];
  options: ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];
  now: Date;
}

/** A line of a table: column name to value. */
export type Row = Record<string, string | number>;

export type Command = (input: CommandInput) => Promise<{
  json: unknown;
  rows: Row[];
  /** Stands below the table; not shown where it is empty. */
  note?: string;
  /** The command did what it could, and not all of it. */
  isIncomplete?: boolean;
}>;

export async function getAccount(accounts: Accounts, addressOrId: string | undefined): Promise<Account> {
  if (!addressOrId) throw new UsageError('Name the account by its e-mail address or id.');
  const email = normaliseEmail(addressOrId);
  const account = email ? await accounts.findAccountByEmail(email) : await accounts.findAccount(addressOrId);
  if (!account) throw new UsageError(`There is no account ${addressOrId}.`);
  return account;
}

export async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`The file cannot be read: ${error.message}`);
  });
}

/** Undefined when the option was not given. */
export function getWholeNumber(
  name: string,
  text: string | undefined,
  { least, most }: { least: number; most: number },
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${name} must be a whole number from ${least} to ${most}, not ${text}.`);
}
