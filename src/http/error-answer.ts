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
  const { validation, statusCode = 500, code = '', message, expose } = (error ?? {}) as Partial<FrameworkError>;
  if (validation) return new ApiError('INVALID_PARAMETER', describeProblems(validation, query));
  if (code === 'FST_ERR_BAD_URL') {
    return new ApiError('INVALID_PARAMETER', 'The URL is malformed. Percent-encode the path as UTF-8.');
  }
  if (statusCode >= 400 && statusCode < 500) {
    // Written for callers by Fastify and by http-errors; what else has such a status may not be.
    const told = expose || code.startsWith('FST_') ? message : undefined;
    return new ApiError(codeForStatus(statusCode), told ?? 'The request could not be understood.', { cause: error });
  }
  const [known, headers] = SERVER_ERRORS[statusCode] ?? [];
  if (known) return new ApiError(codeForStatus(statusCode), known, { cause: error, ...(headers && { headers }) });
  return new ApiError('INTERNAL_ERROR', 'Something went wrong on our side.', { cause: error });
}

/** Our words for the 5xx of others: theirs are for the log. */
const SERVER_ERRORS: Record<number, [message: string, headers?: Record<string, string>]> = {
  502: ['The transport authority failed to answer. Try again later.'],
  503: ['The service takes no requests right now. Try again in a moment.', { 'retry-after': '5' }],
  504: ['The transport authority did not answer in time. Try again later.'],
};

/** The errors of Fastify, its validator and its plugins, as far as we look at them. */
interface FrameworkError {
  code: string;
  message: string;
  statusCode: number;
  expose: boolean;
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
  // By characters: half of a surrogate pair is no valid JSON.
  const characters = Array.from(text.slice(0, 2 * MAX_VALUE_LENGTH + 1));
  return characters.length > MAX_VALUE_LENGTH ? `${characters.slice(0, MAX_VALUE_LENGTH).join('')}…` : text;
}
