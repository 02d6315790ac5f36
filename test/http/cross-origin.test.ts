import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Front, startFront } from '../support/front.ts';

let front: Front;
beforeAll(async () => {
  front = await startFront();
});
afterAll(() => front[Symbol.asyncDispose]());

const ORIGIN = { origin: 'https://app.example' };
const EXPOSED = [
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Remaining',
  'Retry-After',
  'X-Request-Id',
  'WWW-Authenticate',
];

describe('requests from another origin', () => {
  it.each([
    ['GET', '/v1/stops/search?q=central', 200],
    ['GET', '/v1/departures', 400],
    ['GET', '/v1/departures?stop=123456789', 404],
    ['GET', '/nothing', 404],
    ['GET', '/v1/%E0%A4%A', 400],
    ['DELETE', '/v1/departures', 405],
    ['GET', '/openapi.json', 200],
    ['GET', '/status', 200],
    ['GET', '/board/200070', 200],
  ] as const)('a page of another origin can read %s %s, answered %d, with its headers', async (method, url, status) => {
    const headers = { ...ORIGIN, authorization: `Bearer ${front.testKey}` };
    const response = await front.app.inject({ method, url, headers });
    expect(response.statusCode).toBe(status);
    expect(response.headers['access-control-allow-origin']).toBe('*');
    const exposed = String(response.headers['access-control-expose-headers']).split(', ');
    expect(exposed).toEqual(expect.arrayContaining(EXPOSED));
  });

  it('a page of another origin can read the error about a missing key', async () => {
    const response = await front.app.inject({ url: '/v1/departures?stop=200070', headers: ORIGIN });
    expect(response.statusCode).toBe(401);
    expect(response.headers['access-control-allow-origin']).toBe('*');
    expect(response.headers['access-control-expose-headers']).toContain('WWW-Authenticate');
  });

  it('a page of another origin can read even an error about invalid HTTP', async () => {
    const text = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(front.url).port), 'localhost', () =>
        socket.write('GET / HTTP/1.1\r\nbad header\r\n\r\n'),
      );
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('close', () => resolve(received));
    });
    expect(text).toMatch(/^HTTP\/1\.1 400/);
    expect(text).toMatch(/access-control-allow-origin: \*/i);
  });

  it.each(['/v1/departures', '/v1/trips', '/nothing', '/v1/nothing'])(
    'a preflight for %s needs no key and costs nothing',
    async (url) => {
      const before = await used();
      const response = await front.app.inject({
        method: 'OPTIONS',
        url,
        headers: {
          ...ORIGIN,
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'authorization',
        },
      });
      expect(response.statusCode).toBe(204);
      expect(response.headers['access-control-allow-origin']).toBe('*');
      expect(response.headers['x-request-id']).toMatch(/./);
      expect(String(response.headers['access-control-allow-headers']).toLowerCase()).toContain('authorization');
      expect(response.headers['access-control-allow-methods']).toBe('GET, HEAD, OPTIONS');
      expect(Number(response.headers['access-control-max-age'])).toBeGreaterThan(600);
      expect(await used()).toBe(before + 1);
    },
  );

  it.each([
    ['/v1/departures', 'GET, HEAD, OPTIONS'],
    ['/v1/trips/?from=1', 'GET, HEAD, OPTIONS'],
    ['/signup', 'GET, HEAD, OPTIONS, POST'],
    ['/board/200070', 'GET, HEAD, OPTIONS'],
    ['/docs/errors/UNAUTHORIZED', 'GET, HEAD, OPTIONS'],
    ['/assets/site.css', 'GET, HEAD, OPTIONS'],
  ])('an OPTIONS request for %s that is not a preflight lists the methods', async (url, allow) => {
    const before = await used();
    const response = await front.app.inject({ method: 'OPTIONS', url });
    expect(response.statusCode).toBe(204);
    expect(response.body).toBe('');
    expect(response.headers).toMatchObject({ allow, 'access-control-allow-origin': '*' });
    expect(await used()).toBe(before + 1);
  });

  it.each(['/board/200070', '/assets/site.css'])(
    'another method for %s is 405 although its path has a parameter',
    async (url) => {
      const response = await front.app.inject({ method: 'DELETE', url });
      expect(response.statusCode).toBe(405);
      expect(response.headers.allow).toBe('GET, HEAD, OPTIONS');
    },
  );

  /** Returns the requests charged so far, including its own. */
  async function used(): Promise<number> {
    const headers = { authorization: `Bearer ${front.testKey}` };
    const response = await front.app.inject({ url: '/v1/stops/search?q=central', headers });
    return Number(response.headers['x-ratelimit-limit']) - Number(response.headers['x-ratelimit-remaining']);
  }
});

describe('the headers of every response', () => {
  it.each([
    '/',
    '/docs',
    '/signup',
    '/explore',
    '/status',
    '/assets/site.css',
    '/openapi.json',
    '/nothing',
    '/v1/departures',
    '/v1/stops/search?q=central',
  ])('browsers may not guess the type of the response to %s', async (url) => {
    const { headers } = await front.app.inject({ url, headers: { authorization: `Bearer ${front.testKey}` } });
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('the headers of a board, apart from those about limits, take at most 700 bytes; only pages of other origins get the list of exposed ones', async () => {
    const headersFor = async (more: object) => {
      const headers = { authorization: `Bearer ${front.testKey}`, ...more };
      return (await front.app.inject({ url: '/v1/departures?stop=200060&limit=20', headers })).headers;
    };
    const own = await headersFor({});
    const lines = Object.entries(own).map(([name, value]) => `${name}: ${value}\r\n`);
    const others = lines.filter((line) => !line.includes('ratelimit'));
    expect(others.join('').length).toBeLessThanOrEqual(700);
    expect(own['access-control-expose-headers']).toBeUndefined();
    expect(own.vary).toContain('Origin');
    expect((await headersFor(ORIGIN))['access-control-expose-headers']).toContain('RateLimit');
  });

  it.each(['/', '/docs', '/docs/errors', '/signup', '/keys', '/explore', '/status'])(
    'the content security policy of the page %s allows only its own server',
    async (url) => {
      const { headers } = await front.app.inject({ url, headers: { accept: 'text/html' } });
      expect(headers['content-security-policy']).toMatch(/default-src 'self'/);
      expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:/);
      expect(headers['referrer-policy']).toBe('same-origin');
    },
  );

  it('the home page has links to description, documentation, status and licence in its headers, and they lead somewhere', async () => {
    const { headers } = await front.app.inject('/');
    for (const rel of ['service-desc', 'service-doc', 'status', 'license'])
      expect(headers.link).toContain(`rel="${rel}"`);
    expect(headers.link).toContain('<https://creativecommons.org/licenses/by/4.0/>; rel="license"');
    const paths = [...String(headers.link).matchAll(/<(\/[^>]*)>/g)].map(([, path]) => path ?? '');
    expect(paths).toHaveLength(3);
    for (const path of paths) expect((await front.app.inject(path)).statusCode).toBe(200);
  });

  it('security.txt names a contact and an end within a year', async () => {
    const { body, headers } = await front.app.inject('/.well-known/security.txt');
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(body).toContain('Contact: mailto:contact@example.test');
    const expires = Date.parse(/^Expires: (.*)$/m.exec(body)?.[1] ?? '');
    expect(expires).toBeGreaterThan(Date.now());
    expect(expires).toBeLessThan(Date.now() + 366 * 86_400_000);
  });
});
