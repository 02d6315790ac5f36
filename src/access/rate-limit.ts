import type { ApiError } from '../errors/api-error.ts';
import {
  dailyLimitExceeded,
  shareExceeded,
  tokenExpired,
  tooFewLeft,
  tooManyInShortTime,
  visitorLimitExceeded,
} from '../errors/messages.ts';
import type { Admission } from './account.ts';
import { endOfDay, secondsUntil } from './day.ts';
import type { BurstLimit } from './limits/account-limits.ts';
import { PLANS } from './plan.ts';

const DAY_SECONDS = 86_400;

/**
 * Tells in every response to a valid key what is left of the day: the RateLimit fields of draft-ietf-httpapi-ratelimit-headers,
 * and the older names that most clients read. `X-RateLimit-Reset` is in Unix seconds. Unlimited plans have none of them. The
 * limits of a publishable key, its visitor or a token are further members of the RateLimit fields.
 */
export function rateLimitHeaders({ caller, day, used, allowances }: Admission, now: Date): Record<string, string> {
  const limit = PLANS[caller.plan].dailyLimit;
  const reset = endOfDay(day);
  const daily = limit === null ? [] : [{ name: 'daily', limit, used, windowSeconds: DAY_SECONDS, resetAt: reset }];
  const counts = [...daily, ...(allowances ?? [])];
  if (counts.length === 0) return {};
  const list = (write: (count: (typeof counts)[number]) => string) =>
    counts.map((count) => `"${count.name}";${write(count)}`).join(', ');
  const headers = {
    'ratelimit-policy': list((count) => `q=${count.limit};w=${count.windowSeconds}`),
    ratelimit: list((count) => `r=${Math.max(0, count.limit - count.used)};t=${secondsUntil(count.resetAt, now)}`),
  };
  if (limit === null) return headers;
  return {
    ...headers,
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(Math.max(0, limit - used)),
    'x-ratelimit-reset': String(reset.getTime() / 1000),
  };
}

/**
 * On responses to a key that was replaced and still works: since when that is known (Deprecation, RFC 9745), and when it
 * ends (Sunset, RFC 8594).
 */
export function keyEndHeaders({ caller: { ending } }: Admission): Record<string, string> {
  if (!ending) return {};
  return {
    deprecation: `@${Math.floor(Date.parse(ending.decidedAt) / 1000)}`,
    sunset: new Date(ending.endsAt).toUTCString(),
  };
}

/** The account has used up its day, or the key, the visitor or the token what is theirs. */
export function exhausted({ caller, day, allowances, refusedBy }: Admission, now: Date): ApiError {
  const spent = allowances?.find(({ name }) => name === refusedBy);
  if (spent) {
    if (spent.name === 'token') return tokenExpired(spent.limit);
    const terms = { limit: spent.limit, reset: spent.resetAt, waitSeconds: secondsUntil(spent.resetAt, now) };
    return spent.name === 'visitor' ? visitorLimitExceeded(terms) : shareExceeded(terms);
  }
  const { title, dailyLimit } = PLANS[caller.plan];
  const reset = endOfDay(day);
  return dailyLimitExceeded({ plan: title, limit: dailyLimit ?? 0, reset, waitSeconds: secondsUntil(reset, now) });
}

/** The request counts as more than the account has left of the day; `refused` says what is used. */
export function tooMany({ caller, day, used }: Admission, needed: number, now: Date): ApiError {
  const { title, dailyLimit } = PLANS[caller.plan];
  const limit = dailyLimit ?? 0;
  const reset = endOfDay(day);
  const waitSeconds = secondsUntil(reset, now);
  return tooFewLeft({ plan: title, limit, left: Math.max(0, limit - used), needed, reset, waitSeconds });
}

/** The account has made too many requests in a short time. */
export function tooFast({ caller }: Admission, bursts: BurstLimit): ApiError {
  return tooManyInShortTime({ plan: PLANS[caller.plan].title, ...bursts.termsOf(caller) });
}
