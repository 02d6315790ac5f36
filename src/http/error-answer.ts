import { internalError, serviceUnavailable, upstreamFailed } from '../error-messages.ts';
import { ApiError, codeForStatus } from '../errors.ts';

/** Whatever was thrown, as the one kind of error that we answer with. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { statusCode = 500, code = '', message, expose } = (error ?? {}) as Partial<FrameworkError>;
  if (code === 'FST_ERR_BAD_URL') {
    return new ApiError('INVALID_PARAMETER', 'The URL is malformed. Percent-encode the path as UTF-8.');
  }
  if (statusCode >= 400 && statusCode < 500) {
    // Fastify and http-errors write these messages for callers; other errors with such a status may hold anything.
    const shown = expose || code.startsWith('FST_') ? message : undefined;
    return new ApiError(codeForStatus(statusCode), shown ?? 'The request could not be understood.', { cause: error });
  }
  return SERVER_ERRORS[statusCode]?.(error) ?? internalError(error);
}

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
