import { createClient } from '@hey-api/openapi-ts';
import { openEmbeddedStore } from '../access/stores/open-store.ts';
import { buildApp } from '../app.ts';

/*
 * `npm run client -- [FOLDER] [URL]` generates a typed client from the service's OpenAPI description into the folder, which
 * needs no packages. The generator is a development dependency.
 */

const [folder = 'client', url = 'http://localhost:3000'] = process.argv.slice(2);

await createClient({
  input: await describeService(),
  output: {
    path: folder,
    // Keep other files in the folder.
    clean: false,
    module: { extension: '.ts' },
  },
  plugins: [{ name: '@hey-api/client-fetch', baseUrl: url }, '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'silent', file: false },
});
process.stdout.write(`The client of ${url} is in ${folder}.\n`);

/** Returns the OpenAPI description of a service that gets no other request. */
async function describeService(): Promise<Record<string, unknown>> {
  const store = openEmbeddedStore(':memory:');
  const app = await buildApp({
    config: { publicUrl: url, docsUrl: `${url}/docs`, trustProxy: false },
    ask: () => Promise.reject(new Error('there is no authority')),
    access: { store, acceptsTestKeys: false },
    now: () => new Date(),
  });
  const { body } = await app.inject('/openapi.json');
  await app.close();
  await store.close();
  // The generator does not know descriptions of headers, and would say so of each.
  const { paths, ...description } = JSON.parse(body, (key, value) => (key === 'headers' ? undefined : value));
  // The generated SSE reader keeps retrying after 401 and 429; docs/guide/streams.md has one that does not.
  const others = Object.entries(paths).filter(([path]) => !path.endsWith('/stream'));
  return { ...description, paths: Object.fromEntries(others) };
}
