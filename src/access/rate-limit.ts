import { ApiError } from '../errors.ts';
import type { Admission } from './admission.ts';
import { endOfDay, secondsUntil } from './day.ts';
import { PLANS } from './plan.ts';

const DAY_SECONDS = 86_400;

/**
 * What is left of the day, in every answer to a valid key: the RateLimit fields of draft-ietf-httpapi-ratelimit-headers,
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

export function dailyLimitExceeded({ caller, day }: Admission, now: Date): ApiError {
  const { title, dailyLimit } = PLANS[caller.plan];
  const reset = endOfDay(day);
  return new ApiError(
    'DAILY_LIMIT_EXCEEDED',
    `The ${title} plan allows ${dailyLimit?.toLocaleString('en')} requests a day, and today's are used up. ` +
      `The count starts anew at 00:00 UTC, ${reset.toISOString().slice(0, 19)}Z.`,
    { headers: { 'retry-after': String(secondsUntil(reset, now)) } },
  );
}
