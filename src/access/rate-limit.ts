import type { ApiError } from '../errors/api-error.ts';
import {
  dailyLimitExceeded,
  shareExceeded,
  tokenExpired,
  tooFewLeft,
  visitorLimitExceeded,
} from '../errors/messages.ts';
import type { Admission, KeyEnding } from './account.ts';
import { endOfDay, secondsOfDay, secondsUntil } from './day.ts';
import { PLANS } from './plan.ts';

/**
 * Headers with the remaining quota, for responses to valid keys: the RateLimit fields of
 * draft-ietf-httpapi-ratelimit-headers, and the older names that most clients read. `X-RateLimit-Reset` is in Unix seconds.
 * Unlimited plans have none. The limits of a publishable key, its visitor or a token are further members of the RateLimit fields.
 */
export function rateLimitHeaders({ caller, day, used, allowances }: Admission, now: number): Record<string, string> {
  const limit = PLANS[caller.plan].dailyLimit;
  if (limit === null && allowances.length === 0) return NO_HEADERS;
  const reset = endOfDay(day);
  const daily =
    limit === null ? [] : [{ name: 'daily', limit, used, windowSeconds: secondsOfDay(day), resetAt: reset }];
  let policy = '';
  let left = '';
  for (const count of [...daily, ...allowances]) {
    const separator = policy ? ', ' : '';
    policy += `${separator}"${count.name}";q=${count.limit};w=${count.windowSeconds}`;
    left += `${separator}"${count.name}";r=${Math.max(0, count.limit - count.used)};t=${secondsUntil(count.resetAt, now)}`;
  }
  const headers: Record<string, string> = { 'ratelimit-policy': policy, ratelimit: left };
  if (limit === null) return headers;
  headers['x-ratelimit-limit'] = String(limit);
  headers['x-ratelimit-remaining'] = String(Math.max(0, limit - used));
  headers['x-ratelimit-reset'] = String(reset / 1000);
  return headers;
}

const NO_HEADERS = {};

/**
 * Headers for a key that was replaced and still works: when that was decided (Deprecation, RFC 9745), and when the key ends
 * (Sunset, RFC 8594).
 */
export function keyEndHeaders({ decidedAt, endsAt }: KeyEnding): Record<string, string> {
  return {
    deprecation: `@${Math.floor(Date.parse(decidedAt) / 1000)}`,
    sunset: new Date(endsAt).toUTCString(),
  };
}

/**
 * The error when the account, key, visitor or token has used up its limit, which `refusedBy` names. `needed` is the cost of the
 * request.
 */
export function limitExceeded(
  { caller, day, used, allowances, refusedBy }: Admission,
  needed: number,
  now: number,
): ApiError {
  const spent = allowances.find(({ name }) => name === refusedBy);
  if (spent?.name === 'token') return tokenExpired(spent.limit);
  const reset = spent?.resetAt ?? endOfDay(day);
  const waitSeconds = secondsUntil(reset, now);
  if (spent) {
    const terms = { limit: spent.limit, reset, waitSeconds };
    return spent.name === 'visitor' ? visitorLimitExceeded(terms) : shareExceeded(terms);
  }
  const { title: plan, dailyLimit } = PLANS[caller.plan];
  const limit = dailyLimit ?? 0;
  if (needed === 1) return dailyLimitExceeded({ plan, limit, reset, waitSeconds });
  return tooFewLeft({ plan, limit, left: Math.max(0, limit - used), needed, reset, waitSeconds });
}
