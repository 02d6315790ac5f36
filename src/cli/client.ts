import { writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { createClient, type UserConfig } from '@hey-api/openapi-ts';
import { openEmbeddedStore } from '../access/stores/open-store.ts';
import { buildApp } from '../app.ts';
import { streams } from '../extensions/streams/stream-routes.ts';
import { emptyRecord } from '../transit/punctuality.ts';
import { type Description, toCollection } from './postman-collection.ts';

/*
 * `npm run client -- [TARGET] [URL]` generates from the service's OpenAPI description. A folder as target gets a typed client that
 * needs no packages, a file `….ts` only the types (as in clients/typescript), and a file `….json` a Postman collection. The
 * generator is a development dependency.
 */

const [target = 'client', url = 'http://localhost:3000'] = process.argv.slice(2);
const description = await describeService();

if (target.endsWith('.json')) {
  const collection = toCollection({ ...description, paths: withoutStreams(description.paths) }, url);
  await writeFile(target, `${JSON.stringify(collection, null, 2)}\n`);
} else if (target.endsWith('.ts'))
  await generate({
    input: onlyParametersAndBodies(description),
    output: {
      path: dirname(target),
      fileName: { name: basename(target, '.ts'), suffix: null },
      entryFile: false,
      header: ['// Generated from the OpenAPI description: npm run client -- clients/typescript/src/openapi.ts'],
    },
    plugins: ['@hey-api/typescript'],
  });
else
  await generate({
    input: { ...description, paths: withoutStreams(description.paths) },
    output: { path: target, module: { extension: '.ts' } },
    plugins: [{ name: '@hey-api/client-fetch', baseUrl: url }, '@hey-api/typescript', '@hey-api/sdk'],
  });
process.stdout.write(`Wrote ${target}.\n`);

async function generate({ input, output, plugins }: Record<'input' | 'output', object> & Pick<UserConfig, 'plugins'>) {
  // Do not delete other files in the folder.
  await createClient({
    input,
    output: { ...output, clean: false },
    plugins,
    logs: { level: 'silent', file: false },
  } as UserConfig);
}

/** The upstream of a service that is only described: every call fails. */
function refuse(): Promise<never> {
  return Promise.reject(new Error('there is no upstream'));
}

/** Returns the OpenAPI description of a service that gets no other request. */
async function describeService(): Promise<Description> {
  const store = openEmbeddedStore(':memory:');
  const app = await buildApp({
    config: { publicUrl: url, docsUrl: `${url}/docs`, trustProxy: false },
    sources: { queryUpstream: refuse, carParks: { fetch: refuse, get: refuse }, punctuality: emptyRecord },
    access: { store, acceptsTestKeys: false },
    now: Date.now,
    extensions: [streams()],
  });
  const { body } = await app.inject('/openapi.json');
  await app.close();
  await store.close();
  // The generator does not support descriptions of headers, and would warn about each one.
  return JSON.parse(body, (key, value) => (key === 'headers' ? undefined : value));
}

/** Without streams: the generated SSE reader keeps retrying after 401 and 429, and a request of a collection would not end. */
function withoutStreams(paths: Description['paths']): Description['paths'] {
  return Object.fromEntries(Object.entries(paths).filter(([path]) => !path.endsWith('/stream')));
}

/**
 * Reduces the description to parameters and bodies, because the client has its own errors and sets headers itself. The response
 * of a stream gets the type of its events.
 */
function onlyParametersAndBodies(description: Description): object {
  const { paths, components } = structuredClone(description);
  for (const [path, { get, post }] of Object.entries(paths)) {
    for (const operation of [get, post].filter((operation) => operation !== undefined)) {
      operation.responses = { 200: operation.responses[200] };
      operation.parameters = operation.parameters?.filter(
        (parameter) => parameter.in === 'path' || parameter.in === 'query',
      );
    }
    const followed = paths[path.replace(/\/stream$/, '')]?.get;
    if (get && followed) get.responses = followed.responses;
  }
  return { ...description, paths, components: { schemas: components.schemas } };
}
