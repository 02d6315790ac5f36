import type { ApiError } from '../errors/api-error.ts';
import { dailyLimitExceeded, tooFewLeft, tooManyInShortTime } from '../errors/messages.ts';
import type { Admission } from './admission.ts';
import { endOfDay, secondsUntil } from './day.ts';
import type { BurstLimit } from './limits/account-limits.ts';
import { PLANS } from './plan.ts';

const DAY_SECONDS = 86_400;

/**
 * What is left of the day, in every response to a valid key: the RateLimit fields of draft-ietf-httpapi-ratelimit-headers,
 * and the older names that most clients read. `X-RateLimit-Reset` is in Unix seconds. Unlimited plans have none of them.
 */
export function rateLimitHeaders({ caller, day, used }: Admission, now: Date): Record<string, string> {
  const limit = PLANS[caller.plan].dailyLimit;
  if (limit === null) return {};
  const remaining = Math.max(0, limit - used);
  const reset = endOfDay(day);
  return {
    'ratelimit-policy': `"daily";q=${limit};w=${DAY_SECONDS}`,
    ratelimit: `"daily";r=${remaining};t=${secondsUntil(reset, now)}`,
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
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

/** The account has used up its day. */
export function exhausted({ caller, day }: Admission, now: Date): ApiError {
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
