import { ERROR_TABLE, type ErrorCode, errorBody } from '../../errors/api-error.ts';
import { ERROR_DOCS } from '../../errors/docs.ts';
import { errorsOf, type Operation } from '../../operations/operation.ts';

type Json = Record<string, unknown>;

/** Headers that responses carry, by the name under which OpenAPI lists them. */
export const HEADER_COMPONENTS = {
  'X-Request-Id': header('Names this response in our log. Tell it when you ask about one.', 'a3f1c0de5a7b4c1d'),
  'RateLimit-Policy': header(
    'The plan’s daily limit (`q`) in a window of so many seconds (`w`); with a publishable key or a token also those of the key, the visitor and the token.',
    '"daily";q=1000;w=86400',
  ),
  RateLimit: header(
    'Requests left today (`r`), and seconds until counting starts again (`t`), when the response was sent. In a response from a cache of your own the numbers are old.',
    '"daily";r=987;t=41213',
  ),
  'X-RateLimit-Limit': header('The plan’s daily limit.', 1000),
  'X-RateLimit-Remaining': header('Requests left today, when the response was sent.', 987),
  'X-RateLimit-Reset': header('When counting starts again, in seconds since 1970.', 1795305600),
  Deprecation: header(
    'Only with a key that was replaced: since when, in seconds since 1970 (RFC 9745).',
    '@1795485620',
  ),
  Sunset: header('Only with a key that was replaced: when it ends (RFC 8594).', 'Tue, 24 Nov 2026 00:00:00 GMT'),
  ETag: header(
    'Names what the response says, in every encoding and whenever it was retrieved. Send it in `If-None-Match` with the next request.',
    'W/"Zk3vJk1yG1mJ3bq0lY8y1n0yWbM"',
  ),
  'Cache-Control': header(
    'How many seconds the response is good for, counted from when the authority answered (`max-age`), and for how many more it may be shown when asking fails (`stale-if-error`).',
    'private, max-age=15, stale-if-error=180',
  ),
  Age: header('Seconds since the authority answered.', 4),
  'Cache-Status': header(
    'Whether a call of the authority was made (`fwd=miss`) or the response was there (`hit`), and for how many seconds it stays fresh (`ttl`), as in RFC 9211.',
    'transit; hit; ttl=11',
  ),
  'X-Ignored-Parameters': header(
    'Only where the query has parameters that the operation does not know: their names, with commas between.',
    'utm_source',
  ),
  'X-Notice': header(
    'Only where a list is empty for a cause that you may not expect (a default, or a place that is not covered), or has no live times at present.',
    'Only buses were asked for, by default. Train and metro leave here: modes=all.',
  ),
  'X-Times-Source': header(
    'Only on departures, arrivals and boards: whether planned times come from the published timetable (`timetable`) or from the trip planner (`planner`). With several stops it may name both.',
    'timetable',
  ),
  'X-Key-Warning': header(
    'Only where a secret key was sent from a page of another site: everybody can read it there.',
    'This secret key was sent from a web page, where everybody can read it.',
  ),
  Link: header(
    'On every response, description, documentation, status and licence. On departures, arrivals and journeys also what comes before (`rel="prev"`) and after (`rel="next"`): relative URLs with the other parameters and a `cursor`, absent where the list ends.',
    '</docs>; rel="service-doc"; type="text/html", </v1/departures?stop=200070&cursor=1n.xYkUFA.tisn60.tisn60.tisn60...q3Zr0dYh2Jc>; rel="next"',
  ),
  'Retry-After': header('Seconds to wait before the next try.', 30),
  Allow: header('The methods that the path takes.', 'GET, HEAD, OPTIONS'),
  'WWW-Authenticate': header('How to send a key.', 'Bearer realm="transit"'),
};

/** Header parameters that every operation takes. */
export const PARAMETER_COMPONENTS = {
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description:
      'For polling: the `ETag` of the response you have. Where it still says what is true, the response is a 304 without a body.',
    schema: { type: 'string', examples: ['W/"Zk3vJk1yG1mJ3bq0lY8y1n0yWbM"'] },
  },
};

const FRESHNESS = ['ETag', 'Cache-Control', 'Age', 'Cache-Status'] as const;

/** The responses of an operation: its body, and each error it can meet under its status. */
export function responsesOf(operation: Operation, body: Json, docsUrl: string): Record<string, Json> {
  const { summary, example } = operation;
  const content = { 'application/json': { schema: body, example: example.body } };
  return { ...responses(summary, content, FRESHNESS, errorsOf(operation), docsUrl), 304: UNCHANGED };
}

/** The responses of the stream of an operation. */
export function streamResponsesOf(operation: Operation, docsUrl: string): Record<string, Json> {
  const { errors, example, stream } = operation;
  const event = `id: W/"Hb2mVx"\nevent: ${stream?.event ?? 'board'}\ndata: ${JSON.stringify(example.body)}\n\n`;
  const content = { 'text/event-stream': { schema: { type: 'string' }, example: event } };
  const codes = errorsOf({ errors });
  return responses(stream?.summary ?? '', content, [], codes, docsUrl);
}

/** The responses of `POST /v1/tokens`. */
export function tokenResponses(body: Json, example: object, docsUrl: string): Record<string, Json> {
  const codes = [...errorsOf({ errors: ['BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] })].filter(
    (code) => !code.startsWith('UPSTREAM'),
  );
  return responses('A token', { 'application/json': { schema: body, example } }, [], codes, docsUrl);
}

function responses(
  description: string,
  content: Json,
  known: readonly (keyof typeof HEADER_COMPONENTS)[],
  codes: readonly ErrorCode[],
  docsUrl: string,
): Record<string, Json> {
  const statuses = [...new Set(codes.map((code) => ERROR_TABLE[code].status))];
  const errors = statuses.map((status) => {
    const ofStatus = codes.filter((code) => ERROR_TABLE[code].status === status);
    return [String(status), errorResponse(status, ofStatus, docsUrl)];
  });
  return { 200: { description, headers: headersOfSuccess(...known), content }, ...Object.fromEntries(errors) };
}

const UNCHANGED = {
  description:
    'Nothing but the moment of retrieval has changed since the response whose `ETag` was sent in `If-None-Match`. How fresh that response is now, say the headers of this one. It is not counted when it cost no call of the authority; a 304 to `If-None-Match: *` is counted always.',
  headers: headersOfSuccess(...FRESHNESS),
};

/** The headers of errors of a status beside the request id; others, which come after the key check, carry `RateLimit`. */
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
  description: 'What every error looks like.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'docs'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERROR_TABLE), description: 'For programs' },
        message: { type: 'string', description: 'For people' },
        docs: { type: 'string', format: 'uri', description: 'A page with cause, fix and retry rule of this code' },
      },
    },
  },
};

function headersOfSuccess(...own: (keyof typeof HEADER_COMPONENTS)[]): Json {
  const limits = [
    'RateLimit-Policy',
    'RateLimit',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
  ] as const;
  const ofKey = ['Deprecation', 'Sunset', 'X-Key-Warning'] as const;
  return headers(
    'X-Request-Id',
    'Link',
    'X-Ignored-Parameters',
    'X-Notice',
    'X-Times-Source',
    ...own,
    ...limits,
    ...ofKey,
  );
}

function headers(...names: (keyof typeof HEADER_COMPONENTS)[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function header(description: string, example: string | number) {
  return { description, schema: { type: typeof example === 'number' ? 'integer' : 'string' }, example };
}
