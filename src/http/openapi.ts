import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { answersOf, ERROR_SCHEMA, HEADER_COMPONENTS } from './openapi-answers.ts';
import { toComponents, toParameters } from './openapi-schema.ts';
import type { Operation } from './operation.ts';

declare module 'fastify' {
  interface FastifySchema extends Partial<Pick<Operation, 'errors' | 'example'>> {}
}

interface OpenApiDocument {
  paths: Record<string, { get?: object }>;
  components: object;
}

const OPENAPI_PATH = '/openapi.json';

/**
 * OpenAPI 3.1 from the schemas of the routes. @fastify/swagger walks the routes and makes the parameters; answers and
 * components are ours, because what comes of a zod schema by itself lists schemas twice and loses defaults.
 */
export const openapi = fp(
  async (app: FastifyInstance, { publicUrl, docsUrl }: { publicUrl: string; docsUrl: string }) => {
    const operations = new Map<string, Operation>();

    await app.register(swagger, {
      hideUntagged: true,
      openapi: { ...describeService(publicUrl, docsUrl), openapi: '3.1.1' },
      transform: ({ schema, url }) => {
        if (!schema?.tags) return { schema, url };
        const operation = schema as unknown as Operation;
        operations.set(url, operation);
        const { operationId, tags, summary, description } = operation;
        return {
          schema: { operationId, tags, summary, description, querystring: toParameters(operation.querystring) },
          url,
        };
      },
      transformObject: (document) => {
        // The types of the package do not tell a document of 3.0 from one of 3.1.
        const { paths, components, ...rest } = (document as { openapiObject: OpenApiDocument }).openapiObject;
        const schemas: Record<string, object> = { Error: ERROR_SCHEMA };
        for (const [path, operation] of operations) {
          const body = toComponents(operation.response[200]);
          Object.assign(schemas, body.schemas);
          Object.assign(paths[path]?.get ?? {}, { responses: answersOf(operation, body.ref, docsUrl) });
        }
        return { ...rest, paths, components: { ...components, headers: HEADER_COMPONENTS, schemas } } as object;
      },
    });

    app.get(OPENAPI_PATH, { schema: { hide: true } }, async (_request, reply) => {
      reply.type('application/json; charset=utf-8').header('cache-control', 'public, max-age=300');
      return app.swagger();
    });
  },
  { name: 'openapi' },
);

function describeService(publicUrl: string, docsUrl: string) {
  return {
    info: {
      title: 'Transit Information Service',
      version: '1',
      summary: 'Departures, nearby stops, stop search and journeys for New South Wales and Canberra',
      description: [
        'Every request needs a key in the `Authorization` header as a Bearer token; [sign up](/signup) and it is in your inbox.',
        'Coordinates are `lat, lng` (EPSG:4326). Times in answers are UTC; the `date` and `time` parameters are Sydney local time.',
        'Errors always have the same shape, and a page of their own.',
        'Data: Transport for NSW, [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/).',
      ].join('\n\n'),
      license: { name: 'Data: CC BY 4.0', url: 'https://creativecommons.org/licenses/by/4.0/' },
      contact: { name: 'Sign up and status', url: publicUrl },
    },
    servers: [{ url: publicUrl }],
    externalDocs: { description: 'Every error, with its cause and fix', url: `${docsUrl}/errors` },
    tags: [
      { name: 'Stops', description: 'What leaves a stop, and finding stops by place or name' },
      { name: 'Journeys', description: 'From one stop to another across all modes' },
    ],
    security: [{ apiKey: [] }],
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http' as const,
          scheme: 'bearer',
          description: 'Your API key: `tis_live_…`, or the sandbox’s `tis_test_…`.',
        },
      },
    },
  };
}
