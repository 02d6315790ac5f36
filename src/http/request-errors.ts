import { methodNotAllowed } from '../error-messages.ts';
import { ApiError } from '../errors.ts';

/* Errors of requests that no route has seen: not HTTP, too large, too slow, with a body that cannot be read, or over one connection too many. */

export function notHttp(): ApiError {
  return new ApiError(
    'INVALID_PARAMETER',
    'The request is not valid HTTP. Blanks and letters beyond ASCII in the URL must be percent-encoded.',
  );
}

export function malformedUrl(): ApiError {
  return new ApiError('INVALID_PARAMETER', 'The URL is malformed. Percent-encode the path as UTF-8.');
}

/** `method` as it was sent. */
export function unknownMethod(method: string): ApiError {
  return methodNotAllowed('This server', method, 'GET, HEAD, OPTIONS');
}

export function invalidJson(cause?: unknown): ApiError {
  return new ApiError('INVALID_PARAMETER', 'The body is not the JSON that its Content-Type announces.', { cause });
}

export function bodyLengthWrong(cause?: unknown): ApiError {
  return new ApiError('INVALID_PARAMETER', 'The body is not as long as its Content-Length says.', { cause });
}

export function notUnderstood(cause?: unknown): ApiError {
  return new ApiError('INVALID_PARAMETER', 'The request could not be understood.', { cause });
}

export function arrivedTooSlowly(): ApiError {
  return new ApiError('REQUEST_TIMEOUT', 'The request did not arrive in time.');
}

export function bodyTooLarge(cause?: unknown): ApiError {
  return new ApiError('BODY_TOO_LARGE', 'The body is larger than this path takes.', { cause });
}

export function unsupportedMediaType(cause?: unknown): ApiError {
  return new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    'This path does not take a body of this Content-Type. Send JSON as application/json.',
    { cause },
  );
}

export function headersTooLarge(): ApiError {
  return new ApiError('HEADERS_TOO_LARGE', 'The URL and headers of the request are too large together.');
}

/** Of a connection above a limit; `reason` says which. */
export function tooManyConnections(reason: 'in all' | 'from your address'): ApiError {
  const message =
    reason === 'in all'
      ? 'Too many connections are open. Try again in a moment.'
      : 'Too many connections are open from your address. Use those that are open again, or close some.';
  return new ApiError('SERVICE_UNAVAILABLE', message, { headers: { 'retry-after': '5' } });
}
