import type { FastifyInstance } from 'fastify';
import { ApiError, ERROR_TABLE, type ErrorCode, errorBody } from '../errors.ts';
import { ERROR_DOCS } from '../http/error-docs.ts';
import type { Operation } from '../operation.ts';
import { type Html, html } from './html.ts';
import type { Layout } from './layout.ts';
import { sendPage } from './page-answer.ts';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

/** `GET /docs/errors` and a page for every code of the table: where `error.docs` points. */
export async function errorPages(
  app: FastifyInstance,
  options: { layout: Layout; publicUrl: string; docsUrl: string; operations: readonly Operation[] },
): Promise<void> {
  const { layout } = options;
  app.get('/docs/errors', async (_request, reply) => {
    const description = 'Every error code of the service: what it means, what to do, whether to retry.';
    return sendPage(reply, layout({ title: 'Errors', description, path: '/docs', body: errorList() }));
  });

  app.get<{ Params: { code: string } }>('/docs/errors/:code', async (request, reply) => {
    const code = CODES.find((one) => one === request.params.code.toUpperCase());
    if (!code)
      throw new ApiError(
        'NOT_FOUND',
        `There is no error ${request.params.code.slice(0, 50)}. All are at /docs/errors.`,
      );
    const { title } = ERROR_DOCS[code];
    return sendPage(
      reply,
      layout({
        title: code,
        description: `${code}: ${title}.`,
        path: '/docs',
        body: errorPage(code, options),
      }),
    );
  });
}

function errorList(): Html {
  return html`<h1>Errors</h1>
<p class="lead">Every error has the same shape. <code>code</code> is for programs, <code>message</code> for people, <code>docs</code> leads to the page of the code.</p>
<pre tabindex="0"><code>{ "error": { "code": "…", "message": "…", "docs": "…" } }</code></pre>
<p>The header <code>X-Request-Id</code> names the answer in our log. Requests that end in a 5xx are not counted.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Means</th></tr></thead>
<tbody>${CODES.map(
    (code) => html`<tr><td><span class="status-code">${ERROR_TABLE[code].status}</span></td>
<td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${ERROR_DOCS[code].title}</td></tr>
`,
  )}</tbody></table></div>`;
}

function errorPage(
  code: ErrorCode,
  { publicUrl, docsUrl, operations }: { publicUrl: string; docsUrl: string; operations: readonly Operation[] },
): Html {
  const { title, cause, fix, example, retry, curl } = ERROR_DOCS[code];
  const body = JSON.stringify(errorBody(example, docsUrl), null, 2);
  const paths = operations.map(({ path }) => path).join(', ');
  return html`<p class="small"><a href="/docs">Docs</a> › <a href="/docs/errors">Errors</a></p>
<h1><code>${code}</code></h1>
<p class="lead"><span class="status-code">${ERROR_TABLE[code].status}</span> ${title}</p>
<h2>Cause</h2>
<p>${cause}</p>
<h2>Fix</h2>
<ul>${fix.map((step) => html`<li>${step.replace('{operations}', paths)}</li>`)}</ul>
<h2>Retry</h2>
<p>${retry}</p>
<h2>What it looks like</h2>
<pre tabindex="0"><code>${body}</code></pre>
<h2>A request that works</h2>
<p>With your key in the variable <code>TIS_KEY</code>:</p>
<div class="copyable"><pre tabindex="0"><code>curl ${curl.replaceAll('{base}', publicUrl)}</code></pre></div>
<p>No key yet? <a href="/signup">Get one</a>; it is in your inbox in a minute.</p>
<script type="module" src="/assets/copy.js"></script>`;
}
