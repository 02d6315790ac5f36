import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError, ErrorCode } from '#src/errors/api-error.ts';
import { type PreparedBody, prepare } from '#src/http/send-response.ts';
import { type Html, html } from './html.ts';

/** Without `path`, no entry of the navigation is current, and the preview has no address. */
interface Page {
  title: string;
  /** One sentence for search engines. */
  description?: string;
  /** Path of the page, to mark it in the navigation. */
  path?: string;
  body: Html;
  /** Style sheets and scripts of this page, for the head. */
  head?: Html;
  /** The body uses the whole window instead of a column. */
  isWide?: boolean;
}

/** Draws a page of this site. */
export type Layout = (page: Page) => string;

const NAVIGATION = [
  ['/docs', 'Docs'],
  ['/explore', 'Explorer'],
  ['/status', 'Status'],
  ['/keys', 'Keys'],
  ['/signup', 'Sign up'],
] as const;

const SITE = 'Transit Information Service';
const LICENSE_URL = 'https://creativecommons.org/licenses/by/4.0/';

/** The `og:` tags (Open Graph) are the preview that other sites show for a link to the page. */
export function createLayout({ isSandbox, publicUrl }: { isSandbox: boolean; publicUrl: string }): Layout {
  return ({ title, description, path, body, head, isWide }) =>
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${path === '/' ? title : `${title} · ${SITE}`}</title>
${description && html`<meta name="description" content="${description}">`}
<meta property="og:site_name" content="${SITE}">
<meta property="og:type" content="website">
<meta property="og:title" content="${title}">
${description && html`<meta property="og:description" content="${description}">`}
${path && html`<meta property="og:url" content="${publicUrl + path}">`}
<meta property="og:image" content="${publicUrl}/assets/preview.png">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta name="twitter:card" content="summary_large_image">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/assets/icon-32.png" sizes="32x32" type="image/png">
<link rel="icon" href="/assets/icon.svg" sizes="any" type="image/svg+xml">
<link rel="apple-touch-icon" href="/assets/apple-touch-icon.png">
<link rel="stylesheet" href="/assets/site.css">
<link rel="stylesheet" href="/assets/lines.css">
${head}
</head>
<body${isWide && html` class="wide"`}>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="/"${path === '/' && html` aria-current="page"`}><img src="/assets/icon.svg" alt="" width="28" height="28"> <span>Transit Information Service</span></a>
<nav aria-label="Main">
${NAVIGATION.map(([href, label]) => html`<a href="${href}"${href === path && html` aria-current="page"`}>${label}</a>`)}
</nav>
</header>
${isSandbox && html`<aside class="sandbox" aria-label="Sandbox"><strong>Sandbox.</strong> Times are made up.<span class="roomy"> Do not travel by them.</span></aside>`}
<main id="main" tabindex="-1">
${body}
</main>
<footer>
<p>Data: <a href="https://opendata.transport.nsw.gov.au/">Transport for NSW</a>, under <a rel="license" href="${LICENSE_URL}">CC BY 4.0</a>; adapted.${isSandbox && ' In this sandbox times and alerts are made up.'} Not affiliated with or endorsed by Transport for NSW.</p>
<p><a href="/openapi.json">OpenAPI 3.1</a> <a href="/docs/errors">Errors</a> <a href="/status">Status</a> <a href="/keys">Your keys</a> <a href="/.well-known/security.txt">Security</a></p>
</footer>
</body>
</html>
`.markup;
}

const HTML = 'text/html; charset=utf-8';

/** Sends a page with `Cache-Control: no-store`. */
export function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.header('cache-control', 'no-store').type(HTML).send(page);
}

/** Returns a handler for a page that is the same for everyone: rendered once, and again when the sandbox's key changes. */
export function fixedPage(
  draw: (testKey: string | null) => string,
  testKey: () => Promise<string | null> = async () => null,
) {
  let renderedPage: { testKey: string | null; send: PreparedBody['send'] } | null = null;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const key = await testKey();
    if (renderedPage?.testKey !== key) renderedPage = { testKey: key, send: prepare(() => draw(key), { type: HTML }) };
    return renderedPage.send(request, reply);
  };
}

const MESSAGE = '{message}';

/**
 * Returns a function that renders errors as pages for browsers. It renders the page of each code once and inserts the message.
 */
export function createErrorPage(layout: Layout): (error: ApiError) => string {
  const renderedPages = new Map<ErrorCode, string[]>();
  return (error) => {
    const parts = renderedPages.get(error.code) ?? draw(error).split(MESSAGE);
    renderedPages.set(error.code, parts);
    return parts.join(html`${error.message}`.markup);
  };

  function draw({ code, statusCode }: ApiError): string {
    const title = statusCode === 404 ? 'There is nothing here' : 'That did not work';
    const body = html`<h1>${title}</h1>
<p class="notice bad" role="alert">${MESSAGE}</p>
<p class="quiet"><span class="status-code">${statusCode}</span> <a href="/docs/errors/${code}"><code>${code}</code></a></p>
<p>From here: <a href="/">home</a>, <a href="/docs">the docs</a>, <a href="/explore">the map</a>, <a href="/signup">get a key</a>, <a href="/keys">your keys</a>, <a href="/status">status of the service</a>.</p>`;
    return layout({ title, body });
  }
}
