import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { html } from './html.ts';
import type { Layout } from './layout.ts';

/**
 * `GET /docs`: the reference, to be tried out with a key. Swagger UI from its package, in the frame of this site.
 */
export async function docs(
  app: FastifyInstance,
  { layout, testKey }: { layout: Layout; testKey: () => Promise<string | null> },
): Promise<void> {
  app.addHook('onSend', async (request, reply, payload) => {
    const isIndex = request.routeOptions.url?.replace(/\/$/, '') === '/docs' && reply.statusCode === 200;
    if (!isIndex) return payload;
    reply.removeHeader('content-length');
    return docsPage(layout, await testKey());
  });

  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: {
      layout: 'BaseLayout',
      docExpansion: 'list',
      tryItOutEnabled: true,
      defaultModelsExpandDepth: 0,
      // With deep links Swagger UI puts a link inside of a button, which screen readers cannot tell apart.
      deepLinking: false,
    },
    // "Try it out" asks the server that the page came from, whatever its public name is.
    transformSpecification: (description) => toTryOut(description as unknown as Description),
  });
}

interface Parameter {
  required?: boolean;
  schema?: { examples?: unknown[] };
}
interface Description {
  paths: Record<string, { get: { parameters: Parameter[] } }>;
}

/** Swagger UI fills a field in from the parameter's own `example`, not from the examples in its schema. */
function toTryOut({ paths, ...description }: Description): Record<string, unknown> {
  const filled = Object.entries(paths).map(([path, { get }]) => {
    const parameters = get.parameters.map((parameter) => {
      const [example] = (parameter.required && parameter.schema?.examples) || [];
      return example === undefined ? parameter : { ...parameter, example };
    });
    return [path, { get: { ...get, parameters } }];
  });
  return { ...description, paths: Object.fromEntries(filled), servers: [{ url: '/' }] };
}

function docsPage(layout: Layout, testKey: string | null): string {
  const body = html`<h1>Reference</h1>
<p class="lead">Every operation is a <code>GET</code>. Press <strong>Authorize</strong>, paste your key, open an operation and press <strong>Execute</strong>.</p>
${
  testKey
    ? html`<p>This sandbox has a key for everybody to try with:</p>
<div class="copyable"><pre tabindex="0"><code id="test-key">${testKey}</code></pre></div>`
    : html`<p>No key yet? <a href="/signup">Get one</a>; it is in your inbox in a minute.</p>`
}
<ul>
<li>Coordinates are <code>lat, lng</code>, in that order, everywhere.</li>
<li>Times in answers are UTC. <code>date</code> and <code>time</code> in a request are Sydney local time.</li>
<li>A value that is not known is <code>null</code>. A real-time value appears only where a vehicle is tracked.</li>
<li>Every <a href="/docs/errors">error</a> has a page with its cause, its fix and whether to retry.</li>
<li>In a terminal, <code>/board/200070</code> is a board for people, with the same key.</li>
</ul>
<noscript><p class="notice">The reference needs JavaScript. The same is in <a href="/openapi.json">openapi.json</a>, for people with patience and for programs.</p></noscript>
<div id="swagger-ui"></div>`;
  const head = html`<link rel="stylesheet" href="/docs/static/swagger-ui.css">
<link rel="stylesheet" href="/assets/docs.css">
<script src="/assets/docs.js"></script>
<script src="/docs/static/swagger-ui-bundle.js" defer></script>
<script src="/docs/static/swagger-ui-standalone-preset.js" defer></script>
<script src="/docs/static/swagger-initializer.js" defer></script>
<script type="module" src="/assets/copy.js"></script>`;
  return layout({
    title: 'Reference',
    description: 'Every operation, parameter and answer of the Transit Information Service, ready to be tried out.',
    path: '/docs',
    head,
    body,
  });
}
