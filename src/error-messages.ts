import { ApiError } from './errors.ts';
import { quote } from './transit/quote.ts';

/*
 * The errors that the documentation quotes, one function each. The routes throw what these return, and the error pages
 * and OpenAPI show what these return for example values, so that the two cannot differ.
 */

/** One problem with a parameter. `allowed` begins with a verb: "must be a whole number from 1 to 50". It may end in "?". */
export interface ParameterProblem {
  parameter: string;
  /** As received; undefined when the parameter is missing. */
  value?: unknown;
  allowed: string;
}

/** Every problem in one message: parameter, what is allowed, and once for each parameter the value received. */
export function invalidParameters(problems: readonly ParameterProblem[]): ApiError {
  const sentences = problems.map(({ parameter, value, allowed }, index) => {
    const isFirst = problems.findIndex((problem) => problem.parameter === parameter) === index;
    const received = value === undefined || !isFirst ? '' : `, received ${quote(value)}`;
    return `${parameter} ${allowed}${received}${allowed.endsWith('?') ? '' : '.'}`;
  });
  return new ApiError('INVALID_PARAMETER', sentences.join(' '));
}

/** Both dates as `YYYYMMDD`. */
export function pastDate(date: string, today: string): ApiError {
  return new ApiError(
    'DATE_OUT_OF_RANGE',
    `date: ${date} is in the past. It must be today (${today} in Sydney) or later.`,
  );
}

/** `date` as `YYYYMMDD`; null for today. */
export function beyondTimetable(date: string | null): ApiError {
  return new ApiError(
    'DATE_OUT_OF_RANGE',
    `date: ${date ?? 'today'} is beyond the timetable that the transport authority has published, which is about two weeks.`,
  );
}

const SEND_KEY = 'Send your API key in the Authorization header as a Bearer token: "Authorization: Bearer YOUR_KEY".';

/** `problem` is a sentence that says what is wrong with the key; it never repeats the key. */
export function unauthorized(problem: string, { wasKeySent }: { wasKeySent: boolean }): ApiError {
  const challenge = 'Bearer realm="transit"';
  return new ApiError('UNAUTHORIZED', `${problem} ${SEND_KEY}`, {
    headers: { 'www-authenticate': wasKeySent ? `${challenge}, error="invalid_token"` : challenge },
  });
}

export function missingKey(): ApiError {
  return unauthorized('No API key was sent.', { wasKeySent: false });
}

export function unknownPath(path: string): ApiError {
  return new ApiError('NOT_FOUND', `There is nothing at ${path}.`);
}

/** `conditions` are the parameters that each journey has to fit. */
export function noJourneys(from: string, to: string, conditions: readonly string[] = []): ApiError {
  const fitting = conditions.length > 0 ? ` that fits ${LIST.format(conditions)}` : '';
  return new ApiError(
    'NO_JOURNEYS_FOUND',
    `The transport authority finds no journey from ${from} to ${to} at this time${fitting}.`,
  );
}

const LIST = new Intl.ListFormat('en-AU');

export function unknownStop(parameter: string, stopId: string): ApiError {
  return new ApiError('STOP_NOT_FOUND', `${parameter}: the transport authority knows no stop ${stopId}.`);
}

/** `position` as `lat,lng`. */
export function unknownPosition(parameter: string, position: string): ApiError {
  return new ApiError('STOP_NOT_FOUND', `${parameter}: the transport authority knows no place at ${position}.`);
}

export function methodNotAllowed(path: string, method: string, allowed: string): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', `${path} does not take ${method}. Allowed: ${allowed}.`, {
    headers: { allow: allowed },
  });
}

export function internalError(cause?: unknown): ApiError {
  return new ApiError('INTERNAL_ERROR', 'Something went wrong on our side.', { cause });
}

export function upstreamFailed(cause?: unknown): ApiError {
  return new ApiError('UPSTREAM_ERROR', 'The transport authority failed to answer. Try again later.', { cause });
}

/** `retryAfterSeconds` is how long the authority wants no calls. */
export function upstreamRefused(retryAfterSeconds: number, cause?: unknown): ApiError {
  return new ApiError(
    'UPSTREAM_UNAVAILABLE',
    'The transport authority takes no more requests for now. Try again later.',
    { cause, headers: { 'retry-after': String(retryAfterSeconds) } },
  );
}

export function upstreamTimeout(timeoutMs: number, cause?: unknown): ApiError {
  return new ApiError(
    'UPSTREAM_TIMEOUT',
    `The transport authority did not answer within ${timeoutMs / 1000} seconds.`,
    { cause },
  );
}

export function serviceUnavailable(cause?: unknown): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', 'The service takes no requests right now. Try again in a moment.', {
    cause,
    headers: { 'retry-after': '5' },
  });
}

export function stopping(): ApiError {
  return new ApiError(
    'SERVICE_UNAVAILABLE',
    'This server is stopping, and the request did not arrive in time.',
    retryAfter(5),
  );
}

/** For an error that passes. */
export function retryAfter(seconds: number) {
  return { headers: { 'retry-after': String(seconds) } };
}
