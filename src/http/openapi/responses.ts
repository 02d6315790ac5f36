import { ERROR_TABLE, type ErrorCode, errorBody } from '../../errors/api-error.ts';
import { ERROR_DOCS } from '../../errors/docs.ts';
import { errorsOf, type Operation } from '../../operations/operation.ts';

type Json = Record<string, unknown>;

/** Headers of responses, by their names in OpenAPI. */
export const HEADER_COMPONENTS = {
  'X-Request-Id': header('ID of this response in our log. Include it when you contact us.', 'a3f1c0de5a7b4c1d'),
  'RateLimit-Policy': header(
    'The plan’s daily limit (`q`) and its window in seconds (`w`). With a publishable key or token, also the limits of the key, visitor and token.',
    '"daily";q=1000;w=86400',
  ),
  RateLimit: header(
    'Requests left today (`r`) and seconds until the reset (`t`) when the response was sent. In responses from your own cache, the numbers are outdated.',
    '"daily";r=987;t=41213',
  ),
  'X-RateLimit-Limit': header('The plan’s daily limit.', 1000),
  'X-RateLimit-Remaining': header('Requests left today, when the response was sent.', 987),
  'X-RateLimit-Reset': header('When the limit resets, in seconds since 1970.', 1795305600),
  Deprecation: header(
    'Only with a replaced key: when it was replaced, in seconds since 1970 (RFC 9745).',
    '@1795485620',
  ),
  Sunset: header('Only with a replaced key: when it stops working (RFC 8594).', 'Tue, 24 Nov 2026 00:00:00 GMT'),
  ETag: header(
    'Identifies the content of the response, whatever its encoding and age. Send it in `If-None-Match` with the next request.',
    'W/"Zk3vJk1yG1m"',
  ),
  'Cache-Control': header(
    'Seconds for which the response is fresh, counted from when the data was retrieved (`max-age`), and for how many more it may be used if a new request fails (`stale-if-error`).',
    'private, max-age=15, stale-if-error=180',
  ),
  Age: header('Seconds since the data was retrieved.', 4),
  'Cache-Status': header(
    'Whether the response needed a call to Transport for NSW (`fwd=miss`) or came from the cache (`hit`), and for how many seconds it stays fresh (`ttl`); see RFC 9211.',
    'transit; hit; ttl=11',
  ),
  'X-Notice': header(
    'Only if a list is empty for an unexpected reason (a default, or an area that is not covered) or currently has no live times.',
    'By default only buses are listed. Train and metro leave here: modes=all.',
  ),
  'X-Times-Source': header(
    'Only on departures, arrivals and boards: whether planned times come from the published timetable (`timetable`) or the trip planner (`planner`). With several stops it may list both.',
    'timetable',
  ),
  'X-Key-Warning': header(
    'Only if a secret key was sent from another site’s page, where anyone can read it.',
    'This secret key was sent from a web page, where anyone can read it.',
  ),
  Link: header(
    'Only on departures, arrivals and journeys: what comes before (`rel="prev"`) and after (`rel="next"`), as relative URLs with the other parameters and a `cursor`. Absent where the list ends.',
    '</v1/departures?stop=200070&cursor=1n.xYkUFA.tisn60.q3Zr0dYh2Jc>; rel="next"',
  ),
  'Retry-After': header('Seconds to wait before retrying.', 30),
  Allow: header('The methods that the path allows.', 'GET, HEAD, OPTIONS'),
  'WWW-Authenticate': header('How to send a key.', 'Bearer realm="transit"'),
};

/** Header parameters accepted by every operation. */
export const PARAMETER_COMPONENTS = {
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description:
      'For polling: the `ETag` of the response you have. If the content is unchanged, the response is a 304 without a body.',
    schema: { type: 'string', examples: ['W/"Zk3vJk1yG1m"'] },
  },
};

const FRESHNESS = ['ETag', 'Cache-Control', 'Age', 'Cache-Status'] as const;

/** The responses of an operation: its body, and all of its errors by status. */
export function responsesOf(operation: Operation, body: Json, docsUrl: string): Record<string, Json> {
  const { summary, example } = operation;
  const content = {
    'application/json': { schema: body, example: example.body },
    ...('format' in operation.query.shape && { 'application/geo+json': { schema: body } }),
  };
  return { ...responses(summary, content, FRESHNESS, errorsOf(operation), docsUrl), 304: UNCHANGED };
}

export function streamResponsesOf(operation: Operation, docsUrl: string): Record<string, Json> {
  const { errors, example, stream, event: name } = operation;
  const event = `id: W/"Hb2mVx"\nevent: ${name}\ndata: ${JSON.stringify(example.body)}\n\n`;
  const content = { 'text/event-stream': { schema: { type: 'string' }, example: event } };
  const codes = errorsOf({ errors });
  return responses(stream?.summary ?? '', content, [], codes, docsUrl);
}

export function tokenResponses(body: Json, example: object, docsUrl: string): Record<string, Json> {
  const codes = [...errorsOf({ errors: ['BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] })].filter(
    (code) => !code.startsWith('UPSTREAM'),
  );
  return responses('A token', { 'application/json': { schema: body, example } }, [], codes, docsUrl);
}

function responses(
  description: string,
  content: Json,
  names: readonly (keyof typeof HEADER_COMPONENTS)[],
  codes: readonly ErrorCode[],
  docsUrl: string,
): Record<string, Json> {
  const statuses = [...new Set(codes.map((code) => ERROR_TABLE[code].status))];
  const errors = statuses.map((status) => {
    const ofStatus = codes.filter((code) => ERROR_TABLE[code].status === status);
    return [String(status), errorResponse(status, ofStatus, docsUrl)];
  });
  return { 200: { description, headers: headersOfSuccess(...names), content }, ...Object.fromEntries(errors) };
}

const UNCHANGED = {
  description:
    'The content has not changed since the response whose `ETag` was sent in `If-None-Match`; the headers give its current freshness. It is not counted if it came from the cache; a 304 to `If-None-Match: *` always counts.',
  headers: headersOfSuccess(...FRESHNESS),
};

/** Headers of errors by status, besides the request ID. Errors after the key check also carry `RateLimit`. */
const HEADERS_OF_STATUS: Record<number, readonly (keyof typeof HEADER_COMPONENTS)[]> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  408: [],
  431: [],
  429: ['RateLimit', 'Retry-After'],
  503: ['RateLimit', 'Retry-After'],
};

function errorResponse(status: number, codes: readonly ErrorCode[], docsUrl: string): Json {
  const examples = codes.map((code) => {
    const { title, example } = ERROR_DOCS[code];
    return [code, { summary: title, value: errorBody(example, docsUrl) }];
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_DOCS[code].title}.`).join(' '),
    headers: headers('X-Request-Id', ...(HEADERS_OF_STATUS[status] ?? ['RateLimit'])),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/ErrorResponse' },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

/** The body of every error. */
export const ERROR_SCHEMA = {
  type: 'object',
  description: 'The shape of every error.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'docs'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERROR_TABLE), description: 'Machine-readable code' },
        message: { type: 'string', description: 'Human-readable message' },
        docs: { type: 'string', format: 'uri', description: 'Page with the cause, fix and retry rule of this code' },
      },
    },
  },
};

function headersOfSuccess(...ownNames: (keyof typeof HEADER_COMPONENTS)[]): Json {
  const limits = [
    'RateLimit-Policy',
    'RateLimit',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
  ] as const;
  const ofKey = ['Deprecation', 'Sunset', 'X-Key-Warning'] as const;
  return headers('X-Request-Id', 'Link', 'X-Notice', 'X-Times-Source', ...ownNames, ...limits, ...ofKey);
}

function headers(...names: (keyof typeof HEADER_COMPONENTS)[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function header(description: string, example: string | number) {
  return { description, schema: { type: typeof example === 'number' ? 'integer' : 'string' }, example };
}
