import type { FastifyInstance } from 'fastify';
import { ApiError, ERROR_TABLE, type ErrorCode, errorBody } from '#src/errors/api-error.ts';
import { BOARD_CURL, ERROR_DOCS } from '#src/errors/docs.ts';
import type { Operation } from '#src/operations/operation.ts';
import { streamPath } from '#src/routes.ts';
import { copyableCode } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { fixedPage } from '../layout.ts';
import { heading } from './markdown.ts';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

interface ErrorPagesOptions {
  frame: (page: { title: string; description: string; path: string; body: Html }) => string;
  publicUrl: string;
  docsUrl: string;
  operations: readonly Operation[];
}

/** A page for every error code; `error.docs` links to it. */
export async function errorPages(app: FastifyInstance, options: ErrorPagesOptions): Promise<void> {
  const pages = new Map(CODES.map((code) => [code, fixedPage(() => drawPage(code, options))]));
  app.get<{ Params: { code: string } }>('/docs/errors/:code', async (request, reply) => {
    const page = pages.get(request.params.code.toUpperCase() as ErrorCode);
    if (page) return page(request, reply);
    const code = request.params.code.slice(0, 50);
    throw new ApiError('NOT_FOUND', `No error ${code}. See the list: /docs/errors`);
  });
}

function drawPage(code: ErrorCode, options: ErrorPagesOptions): string {
  const description = `${code}: ${ERROR_DOCS[code].title}.`;
  return options.frame({ title: code, description, path: `/docs/errors/${code}`, body: errorPage(code, options) });
}

/** Table of all codes, for the guide on errors. */
export function errorTable(): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Codes"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Means</th></tr></thead>
<tbody>${CODES.map(
    (code) => html`<tr id="${code}"><td><span class="status-code">${ERROR_TABLE[code].status}</span></td>
<td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${ERROR_DOCS[code].title}</td></tr>
`,
  )}</tbody></table></div>`;
}

function errorPage(code: ErrorCode, { publicUrl, docsUrl, operations }: ErrorPagesOptions): Html {
  const { title, cause, fix, example, retry, curl = BOARD_CURL } = ERROR_DOCS[code];
  const body = JSON.stringify(errorBody(example, docsUrl), null, 2);
  const paths = operations
    .flatMap((operation) => [operation.path, ...(operation.stream ? [streamPath(operation)] : [])])
    .join(', ');
  return html`<p class="small"><a href="/docs">Docs</a> › <a href="/docs/errors">Errors</a></p>
<h1><code>${code}</code></h1>
<p class="lead"><span class="status-code">${ERROR_TABLE[code].status}</span> ${title}</p>
${heading('cause', 'Cause')}
<p>${cause}</p>
${heading('fix', 'Fix')}
<ul>${fix.map((step) => html`<li>${step.replace('{operations}', paths)}</li>`)}</ul>
${heading('retry', 'Retry')}
<p>${retry}</p>
${heading('response', 'What it looks like')}
${copyableCode(body, 'json')}
${heading('request', 'A request that works')}
<p>With your key in the variable <code>TIS_KEY</code>:</p>
${copyableCode(`curl ${curl.replaceAll('{base}', publicUrl)}`, 'sh')}
<p>No key yet? <a href="/signup">Get one</a> by email within a minute.</p>`;
}
