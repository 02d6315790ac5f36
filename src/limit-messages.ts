import { retryAfter } from './error-messages.ts';
import { ApiError } from './errors.ts';

/* The errors of limits that the documentation quotes; the others are in error-messages.ts. */

/** `reset` is when counting starts again, `waitSeconds` how long that is from now. */
export function dailyLimitExceeded(options: {
  plan: string;
  limit: number;
  reset: Date;
  waitSeconds: number;
}): ApiError {
  const { plan, limit, reset, waitSeconds } = options;
  return new ApiError(
    'DAILY_LIMIT_EXCEEDED',
    `The ${plan} plan allows ${limit.toLocaleString('en')} requests a day, and today's are used up. ` +
      describeReset(reset),
    retryAfter(waitSeconds),
  );
}

/** `needed` is as how many requests the question counts, `left` how many the account has left. */
export function tooFewLeft(options: {
  plan: string;
  limit: number;
  left: number;
  needed: number;
  reset: Date;
  waitSeconds: number;
}): ApiError {
  const { plan, limit, left, needed, reset, waitSeconds } = options;
  return new ApiError(
    'DAILY_LIMIT_EXCEEDED',
    `This question counts as ${needed} requests, and ${left} of the ${limit.toLocaleString('en')} that the ${plan} plan allows a day are left. ` +
      describeReset(reset),
    retryAfter(waitSeconds),
  );
}

/** `reason` is a sentence that says which limit was reached. */
export function tooManyMails(reason: string, waitSeconds: number): ApiError {
  const message = `${reason} Try again in ${describeWait(waitSeconds)}. Check the spam folder.`;
  return new ApiError('TOO_MANY_REQUESTS', message, retryAfter(waitSeconds));
}

/** `burst` requests may come at once, and `perSecond` on average. */
export function tooManyInShortTime(options: {
  plan: string;
  perSecond: number;
  burst: number;
  waitSeconds: number;
}): ApiError {
  const { plan, perSecond, burst, waitSeconds } = options;
  return new ApiError(
    'TOO_MANY_REQUESTS',
    `The ${plan} plan allows ${perSecond.toLocaleString('en')} requests a second, after ${burst.toLocaleString('en')} at once. ` +
      `Try again in ${describeWait(waitSeconds)}. This request is not counted.`,
    retryAfter(waitSeconds),
  );
}

export function tooManyUnknownKeys(waitSeconds: number): ApiError {
  return new ApiError(
    'TOO_MANY_REQUESTS',
    'Too many API keys that are not valid are being sent, so this one was not looked up: it may be valid or not. ' +
      `Try again in ${describeWait(waitSeconds)}.`,
    retryAfter(waitSeconds),
  );
}

/** `limit` is how many streams the plan allows. */
export function tooManyStreams(plan: string, limit: number): ApiError {
  return new ApiError(
    'TOO_MANY_REQUESTS',
    `The ${plan} plan allows ${limit.toLocaleString('en')} open streams, and your account has them open. Close one first.`,
    retryAfter(10),
  );
}

function describeReset(reset: Date): string {
  return `Counting starts again at 00:00 UTC, ${reset.toISOString().slice(0, 19)}Z.`;
}

function describeWait(seconds: number): string {
  if (seconds === 1) return 'a second';
  if (seconds < 120) return `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
