import { ApiError, codeForStatus } from './api-error.ts';
import {
  bodyLengthWrong,
  bodyTooLarge,
  internalError,
  invalidJson,
  malformedUrl,
  notUnderstood,
  serviceUnavailable,
  unsupportedMediaType,
  upstreamFailed,
} from './messages.ts';

/** Whatever was thrown, as the one kind of error that we respond with. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const thrown = (error ?? {}) as { statusCode?: number; code?: string; message?: string; expose?: boolean };
  const { statusCode = 500, code = '', message, expose } = thrown;
  const ours = BY_CODE[code] ?? BY_STATUS[statusCode];
  if (ours) return ours(error);
  const isOfCaller = statusCode >= 400 && statusCode < 500;
  if (!isOfCaller) return internalError(error);
  // http-errors writes these messages for callers; other errors with such a status may hold anything.
  return expose && message ? new ApiError(codeForStatus(statusCode), message, { cause: error }) : notUnderstood(error);
}

/** Our words for what the framework says of requests that it cannot read. */
const BY_CODE: Record<string, (cause: unknown) => ApiError> = {
  FST_ERR_BAD_URL: malformedUrl,
  FST_ERR_CTP_INVALID_JSON_BODY: invalidJson,
  FST_ERR_CTP_EMPTY_JSON_BODY: invalidJson,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: bodyLengthWrong,
};

/** The words that plugins have for a 5xx are for the log. */
const BY_STATUS: Record<number, (cause: unknown) => ApiError> = {
  413: bodyTooLarge,
  415: unsupportedMediaType,
  502: upstreamFailed,
  503: serviceUnavailable,
  504: (cause) =>
    new ApiError('UPSTREAM_TIMEOUT', 'The transport authority did not answer in time. Try again later.', { cause }),
};
