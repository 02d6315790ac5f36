import type { IncomingHttpHeaders } from 'node:http';
import { DateTime } from 'luxon';
import { ownText } from '../core/own-memory.ts';
import { ApiError } from '../errors/api-error.ts';
import { upstreamFailed, upstreamRefused, upstreamTimeout } from '../errors/messages.ts';

/*
 * Failures of upstream as the errors that callers see. The messages are our own; what upstream said is the
 * cause, which is only logged.
 */

/** A status other than 200 from upstream; the cause of the error that a caller sees. */
export class UpstreamStatusError extends Error {
  override readonly name = 'UpstreamStatusError';
  readonly status: number;
  /** For how long upstream wants no calls; null unless it refused for its rate or quota. */
  readonly pauseSeconds: number | null;

  constructor(status: number, message: string, pauseSeconds: number | null) {
    super(message);
    this.status = status;
    this.pauseSeconds = pauseSeconds;
  }
}

/** Upstream says in a message of an unknown kind that it has no response to the request. */
class DeclinedError extends Error {
  override readonly name = 'DeclinedError';
}

/** The pause after a refusal for the rate or the quota that does not tell how long, in seconds. */
const RATE_PAUSE_SECONDS = 3;
const QUOTA_PAUSE_SECONDS = 300;
/** A longer `Retry-After` is taken as an hour. */
const MAX_PAUSE_SECONDS = 3600;
/** Callers are told no more, because upstream is probed once a minute during a long pause. */
const MAX_RETRY_AFTER_SECONDS = 60;
const EXCERPT_LENGTH = 300;
/** How much markup is searched for its text. */
const MAX_MARKUP_LENGTH = 10_000;

/** Upstream responded with something that cannot be used. */
export function nonsense(what: string, cause?: unknown): ApiError {
  return unreadable(new Error(what, { cause }));
}

/** Upstream responded with messages alone, and none of them is known. */
export function declined(what: string): ApiError {
  return unreadable(new DeclinedError(what));
}

function unreadable(cause: Error): ApiError {
  return new ApiError('UPSTREAM_ERROR', 'Transport for NSW sent a response that could not be read.', { cause });
}

/**
 * The error for a status other than 200. Over rate and over quota come as 429, or as 403 with the reason in header or
 * body.
 */
export function unexpectedStatus(
  status: number,
  headers: IncomingHttpHeaders,
  body: string,
  { now, apiKey }: { now: Date; apiKey: string },
): ApiError {
  const text = `${excerpt(String(headers['x-error-detail'] ?? ''), apiKey)} ${excerpt(body, apiKey)}`.trim();
  const summary = `upstream answered ${status} ${text}`.trim();
  const isOverQuota = /over quota/i.test(text);

  if (status === 429 || (status === 403 && (isOverQuota || /over rate/i.test(text)))) {
    const pause =
      readRetryAfter(headers['retry-after'], now) ?? (isOverQuota ? QUOTA_PAUSE_SECONDS : RATE_PAUSE_SECONDS);
    return upstreamRefused(Math.min(pause, MAX_RETRY_AFTER_SECONDS), new UpstreamStatusError(status, summary, pause));
  }
  return upstreamFailed(new UpstreamStatusError(status, summary, null));
}

/**
 * The beginning of what upstream said, for the log: without markup, and without our key if the text repeats it.
 */
export function excerpt(text: string, apiKey: string): string {
  const harmless = apiKey ? text.replaceAll(apiKey, '[our key]') : text;
  return ownText(withoutMarkup(harmless.slice(0, MAX_MARKUP_LENGTH).trim()).slice(0, EXCERPT_LENGTH));
}

/**
 * Errors of the gateway can be SOAP faults or pages. Of a SOAP fault the `faultstring` is enough: the other elements
 * repeat the URL of the request, which tells where a rider is.
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

/** The connection, TLS included, was not there in time. */
const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';

function codeOf(error: Error): unknown {
  return (error as NodeJS.ErrnoException).code;
}

/** From 1 to 3,600 seconds; null when the header is missing, or neither a number of seconds nor a date. */
function readRetryAfter(header: string | undefined, now: Date): number | null {
  if (!header) return null;
  const date = DateTime.fromHTTP(header);
  if (!date.isValid && !/^\d+$/.test(header)) return null;
  const seconds = date.isValid ? Math.ceil((date.toMillis() - now.getTime()) / 1000) : Number(header);
  return Math.min(Math.max(1, seconds), MAX_PAUSE_SECONDS);
}

/** How a call failed, in few words, which become a label of metrics: never the text of an error. */
export function outcomeOf(error: unknown) {
  if (!(error instanceof ApiError)) return 'bug';
  const { cause } = error;
  if (cause instanceof UpstreamStatusError) {
    if (cause.pauseSeconds !== null) return 'rate-limited';
    // The gateway refuses keys that it does not know with 401, and keys that may not use the trip planner with 403.
    if (cause.status === 401 || cause.status === 403) return 'key-refused';
    return cause.status >= 500 ? 'status-5xx' : 'status-other';
  }
  if (cause instanceof DeclinedError) return 'declined';
  if (error.code === 'UPSTREAM_TIMEOUT') return 'timeout';
  // Errors of the network have a code such as ECONNREFUSED; a response that cannot be read has none.
  return typeof (cause as { code?: unknown } | undefined)?.code === 'string' ? 'unreachable' : 'unreadable';
}

/** Tells where the fault of a failed call lies. A 5xx or an unreadable response can be the fault of either. */
export type Blame = 'authority' | 'request' | 'unclear';

export function blameOf(error: unknown): Blame {
  const outcome = outcomeOf(error);
  if (outcome === 'timeout' || outcome === 'unreachable') return 'authority';
  if (outcome === 'declined') return 'request';
  const { status } = (error as { cause?: { status?: number } }).cause ?? {};
  return outcome === 'status-other' && status !== undefined && status >= 400 ? 'request' : 'unclear';
}
