import { internalError, serviceUnavailable, upstreamFailed } from '../error-messages.ts';
import { ApiError, codeForStatus } from '../errors.ts';
import {
  bodyLengthWrong,
  bodyTooLarge,
  invalidJson,
  malformedUrl,
  notUnderstood,
  unsupportedMediaType,
} from './request-errors.ts';

/** Whatever was thrown, as the one kind of error that we answer with. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { statusCode = 500, code = '', message, expose } = (error ?? {}) as Partial<FrameworkError>;
  const ours = FRAMEWORK_ERRORS[code] ?? CLIENT_ERRORS[statusCode];
  if (ours) return ours(error);
  if (statusCode >= 400 && statusCode < 500) {
    // http-errors writes these messages for callers; other errors with such a status may hold anything.
    return expose && message
      ? new ApiError(codeForStatus(statusCode), message, { cause: error })
      : notUnderstood(error);
  }
  return SERVER_ERRORS[statusCode]?.(error) ?? internalError(error);
}

/** Our words for what the framework says of requests that it cannot read. */
const FRAMEWORK_ERRORS: Record<string, (cause: unknown) => ApiError> = {
  FST_ERR_BAD_URL: malformedUrl,
  FST_ERR_CTP_INVALID_JSON_BODY: invalidJson,
  FST_ERR_CTP_EMPTY_JSON_BODY: invalidJson,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: bodyLengthWrong,
};

const CLIENT_ERRORS: Record<number, (cause: unknown) => ApiError> = {
  // Static files: a path that leads out of their folder.
  403: (cause) => new ApiError('NOT_FOUND', 'There is nothing at this path.', { cause }),
  413: bodyTooLarge,
  415: unsupportedMediaType,
};

/** Our words for the 5xx of plugins: theirs are for the log. */
const SERVER_ERRORS: Record<number, (cause: unknown) => ApiError> = {
  502: upstreamFailed,
  503: serviceUnavailable,
  504: (cause) =>
    new ApiError('UPSTREAM_TIMEOUT', 'The transport authority did not answer in time. Try again later.', { cause }),
};

/** The errors of Fastify and its plugins, as far as we look at them. */
interface FrameworkError {
  code: string;
  message: string;
  statusCode: number;
  expose: boolean;
}
