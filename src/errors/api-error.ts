/**
 * Every error code that a caller can get, with its HTTP status. The first row of a status is the default code for errors that
 * have only a status.
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
  LINE_NOT_FOUND: { status: 404 },
  CARPARK_NOT_FOUND: { status: 404 },
  ALERT_NOT_FOUND: { status: 404 },
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
  CARPARKS_NOT_ENABLED: { status: 503 },
  UPSTREAM_TIMEOUT: { status: 504 },
} as const satisfies Record<string, { status: number }>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/**
 * Why a request got 503, logged as `unavailable`. `day`, `rate`: no upstream call is available in time; `account`: the account
 * has too many requests or searches waiting; `upstream`: upstream fails or refuses our keys; `store`: the account store is
 * unreachable; `timetable`: there is none; `product`: the operator's key may not use this product of upstream; `overload`: this
 * process is overloaded or stopping. docs/operations.md says what to do about each.
 */
export type UnavailableCause = 'day' | 'rate' | 'account' | 'upstream' | 'store' | 'timetable' | 'product' | 'overload';

export interface ApiErrorOptions {
  cause?: unknown;
  headers?: Readonly<Record<string, string>>;
  failedParts?: number | undefined;
  unavailable?: UnavailableCause | undefined;
  logFields?: Readonly<Record<string, string>> | undefined;
}

/**
 * The only error that routes, mappers and the client throw. `message` is for the caller; `cause` is for the log and is never
 * sent.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  /** How many parts of a multi-part request failed; defaults to all for statuses from 500. */
  readonly failedParts?: number;
  /** Why a request got 503. */
  readonly unavailable?: UnavailableCause;
  /**
   * Fields for the request's log line, so that an operator can explain the error to the caller. They contain no value sent by
   * the caller.
   */
  readonly logFields?: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
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

  /** Whether the request was refused before its costly work began, as for an unknown stop. */
  get isUnbegun(): boolean {
    return this.statusCode < 500 && this.failedParts === undefined;
  }

  /** Whether no upstream call was made because calls are scarce, which says nothing about upstream's health. */
  get isBudgetExhausted(): boolean {
    return this.unavailable === 'day' || this.unavailable === 'rate' || this.unavailable === 'account';
  }
}

/** The same error for a request that is charged although it failed; the message says so. */
export function asCharged(error: ApiError): ApiError {
  return withSentence(error, 'This request is counted.', 0);
}

/** The same error with one more sentence in its message. */
export function withSentence(error: ApiError, sentence: string, failedParts = error.failedParts): ApiError {
  const { code, message, cause, headers, unavailable, logFields } = error;
  return new ApiError(code, `${message} ${sentence}`, { cause, headers, failedParts, unavailable, logFields });
}

/**
 * Returns null for an `ApiError`, so that a response can continue without the failed part. Rethrows any other error, which is a
 * bug.
 */
export function nullIfApiError(error: unknown): null {
  if (error instanceof ApiError) return null;
  throw error;
}

/** The code for an error that has only a status, such as the framework's own errors. */
export function codeForStatus(status: number): ErrorCode {
  const firstCode = (Object.keys(ERROR_TABLE) as ErrorCode[]).find((code) => ERROR_TABLE[code].status === status);
  if (firstCode) return firstCode;
  return status >= 400 && status < 500 ? 'INVALID_PARAMETER' : 'INTERNAL_ERROR';
}

/** The body of every error. It has no other top-level field. */
export function errorBody(error: ApiError, docsUrl: string) {
  return { error: { code: error.code, message: error.message, docs: `${docsUrl}/errors/${error.code}` } };
}
