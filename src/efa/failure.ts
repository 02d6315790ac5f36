import type { IncomingHttpHeaders } from 'node:http';
import { DateTime } from 'luxon';
import { ownText } from '../core/own-memory.ts';
import { ApiError } from '../errors/api-error.ts';
import { upstreamFailed, upstreamRefused, upstreamTimeout } from '../errors/messages.ts';

/**
 * Converts upstream's failures to errors for callers. The messages are ours; upstream's text is the cause, which is only
 * logged.
 */

/** A status other than 200 from upstream, used as the cause of the caller's error. */
export class UpstreamStatusError extends Error {
  override readonly name = 'UpstreamStatusError';
  readonly status: number;
  /** How long upstream refuses calls; null unless the rate or quota is exceeded. */
  readonly pauseSeconds: number | null;

  constructor(status: number, message: string, pauseSeconds: number | null) {
    super(message);
    this.status = status;
    this.pauseSeconds = pauseSeconds;
  }
}

/** An unknown kind of message in which upstream declines the request. */
class DeclinedError extends Error {
  override readonly name = 'DeclinedError';
}

/** Pause in seconds after a rate refusal without `Retry-After`. */
const RATE_PAUSE_SECONDS = 3;
const QUOTA_PAUSE_SECONDS = 300;
/** A longer `Retry-After` is reduced to an hour. */
const MAX_PAUSE_SECONDS = 3600;
/** Longest `Retry-After` for callers, because upstream is probed once a minute during a long pause. */
const MAX_RETRY_AFTER_SECONDS = 60;
const EXCERPT_LENGTH = 300;
/** Maximum characters of markup searched for text. */
const MAX_MARKUP_LENGTH = 10_000;

/** The error for an unusable response. */
export function unexpectedResponse(description: string, cause?: unknown): ApiError {
  return unreadable(new Error(description, { cause }));
}

/** The error for a response with only unknown messages. */
export function declined(description: string): ApiError {
  return unreadable(new DeclinedError(description));
}

function unreadable(cause: Error): ApiError {
  return new ApiError('UPSTREAM_ERROR', 'Transport for NSW sent a response that could not be read.', { cause });
}

/**
 * The error for a status other than 200. Exceeded rates and quotas come as 429, or as 403 with the reason in a header or the
 * body.
 */
export function unexpectedStatus(
  status: number,
  headers: IncomingHttpHeaders,
  body: string,
  { now, apiKey }: { now: number; apiKey: string },
): ApiError {
  const text = `${excerpt(String(headers['x-error-detail'] ?? ''), apiKey)} ${excerpt(body, apiKey)}`.trim();
  const summary = `upstream answered ${status} ${text}`.trim();
  const isOverQuota = /over quota/i.test(text);

  if (status === 429 || (status === 403 && (isOverQuota || /over rate/i.test(text)))) {
    const pause =
      parseRetryAfter(headers['retry-after'], now) ?? (isOverQuota ? QUOTA_PAUSE_SECONDS : RATE_PAUSE_SECONDS);
    return upstreamRefused(Math.min(pause, MAX_RETRY_AFTER_SECONDS), new UpstreamStatusError(status, summary, pause));
  }
  return upstreamFailed(new UpstreamStatusError(status, summary, null));
}

/** The beginning of upstream's text for the log, without markup and without our key. */
export function excerpt(text: string, apiKey: string): string {
  const harmless = apiKey ? text.replaceAll(apiKey, '[our key]') : text;
  return ownText(withoutMarkup(harmless.slice(0, MAX_MARKUP_LENGTH).trim()).slice(0, EXCERPT_LENGTH));
}

/**
 * Gateway errors can be SOAP faults or pages. Only the `faultstring` of a SOAP fault is kept: other elements repeat the request's
 * URL, which reveals where a rider is.
 */
function withoutMarkup(text: string): string {
  if (!text.startsWith('<')) return text;
  const fault = /<(?:\w{1,20}:)?faultstring[^<>]*>([^<]*)</.exec(text)?.[1]?.trim();
  return fault
    ? `SOAP fault: ${fault}`
    : text
        .replace(/<[^<>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim();
}

/** The error for a connection that is refused, lost or too slow. */
export function toUpstreamError(error: unknown, timeoutMs: number): ApiError {
  const isLate = error instanceof Error && (error.name === 'TimeoutError' || codeOf(error) === CONNECT_TIMEOUT);
  if (isLate) {
    return upstreamTimeout(timeoutMs, error);
  }
  return new ApiError('UPSTREAM_ERROR', 'Transport for NSW could not be reached. Try again later.', {
    cause: error,
  });
}

/** The connection, including TLS, was not established in time. */
const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';

function codeOf(error: Error): unknown {
  return (error as NodeJS.ErrnoException).code;
}

/** 1 to 3,600 seconds; null if the header is missing, or neither a number nor a date. */
function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (!header) return null;
  const date = DateTime.fromHTTP(header);
  if (!date.isValid && !/^\d+$/.test(header)) return null;
  const seconds = date.isValid ? Math.ceil((date.toMillis() - now) / 1000) : Number(header);
  return Math.min(Math.max(1, seconds), MAX_PAUSE_SECONDS);
}

/** How a call failed, as a short metric label; never an error's text. */
export function outcomeOf(error: unknown) {
  if (!(error instanceof ApiError)) return 'bug';
  const { cause } = error;
  if (cause instanceof UpstreamStatusError) {
    if (cause.pauseSeconds !== null) return 'rate-limited';
    // The gateway answers 401 for unknown keys, and 403 for keys that may not use the trip planner.
    if (cause.status === 401 || cause.status === 403) return 'key-refused';
    return cause.status >= 500 ? 'status-5xx' : 'status-other';
  }
  if (cause instanceof DeclinedError) return 'declined';
  if (error.code === 'UPSTREAM_TIMEOUT') return 'timeout';
  // Network errors have a code such as ECONNREFUSED; unreadable responses have none.
  return typeof (cause as { code?: unknown } | undefined)?.code === 'string' ? 'unreachable' : 'unreadable';
}

/** Who is at fault for a failed call. For a 5xx or an unreadable response it can be either. */
export type Blame = 'upstream' | 'request' | 'unclear';

export function blameOf(error: unknown): Blame {
  const outcome = outcomeOf(error);
  if (outcome === 'timeout' || outcome === 'unreachable') return 'upstream';
  if (outcome === 'declined') return 'request';
  const { status } = (error as { cause?: { status?: number } }).cause ?? {};
  return outcome === 'status-other' && status !== undefined && status >= 400 ? 'request' : 'unclear';
}
