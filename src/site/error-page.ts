import type { ApiError, ErrorCode } from '../errors/api-error.ts';
import { html } from './html.ts';
import type { Layout } from './layout.ts';

const MESSAGE = '{message}';

/** What a person in a browser sees in place of the JSON of an error; the page of a code is drawn once, but for its message. */
export function createErrorPage(layout: Layout): (error: ApiError) => string {
  const drawn = new Map<ErrorCode, string[]>();
  return (error) => {
    const parts = drawn.get(error.code) ?? draw(error).split(MESSAGE);
    drawn.set(error.code, parts);
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
