import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Front, postForm, startFront } from '../support/front.ts';

let front: Front;
beforeAll(async () => {
  front = await startFront();
});
afterAll(() => front[Symbol.asyncDispose]());

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('an error outside of the API', () => {
  it.each(['/nothing-here', '/docs/errors/NONE', '/assets/nothing.js'])(
    'an error outside of the API is a page for a browser: %s',
    async (url) => {
      const { statusCode, headers, body } = await front.app.inject({ url, headers: BROWSER });
      expect(statusCode).toBe(404);
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        vary: 'Accept',
        'x-request-id': expect.stringMatching(/\S/),
        'content-security-policy': expect.stringContaining("default-src 'self'"),
      });
      expect(body).toContain('<h1>There is nothing here</h1>');
      expect(body).toContain('href="/docs/errors/NOT_FOUND"');
    },
  );

  it.each([{}, { accept: '*/*' }, { accept: 'application/json' }])(
    'an error outside of the API is JSON for other clients: %j',
    async (headers) => {
      const response = await front.app.inject({ url: '/nothing-here', headers });
      expect(response.json().error.code).toBe('NOT_FOUND');
      expect(response.headers.vary).toBe('Accept');
    },
  );

  it('an error page keeps its headers and shows the requested path as text', async () => {
    const response = await front.app.inject({ method: 'POST', url: '/status', headers: BROWSER });
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toContain('GET');
    expect((await front.app.inject({ url: '/<script>x', headers: BROWSER })).body).not.toContain('<script>x');
  });
});

it.each(['/v1/departures', '/v1/nothing', '/v1', '/mcp/nothing'])(
  'an error of the API is JSON even for a browser: %s',
  async (url) => {
    const response = await front.app.inject({ url, headers: BROWSER });
    expect(response.statusCode).toBeGreaterThanOrEqual(400);
    expect(response.json().error.docs).toMatch(/^http/);
  },
);

describe('the suspensions of operators', () => {
  const restrict = async (name: string, value: object | null) => {
    await front.store.setRestriction(name, value && JSON.stringify(value));
    await front.app.restrictions.refresh();
  };
  const statuses = (...urls: string[]) =>
    Promise.all(urls.map(async (url) => (await front.app.inject({ url, headers: BROWSER })).statusCode));

  it.each(['127.0.0.0/8', '127.0.0.1'])('a suspended network gets 403 on pages: %s', async (network) => {
    await restrict(`network:${network}`, { since: '2026-11-20T00:00:00Z', reason: 'a <new> worm.' });
    const { body } = await front.app.inject({ url: '/', headers: BROWSER });
    expect(body).toMatch(/a &[^;]+;new&[^;]+; worm\./);
    const [style = ''] = /\/assets\/[^"]+\.css/.exec(body) ?? [];
    const urls = ['/', '/v1/stops/search?q=central', '/nothing', style, '/healthz', '/readyz'];
    expect(await statuses(...urls)).toEqual([403, 403, 403, 200, 200, 200]);
    await restrict(`network:${network}`, null);
    await restrict('network:2001:db8::/32', { since: '2026-11-20T00:00:00Z', reason: '' });
    expect(await statuses('/')).toEqual([200]);
    const others = ['2001:db8:1::7', '2001:db9::7', '::ffff:127.0.0.1', 'nothing'];
    expect(others.map((ip) => front.app.restrictions.ofNetwork(ip)?.statusCode)).toEqual([
      403,
      ...Array(3).fill(undefined),
    ]);
    await restrict('network:2001:db8::/32', null);
  });

  it('nobody signs up from a suspended mail domain', async () => {
    await restrict('domain:example.com', { since: '2026-11-20T00:00:00Z', reason: '' });
    const signUp = (email: string) => postForm(front.app, '/signup', { email, terms: 'on' }, BROWSER);
    expect((await signUp('jo@mail.example.com')).statusCode).toBe(403);
    expect((await signUp('jo@another-example.com')).statusCode).toBe(303);
    expect((await front.readOutbox()).map(({ to }) => to?.[0]?.address)).toEqual(['jo@another-example.com']);
    await restrict('domain:example.com', null);
  });
});

describe('a form with problems', () => {
  it('a form with problems puts the focus on its first problem alone', async () => {
    const { body } = await postForm(front.app, '/signup', { email: 'jo@example.com', label: 'x'.repeat(60) }, BROWSER);
    expect(body.match(/autofocus/g)).toHaveLength(1);
    expect(body).toMatch(/id="label"[^>]*aria-invalid="true"[^>]*autofocus/);
    expect(body).toMatch(/id="terms"[^>]*aria-invalid="true"[^>]*>/);
  });

  it('a form without an address asks for it', async () => {
    const { body } = await postForm(front.app, '/keys/link', { email: '' }, BROWSER);
    expect(body).toMatch(/id="email"[^>]*aria-invalid="true"[^>]*autofocus/);
  });
});
