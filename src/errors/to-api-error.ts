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

/** Converts whatever was thrown to an `ApiError`. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const thrown = (error ?? {}) as { statusCode?: number; code?: string; message?: string; expose?: boolean };
  const { statusCode = 500, code = '', message, expose } = thrown;
  const ownMessage = BY_CODE.get(code) ?? BY_STATUS[statusCode];
  if (ownMessage) return ownMessage(error);
  const isOfCaller = statusCode >= 400 && statusCode < 500;
  if (!isOfCaller) return internalError(error);
  // http-errors writes these messages for callers; other errors with such a status may contain anything.
  return expose && message ? new ApiError(codeForStatus(statusCode), message, { cause: error }) : notUnderstood(error);
}

/** Our messages for the framework's errors about unreadable requests. */
const BY_CODE: ReadonlyMap<string, (cause: unknown) => ApiError> = new Map([
  // Without its cause, which repeats the caller's URL.
  ['FST_ERR_BAD_URL', () => malformedUrl()],
  ['FST_ERR_CTP_INVALID_JSON_BODY', invalidJson],
  ['FST_ERR_CTP_EMPTY_JSON_BODY', invalidJson],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', bodyLengthWrong],
]);

/** Our messages by status. A plugin's own message for a 5xx is only for the log. */
const BY_STATUS: Record<number, (cause: unknown) => ApiError> = {
  413: bodyTooLarge,
  415: unsupportedMediaType,
  502: upstreamFailed,
  503: serviceUnavailable,
  504: (cause) =>
    new ApiError('UPSTREAM_TIMEOUT', 'Transport for NSW did not respond in time. Try again later.', { cause }),
};
