/**
 * Every error a caller can meet: its code and the status it travels with.
 * The first row of a status is what an error of that status becomes when it carries no code of ours.
 */
export const ERROR_TABLE = {
  INVALID_PARAMETER: { status: 400 },
  DATE_OUT_OF_RANGE: { status: 400 },
  UNAUTHORIZED: { status: 401 },
  TOKEN_EXPIRED: { status: 401 },
  SUSPENDED: { status: 403 },
  ORIGIN_NOT_ALLOWED: { status: 403 },
  OPERATION_NOT_ALLOWED: { status: 403 },
  NOT_FOUND: { status: 404 },
  NO_JOURNEYS_FOUND: { status: 404 },
  STOP_NOT_FOUND: { status: 404 },
  RUN_NOT_FOUND: { status: 404 },
  JOURNEY_NOT_FOUND: { status: 404 },
  METHOD_NOT_ALLOWED: { status: 405 },
  REQUEST_TIMEOUT: { status: 408 },
  BODY_TOO_LARGE: { status: 413 },
  UNSUPPORTED_MEDIA_TYPE: { status: 415 },
  TOO_MANY_REQUESTS: { status: 429 },
  DAILY_LIMIT_EXCEEDED: { status: 429 },
  VISITOR_LIMIT_EXCEEDED: { status: 429 },
  HEADERS_TOO_LARGE: { status: 431 },
  INTERNAL_ERROR: { status: 500 },
  UPSTREAM_ERROR: { status: 502 },
  SERVICE_UNAVAILABLE: { status: 503 },
  UPSTREAM_UNAVAILABLE: { status: 503 },
  UPSTREAM_TIMEOUT: { status: 504 },
} as const satisfies Record<string, { status: number }>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/**
 * Why a request got 503, in its log line as `unavailable`. `day`, `rate`: the budget has no call in time; `account`: the account
 * has too many requests waiting; `upstream`: upstream fails, or refuses our keys; `store`: the account store is away;
 * `overload`: this process has too much to do. docs/operations.md says what to do about each.
 */
export type UnavailableCause = 'day' | 'rate' | 'account' | 'upstream' | 'store' | 'overload';

/**
 * The one kind of error that routes, mappers and the client throw.
 * `message` is for the caller; `cause` is for the log and never leaves the process.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  /** How many of the requests that the refused one counts as failed; all of them at a status of 500 or more unless given. */
  readonly failedParts?: number;
  /** Why a request got 503. */
  readonly unavailable?: UnavailableCause;
  /** Fields for the log line of the request: what an operator tells a caller who asks why. No value that the caller sent. */
  readonly logFields?: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      cause?: unknown;
      headers?: Record<string, string>;
      failedParts?: number;
      unavailable?: UnavailableCause;
      logFields?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.headers = options.headers ?? {};
    if (options.failedParts !== undefined) this.failedParts = options.failedParts;
    if (options.logFields !== undefined) this.logFields = options.logFields;
    const unavailable = options.unavailable ?? (code === 'UPSTREAM_UNAVAILABLE' ? 'upstream' : undefined);
    if (unavailable !== undefined) this.unavailable = unavailable;
  }

  get statusCode(): number {
    return ERROR_TABLE[this.code].status;
  }

  /** Whether upstream was not called because calls are short, which says nothing about its health. */
  get isBudgetExhausted(): boolean {
    return this.unavailable === 'day' || this.unavailable === 'rate' || this.unavailable === 'account';
  }
}

/** Null for an error that callers can meet, where the response goes on without what failed; throws any other, which is a bug. */
export function nullIfApiError(error: unknown): null {
  if (error instanceof ApiError) return null;
  throw error;
}

/** The code for an error that only has a status, as the framework's own errors do. */
export function codeForStatus(status: number): ErrorCode {
  const known = (Object.keys(ERROR_TABLE) as ErrorCode[]).find((code) => ERROR_TABLE[code].status === status);
  if (known) return known;
  return status >= 400 && status < 500 ? 'INVALID_PARAMETER' : 'INTERNAL_ERROR';
}

/** The body of every error; it has nothing else at top level. */
export function errorBody(error: ApiError, docsUrl: string) {
  return { error: { code: error.code, message: error.message, docs: `${docsUrl}/errors/${error.code}` } };
}
