import type { IncomingHttpHeaders } from 'node:http';
import { DateTime } from 'luxon';
import { ApiError } from '../errors.ts';

/*
 * What went wrong between us and the authority, as the one error a caller sees. Messages are ours; what upstream
 * said is the cause, for the log only.
 */

/** What the authority's gateway answered instead of 200; the cause of the error that a caller sees. */
export class UpstreamStatusError extends Error {
  override readonly name = 'UpstreamStatusError';
  readonly status: number;
  /** For how long it wants to be left alone; null unless it refused for its rate or quota. */
  readonly pauseSeconds: number | null;

  constructor(status: number, message: string, pauseSeconds: number | null) {
    super(message);
    this.status = status;
    this.pauseSeconds = pauseSeconds;
  }
}

/** How long to stay away when the authority refuses for its rate or quota and does not say for how long, in seconds. */
const RATE_PAUSE_SECONDS = 3;
const QUOTA_PAUSE_SECONDS = 300;
const EXCERPT_LENGTH = 300;

/** The authority answered, but with nothing we can use. */
export function nonsense(what: string, cause?: unknown): ApiError {
  return new ApiError('UPSTREAM_ERROR', 'The transport authority sent an answer that could not be read.', {
    cause: new Error(what, { cause }),
  });
}

/** A status other than 200. Over-rate and over-quota come as 403 (told by header or body) or 429. */
export function unexpectedStatus(status: number, headers: IncomingHttpHeaders, body: string, now: Date): ApiError {
  const detail = String(headers['x-error-detail'] ?? '');
  const told = `${detail} ${body.slice(0, EXCERPT_LENGTH)}`;
  const summary = `upstream answered ${status} ${told}`.trim();
  const isOverQuota = /over quota/i.test(told);

  if (status === 429 || (status === 403 && (isOverQuota || /over rate/i.test(told)))) {
    const pause =
      readRetryAfter(headers['retry-after'], now) ?? (isOverQuota ? QUOTA_PAUSE_SECONDS : RATE_PAUSE_SECONDS);
    return new ApiError(
      'UPSTREAM_UNAVAILABLE',
      'The transport authority takes no more requests for now. Try again later.',
      {
        cause: new UpstreamStatusError(status, summary, pause),
        headers: { 'retry-after': String(pause) },
      },
    );
  }
  return new ApiError('UPSTREAM_ERROR', 'The transport authority failed to answer. Try again later.', {
    cause: new UpstreamStatusError(status, summary, null),
  });
}

/** Anything thrown while asking: refused, reset, timed out. */
export function toUpstreamError(error: unknown, timeoutMs: number): ApiError {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new ApiError(
      'UPSTREAM_TIMEOUT',
      `The transport authority did not answer within ${timeoutMs / 1000} seconds.`,
      {
        cause: error,
      },
    );
  }
  return new ApiError('UPSTREAM_ERROR', 'The transport authority could not be reached. Try again later.', {
    cause: error,
  });
}

/** Seconds; null when the header is missing or neither a number of seconds nor a date. */
function readRetryAfter(header: string | undefined, now: Date): number | null {
  if (!header) return null;
  if (/^\d{1,6}$/.test(header)) return Number(header);
  const date = DateTime.fromHTTP(header);
  return date.isValid ? Math.max(1, Math.ceil((date.toMillis() - now.getTime()) / 1000)) : null;
}
