import { randomUUID } from 'node:crypto';
import type { FastifyInstance, InjectOptions } from 'fastify';
import type { Grant } from '#src/access/grant.ts';
import { issueKey, type KeyKind, parseKey } from '#src/access/keys.ts';
import type { PlanName } from '#src/access/plan.ts';
import type { AccountStore, Accounts } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';

/** A key of an unlimited plan for tests about something else, by default in a store of its own. */
export async function openTestAccess(
  now: Date,
  store = openEmbeddedStore(':memory:'),
): Promise<{ store: AccountStore; apiKey: string }> {
  return { store, apiKey: await issueTestKey(store, { plan: 'pro', now }) };
}

let accounts = 0;

/** A key of a new account, or of the account with that address. */
export async function issueTestKey(
  register: Accounts,
  options: { plan?: PlanName; email?: string; kind?: KeyKind; now?: Date; grant?: Grant } = {},
): Promise<string> {
  const { plan = 'free', email = `somebody-${process.pid}-${++accounts}@example.com`, kind = 'live' } = options;
  const now = options.now ?? new Date();
  const account = await register.openAccount({ email, plan, createdAt: now.toISOString() });
  const issued = await issueKey(register, {
    account,
    kind,
    label: '',
    now: now.getTime(),
    grant: options.grant ?? null,
  });
  if (!issued) throw new Error('the account has all the keys it may have');
  return issued.text;
}

/** Counts requests of the key's account without making them. */
export async function countRequests(store: AccountStore, key: string, count: number, day: string): Promise<void> {
  const accountId = parseKey(key)?.accountId ?? '';
  const update = { accountId, day, count, unacknowledged: 0, usedBySenderBefore: 0 };
  await store.update({ ...update, sender: randomUUID(), number: 1 });
}

/** Makes `inject` send the key unless the request has its own Authorization header. */
export function sendKey(app: FastifyInstance, apiKey: string): void {
  const inject = app.inject.bind(app) as (options: InjectOptions) => ReturnType<FastifyInstance['inject']>;
  const withKey = (given: InjectOptions | string) => {
    const options = typeof given === 'string' ? { url: given } : given;
    return inject({ ...options, headers: { authorization: `Bearer ${apiKey}`, ...options.headers } });
  };
  app.inject = withKey as FastifyInstance['inject'];
}
