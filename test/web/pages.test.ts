import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_TABLE, type ErrorCode } from '#src/errors/api-error.ts';
import { BOARD_CURL, ERROR_DOCS } from '#src/errors/docs.ts';
import { html } from '#web/html.ts';
import { type Front, startFront } from '../support/front.ts';

let front: Front;
beforeAll(async () => {
  front = await startFront({ now: '2026-11-20T02:00:20Z' });
});
afterAll(() => front[Symbol.asyncDispose]());

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];
const PAGES = [
  '/',
  '/docs',
  '/docs/quickstart',
  '/docs/departures-nearby',
  '/docs/headers',
  '/docs/limits',
  '/docs/time',
  '/docs/stops',
  '/docs/live-data',
  '/docs/lines',
  '/docs/maps',
  '/docs/streams',
  '/docs/clients',
  '/docs/assistants',
  '/docs/changelog',
  '/docs/reference',
  '/docs/reference/departures',
  '/docs/reference/departures-stream',
  '/docs/reference/boards',
  '/docs/reference/nearby',
  '/docs/reference/stops-search',
  '/docs/reference/trips',
  '/docs/errors',
  '/docs/errors/UNAUTHORIZED',
  '/explore',
  '/status',
  '/signup',
  '/signup/sent',
  '/keys',
  '/keys/sent',
];
/** The visible text of the markup. */
const textOf = (markup: string) =>
  markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_match, code: string) => String.fromCharCode(Number(code)));
const open = (url: string) => front.app.inject({ url, headers: { accept: 'text/html' } });

describe('the template of the pages', () => {
  it('the template escapes text and attributes, and nothing twice', () => {
    const evil = `<script>"'&`;
    expect(html`<p title="${evil}">${[evil, html`<b>${1}</b>`]}${null}${false}${undefined}</p>`.markup).toBe(
      '<p title="&#60;script&#62;&#34;&#39;&#38;">&#60;script&#62;&#34;&#39;&#38;<b>1</b></p>',
    );
  });
});

describe('every page', () => {
  it.each(PAGES)(
    '%s has one heading, a title, the licence, and a notice that the sandbox makes things up',
    async (url) => {
      const { statusCode, body, headers } = await open(url);
      expect(statusCode).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(body.match(/<h1/g)).toHaveLength(1);
      expect(body).toMatch(/<title>.*Transit Information Service/);
      expect(body).toContain('<html lang="en">');
      expect(body).toContain('rel="license" href="https://creativecommons.org/licenses/by/4.0/"');
      expect(body).toContain('made up');
    },
  );

  it.each(PAGES)('%s names no other host and has nothing inline that the policy would refuse', async (url) => {
    const { body } = await open(url);
    const loaded = [...body.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"/g)].map(([, to]) => to ?? '');
    expect(loaded.length).toBeGreaterThan(0);
    expect(loaded.filter((to) => !to.startsWith('/'))).toEqual([]);
    expect(body).not.toMatch(/<style| style="|<script>| on\w+="/);
  });

  it.each(PAGES)('%s is rendered without waiting for a script', async (url) => {
    const { body } = await open(url);
    const scripts = body.match(/<script[^>]*>/g) ?? [];
    expect(scripts.filter((tag) => !/ type="module"| defer/.test(tag))).toEqual([]);
  });

  it('every link within the site leads somewhere', async () => {
    const seen = new Set<string>();
    for (const page of PAGES) {
      const { body } = await open(page);
      for (const [, to = ''] of body.matchAll(/(?:href|src|action)="(\/[^"#]*)/g)) seen.add(to);
    }
    expect(seen.size).toBeGreaterThan(PAGES.length);
    for (const path of seen) {
      const { statusCode } = await open(path);
      expect(path === '/keys/link' ? 405 : 200, path).toBe(statusCode);
    }
  });
});

describe('the previews of a page', () => {
  it.each(['/', '/docs', '/explore', '/status', '/signup', '/keys'])(
    'the preview of %s has a title, a sentence and a picture',
    async (url) => {
      const { body } = await open(url);
      expect(body).toMatch(/<meta property="og:title" content="[^"]+">/);
      expect(body).toMatch(/<meta property="og:description" content="[^"]+">/);
      expect(body).toContain(`<meta property="og:url" content="${front.url}${url}">`);
      expect(body).toContain(`<meta property="og:image" content="${front.url}/assets/preview.png">`);
    },
  );

  it.each([
    ['icon-32.png', 32, 32],
    ['apple-touch-icon.png', 180, 180],
    ['preview.png', 1200, 630],
  ])('the icon %s is a PNG of %d × %d', async (name, width, height) => {
    const { headers, rawPayload } = await front.app.inject(`/assets/${name}`);
    expect(headers['content-type']).toBe('image/png');
    expect([rawPayload.readUInt32BE(16), rawPayload.readUInt32BE(20)]).toEqual([width, height]);
  });

  it.each(['/favicon.ico', '/apple-touch-icon.png'])('the path %s leads to a PNG', async (url) => {
    const { headers } = await front.app.inject(url);
    expect((await front.app.inject(String(headers.location))).headers['content-type']).toBe('image/png');
  });
});

describe('the pages of the errors', () => {
  it.each(CODES)('the page of %s has cause, fix, retry, a curl, and the message in its shape', async (code) => {
    const { title, cause, fix, retry } = ERROR_DOCS[code];
    expect([title, cause, retry, ...fix].every((text) => text.length > 2)).toBe(true);
    const { statusCode, body } = await open(`/docs/errors/${code}`);
    expect(statusCode).toBe(200);
    expect(body).toContain(`<h1><code>${code}</code></h1>`);
    for (const heading of ['Cause', 'Fix', 'Retry', 'A request that works'])
      expect(body).toMatch(new RegExp(`<h2 id="\\w+"><a href="#\\w+">${heading}</a></h2>`));
    expect(body).toContain(String(ERROR_TABLE[code].status));
    expect(body).toContain(`${front.url}/v1/`);
    expect((await open('/docs/errors')).body).toContain(`href="/docs/errors/${code}"`);
  });

  it('an error code that was removed has no page', () => {
    expect(Object.keys(ERROR_DOCS).toSorted()).toEqual(CODES.toSorted());
  });

  it.each(CODES)('the curl on the page of %s works', async (code) => {
    const [, url = ''] = /"\{base\}(.*?)"/.exec(ERROR_DOCS[code].curl ?? BOARD_CURL) ?? [];
    const response = await front.app.inject({ url, headers: { authorization: `Bearer ${front.testKey}` } });
    expect(response.statusCode).toBe(200);
  });

  it('error.docs points to the page of the error', async () => {
    const { docs } = (await front.app.inject('/v1/departures')).json().error;
    expect(docs).toBe(`${front.url}/docs/errors/UNAUTHORIZED`);
    expect((await open(new URL(docs).pathname)).statusCode).toBe(200);
  });

  it('the page of an unknown error code is 404', async () => {
    expect((await open('/docs/errors/%3Cscript%3E')).statusCode).toBe(404);
  });
});

describe('the home page', () => {
  it('the home page has a live board of the service itself, and a first curl with the sandbox’s key', async () => {
    const { body } = await open('/');
    expect(body).toContain('Town Hall Station');
    expect(body.match(/<span class="route /g)?.length).toBe(8);
    expect(textOf(body)).toContain(`curl -H "Authorization: Bearer ${front.testKey}"`);
    for (const limit of ['1,000', '50,000', 'Unlimited']) expect(body).toContain(limit);
  });

  it('the home page links to every operation and stream, and shows one command', async () => {
    const { body } = await open('/');
    const { paths } = (await front.app.inject('/openapi.json')).json();
    const slugs = Object.keys(paths).map((path) => path.slice('/v1/'.length).replaceAll('/', '-').replace(/[{}]/g, ''));
    expect(slugs.length).toBeGreaterThan(15);
    for (const slug of slugs.filter((one) => one !== 'tokens'))
      expect(body).toContain(`href="/docs/reference/${slug}"`);
    expect(textOf(body).match(/curl /g)).toHaveLength(1);
  });

  it('the home page shows the age of its board, and refreshes it by itself', async () => {
    const { body } = await open('/live-board');
    expect(textOf(body)).toMatch(/Town Hall Station .* As of 13:00:\d\d in Sydney, \d+ s ago\./);
    expect(body.match(/<span class="route /g)?.length).toBe(8);
    expect(body.match(/>\d\d:\d\d<\/strong><span class="hint">(now|\d+ min)</g)?.length).toBe(8);
    expect((await open('/')).body).toContain('src="/assets/live-board.js"');
  });

  it('the home page names the alerts of its board, and links to each from its departures', async () => {
    const { body } = await open('/');
    const named = [...body.matchAll(/<li id="alert-([^"]+)">/g)].map(([, id]) => id);
    expect(named.length).toBeGreaterThan(0);
    const links = new Set([...body.matchAll(/href="#alert-([^"]+)"/g)].map(([, id]) => id));
    expect(links).toEqual(new Set(named));
  });

  it('the home page shows routes in the colours of their lines', async () => {
    const { body } = await open('/');
    expect(body).toMatch(/<span class="route train" data-line="T\d">/);
  });

  it('the home page stays up when upstream is down', async () => {
    await using alone = await startFront({ upstreamUrl: 'http://127.0.0.1:9/v1/tp' });
    const { statusCode, body } = await alone.app.inject({ url: '/', headers: { accept: 'text/html' } });
    expect(statusCode).toBe(200);
    expect(body).toContain('No departures for Town Hall yet');
  });
});

describe('the board for a terminal', () => {
  const board = (query = '', headers: Record<string, string> = { authorization: `Bearer ${front.testKey}` }) =>
    front.app.inject({ url: `/board/200070${query}`, headers });

  it('the board for a terminal is plain text, is charged like any request, and shows the remaining quota', async () => {
    const { statusCode, body, headers } = await board('?limit=3&modes=train');
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(body).toMatch(/^Town Hall Station \(200070\)\n/);
    expect(body.match(/Platform \d/g)).toHaveLength(3);
    expect(body).toContain('SANDBOX');
    expect(body).toContain('CC BY 4.0');
    const left = (headers: Record<string, unknown>) => Number(headers['x-ratelimit-remaining']);
    const whole = await board();
    expect(left(whole.headers)).toBe(left(headers) - 1);
    expect((await board('?limit=&modes=')).body).toBe(whole.body);
    expect((await board('?limt=3')).statusCode).toBe(400);
    expect((await board('?colour=red')).statusCode).toBe(400);
  });

  it.each([
    ['no key', '', {}, 401, /^UNAUTHORIZED: /],
    ['a key in the query', '?key=abc', {}, 401, /^UNAUTHORIZED: /],
    ['a bad parameter', '?limit=none', undefined, 400, /^INVALID_PARAMETER: `limit` /],
  ])(
    'the board for a terminal has the errors of the operation behind it: %s',
    async (_name, query, headers, status, text) => {
      const response = await board(query, headers);
      expect(response.statusCode).toBe(status);
      expect(response.body).toMatch(text);
      expect(response.body).toContain('/docs/errors/');
    },
  );
});

it.each(['/assets/nothing-here.js', '/assets/leaflet/nothing-here.js'])(
  'a file that does not exist is 404: %s',
  async (url) => {
    const response = await front.app.inject(url);
    expect(response.statusCode).toBe(404);
    expect(response.json().error).toMatchObject({ code: 'NOT_FOUND', message: `There is nothing at ${url}.` });
  },
);
