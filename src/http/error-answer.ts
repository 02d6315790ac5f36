import { ApiError, codeForStatus } from '../errors.ts';

/** What a caller gets for an error: always this body, nothing else at top level. */
export interface ErrorBody {
  error: { code: string; message: string; docs: string };
}

export function errorBody(error: ApiError, docsUrl: string): ErrorBody {
  return { error: { code: error.code, message: error.message, docs: `${docsUrl}/errors/${error.code}` } };
}

/** Whatever was thrown, as the one kind of error that we answer with. `query` is the raw query, for its values. */
export function toApiError(error: unknown, query: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { validation, statusCode, code, message } = error as Partial<FrameworkError>;
  if (validation) return new ApiError('INVALID_PARAMETER', describeProblems(validation, query));
  if (code === 'FST_ERR_BAD_URL') {
    return new ApiError('INVALID_PARAMETER', 'The URL is malformed. Percent-encode the path as UTF-8.');
  }
  if (statusCode && statusCode >= 400 && statusCode < 500) {
    return new ApiError(codeForStatus(statusCode), message ?? 'The request could not be understood.', { cause: error });
  }
  if (statusCode === 503) {
    return new ApiError('SERVICE_UNAVAILABLE', 'The service takes no requests right now. Try again in a moment.', {
      cause: error,
      headers: { 'retry-after': '5' },
    });
  }
  return new ApiError('INTERNAL_ERROR', 'Something went wrong on our side.', { cause: error });
}

/** The errors of Fastify, its validator and its plugins, as far as we look at them. */
interface FrameworkError {
  code: string;
  message: string;
  statusCode: number;
  validation: { instancePath: string; message?: string }[];
}

const MAX_VALUE_LENGTH = 100;

/** Every problem in one message: parameter, value received, what is allowed. */
function describeProblems(problems: FrameworkError['validation'], query: unknown): string {
  return problems
    .map(({ instancePath, message }) => {
      const parameter = instancePath.slice(1);
      const value = (query as Record<string, unknown> | undefined)?.[parameter];
      const received = value === undefined || value === '' ? '' : `, received ${quote(value)}`;
      return `${parameter} ${message}${received}.`;
    })
    .join(' ');
}

function quote(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}
