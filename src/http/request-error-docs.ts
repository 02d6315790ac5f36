import type { ErrorCode } from '../errors.ts';
import type { ErrorDoc } from './error-doc.ts';
import { arrivedTooSlowly, bodyTooLarge, headersTooLarge, unsupportedMediaType } from './request-errors.ts';

const BOARD = '-H "Authorization: Bearer $TIS_KEY" "{base}/v1/departures?stop=200070&modes=all&limit=5"';
const NO_SAME_REQUEST = 'No. The same request gets the same answer.';

/** What the documentation says of the errors of requests that no route has seen. */
export const REQUEST_ERROR_DOCS = {
  REQUEST_TIMEOUT: {
    title: 'The request did not arrive in time',
    cause: 'A request, headers and body, has ten seconds to arrive. The connection is closed after this answer.',
    fix: ['Send the whole request at once.', 'Do not announce a longer body in Content-Length than you send.'],
    example: arrivedTooSlowly(),
    retry: 'Yes, over a new connection.',
    curl: BOARD,
  },
  BODY_TOO_LARGE: {
    title: 'The body is too large',
    cause: 'The body of the request is larger than any form or message that the path takes.',
    fix: ['Every operation of the API is a GET without a body; parameters go into the query string.'],
    example: bodyTooLarge(),
    retry: NO_SAME_REQUEST,
    curl: BOARD,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    title: 'The body is of a type that the path does not take',
    cause: 'The Content-Type of the body is missing, or is not one that the path takes.',
    fix: ['Send JSON with Content-Type: application/json.', 'Every operation of the API is a GET without a body.'],
    example: unsupportedMediaType(),
    retry: NO_SAME_REQUEST,
    curl: BOARD,
  },
  HEADERS_TOO_LARGE: {
    title: 'The URL and headers are too large',
    cause: 'URL and headers together may have 16 KB. The connection is closed after this answer.',
    fix: ['Leave away headers that are not needed, such as cookies, and parameters that no operation has.'],
    example: headersTooLarge(),
    retry: NO_SAME_REQUEST,
    curl: BOARD,
  },
} as const satisfies Partial<Record<ErrorCode, ErrorDoc>>;
