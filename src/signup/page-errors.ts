import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toApiError } from '../http/error-answer.ts';
import { answerError } from '../http/error-handler.ts';
import { html } from '../site/html.ts';
import type { Layout } from '../site/layout.ts';
import { sendPage } from '../site/page-answer.ts';

export function wantsPage(request: FastifyRequest): boolean {
  return /text\/html/.test(request.headers.accept ?? '');
}

/** Errors in this room, as a page for who came with a browser. Programs get what they get everywhere. */
export function answerErrorsWithPages(
  app: FastifyInstance,
  { layout, docsUrl }: { layout: Layout; docsUrl: string },
): void {
  app.setErrorHandler((error, request, reply) => {
    if (!wantsPage(request)) return answerError(error, request, reply, docsUrl);
    const { code, message, headers, statusCode, cause } = toApiError(error);
    if (statusCode >= 500) request.log.warn({ err: cause ?? error, code }, message);
    const body = html`<h1>That did not work</h1>
<p class="notice bad" role="alert">${message}</p>
<p class="quiet"><span class="status-code">${statusCode}</span> <a href="/docs/errors/${code}"><code>${code}</code></a></p>
<p><a href="/signup">Get a key</a> or <a href="/keys">see your keys</a></p>`;
    sendPage(reply.code(statusCode).headers(headers), layout({ title: 'That did not work', body }));
  });
}
