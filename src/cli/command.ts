import { readFile } from 'node:fs/promises';
import type { ParseArgsConfig, parseArgs } from 'node:util';
import { type Account, normaliseEmail } from '../access/account.ts';
import { quotaDayFrom } from '../access/day.ts';
import { type Accounts, DAYS_KEPT, type OperatorRecords } from '../access/store.ts';
import { ConfigError } from '../config.ts';
import { openRedis, type SharedRedis } from '../core/redis/shared-redis.ts';

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

/** Today and the days before it; by default all for which stores keep counts. */
export function listDays(now: number, count = DAYS_KEPT): string[] {
  return Array.from({ length: count }, (_, index) => quotaDayFrom(now, -index));
}

/** Characters that control a terminal or are invisible. */
export const UNPRINTABLE = /\p{C}/u;

/** Invalid command line. The message is for the operator. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Prints what is wrong with the command line or the configuration. Rethrows any other error. */
export function printUsageError(error: unknown, print: (text: string) => void): void {
  const { message, code } = error as NodeJS.ErrnoException;
  if (error instanceof ConfigError) print(`The configuration is not usable:\n${message}`);
  else if (error instanceof UsageError || code?.startsWith('ERR_PARSE_ARGS')) print(message);
  else throw error;
}

/** Discards all lines: for work whose problems the command reports itself. */
export const SILENT = { info() {}, warn() {}, error() {} };

/** The Redis of the running service; null without one. */
export async function openSilentRedis(urls: readonly string[]): Promise<SharedRedis | null> {
  return urls.length > 0 ? openRedis(urls, SILENT) : null;
}

/** What a command of `npm run keys` receives. */
export interface CommandInput {
  store: Accounts & OperatorRecords;
  /** Words after the command name. */
  operands: string[];
  options: ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];
  now: number;
}

/** A line of a table: column name to value. */
export type TableRow = Record<string, string | number>;

/** Prints nothing itself: the caller writes `json` or a table of `rows`. */
export type Command = (input: CommandInput) => Promise<{
  json: unknown;
  rows: TableRow[];
  /** Printed below the table, unless the table is empty. */
  note?: string;
  /** True if the command succeeded only in part. */
  isIncomplete?: boolean;
}>;

export async function getAccount(accounts: Accounts, addressOrId: string | undefined): Promise<Account> {
  if (!addressOrId) throw new UsageError('Name the account by its email address or id.');
  const email = normaliseEmail(addressOrId);
  const account = email ? await accounts.loadAccountByEmail(email) : await accounts.loadAccount(addressOrId);
  if (!account) throw new UsageError(`There is no account ${addressOrId}.`);
  return account;
}

export async function loadText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`The file cannot be read: ${error.message}`);
  });
}

/** Returns undefined if the option is missing. Throws `UsageError` if it is invalid. */
export function getWholeNumber(
  name: string,
  text: string | undefined,
  { min, max }: { min: number; max: number },
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} must be a whole number from ${min} to ${max}, not ${text}.`);
}

/** Lets a reader such as `head` close standard output early. */
export function allowEarlyEnd(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
