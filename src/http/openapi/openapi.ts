import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { STREAM_KEY_PARAMETER } from '../../access/credential.ts';
import { type Operation, withoutCursor } from '../../operations/operation.ts';
import { OTHER_ROUTES, streamPath } from '../../routes.ts';
import { prepare } from '../send-response.ts';
import { TOKEN_EXAMPLE, TOKEN_REQUEST_EXAMPLE, tokenRequestSchema, tokenSchema } from '../tokens.ts';
import {
  ERROR_SCHEMA,
  HEADER_COMPONENTS,
  PARAMETER_COMPONENTS,
  responsesOf,
  streamResponsesOf,
  tokenResponses,
} from './responses.ts';
import { toComponents, toParameters } from './schema.ts';

/** The parts of the document besides the operations. */
interface About {
  publicUrl: string;
  docsUrl: string;
  /** Paragraphs appended to the description. */
  notes: readonly string[];
}

/** `GET /openapi.json`: OpenAPI 3.1, generated from the list of operations. */
export const openapi = fp(
  async (app: FastifyInstance, { operations, ...about }: About & { operations: readonly Operation[] }) => {
    const build = () => JSON.stringify(describe(operations, about));
    app.get(OTHER_ROUTES.description, prepare(build, { type: 'application/json; charset=utf-8', maxAgeSeconds: 300 }));
  },
  { name: 'openapi' },
);

function describe(operations: readonly Operation[], about: About) {
  const { docsUrl } = about;
  const { components, ...service } = describeService(about);
  const described = operations.map((operation) => ({
    operation,
    body: toComponents(operation.body, operation.example.body),
  }));
  const paths = described.map(({ operation, body }) => {
    const { id, path, tag, summary, description } = operation;
    const parameters = [...toParameters(operation), { $ref: '#/components/parameters/If-None-Match' }];
    const responses = responsesOf(operation, body.ref, docsUrl);
    return [path, { get: { operationId: id, tags: [tag], summary, description, parameters, responses } }];
  });
  const streams = operations.flatMap((operation) => describeStream(operation, docsUrl));
  const token = toComponents(tokenSchema, TOKEN_EXAMPLE);
  const tokenRequest = toComponents(tokenRequestSchema, TOKEN_REQUEST_EXAMPLE, 'input');
  const schemas = Object.assign(
    // A generated type named `Error` would hide the global one.
    { ErrorResponse: ERROR_SCHEMA },
    ...described.map(({ body }) => body.needed),
    ...described.map(({ body }) => body.own),
    token.own,
    tokenRequest.own,
  );
  return {
    openapi: '3.1.1',
    ...service,
    paths: Object.fromEntries([
      ...paths,
      ...streams,
      [OTHER_ROUTES.tokens, { post: describeTokens(tokenRequest.ref, token.ref, docsUrl) }],
    ]),
    components: { ...components, parameters: PARAMETER_COMPONENTS, headers: HEADER_COMPONENTS, schemas },
  };
}

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The `id` of the last event received; a board with that ID is not sent again.',
  schema: { type: 'string' },
};

/** Describes the stream of an operation, at its own path. */
function describeStream(operation: Operation, docsUrl: string) {
  const { tag, stream } = operation;
  if (!stream) return [];
  const { id, summary, description } = stream;
  const parameters = [...toParameters(withoutCursor(operation)), LAST_EVENT_ID];
  const responses = streamResponsesOf(operation, docsUrl);
  const security = [{ apiKey: [] }, { streamKey: [] }];
  const get = { operationId: id, tags: [tag], summary, description, security, parameters, responses };
  return [[streamPath(operation), { get }]];
}

/** The one operation that is not a GET: it has a body and needs no upstream. */
function describeTokens(schema: object, response: Record<string, unknown>, docsUrl: string) {
  return {
    operationId: 'createToken',
    tags: ['Keys'],
    summary: 'Create a token for an app',
    description:
      'For backends: returns a short-lived token for an app or page, to use instead of your secret key. The body may be `{}`. The token ends when it expires or, within seconds, when the key is revoked. Counts as one request.',
    requestBody: { content: { 'application/json': { schema, example: TOKEN_REQUEST_EXAMPLE } } },
    responses: tokenResponses(response, TOKEN_EXAMPLE, docsUrl),
  };
}

function describeService({ publicUrl, docsUrl, notes }: About) {
  return {
    info: {
      title: 'Transit Information Service',
      version: '1',
      summary: 'Departures, nearby stops, stop search and journeys for New South Wales and Canberra',
      description: [
        'Every request needs a key in the `Authorization` header as a Bearer token; [sign up](/signup) to get one by email.',
        'Coordinates are `lat, lng` (EPSG:4326). Times in responses are UTC; the `date` and `time` parameters are Sydney local time.',
        'All errors have the same shape, and each code has its own page.',
        'Data: Transport for NSW, [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/).',
        ...notes,
      ].join('\n\n'),
      license: { name: 'Data: CC BY 4.0', url: 'https://creativecommons.org/licenses/by/4.0/' },
      contact: { name: 'Sign up and status', url: publicUrl },
    },
    servers: [{ url: serverUrl(publicUrl) }],
    externalDocs: { description: 'Every error, with its cause and fix', url: `${docsUrl}/errors` },
    tags: [
      { name: 'Stops', description: 'Departures, and stops by place or name' },
      { name: 'Journeys', description: 'From one stop to another across all modes' },
      { name: 'Keys', description: 'Tokens for apps' },
    ],
    security: [{ apiKey: [] }],
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Your API key, `tis_live_…` or the sandbox’s `tis_test_…`; in pages and apps a publishable key, `tis_pub_…`, or a token, `tis_tok_…`.',
        },
        streamKey: {
          type: 'apiKey',
          in: 'query',
          name: STREAM_KEY_PARAMETER,
          description: 'For `EventSource`, which cannot send headers: a publishable key or token. Streams only.',
        },
      },
    },
  };
}

/** Without a public address, the server that sent the description. */
function serverUrl(publicUrl: string): string {
  return LOCAL_HOSTS.includes(new URL(publicUrl).hostname) ? '/' : publicUrl;
}

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];
