import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { type Front, keyIn, openKeysPage, postForm, startFront } from '../support/front.ts';

const BROWSER = { accept: 'text/html' };
let front: Front;
let key: string;
let keysToken: string;
/** The address of a board as the page of keys gives it. */
let address: URL;

beforeAll(async () => {
  front = await startFront({ now: '2026-11-20T02:00:20Z' });
  for (const url of ['/signup', '/keys/link'])
    await front.app.inject({ method: 'POST', url, payload: { email: 'jo@example.com', terms: true } });
  const mails = await front.readOutbox();
  key = keyIn(mails.find(({ text }) => /tis_test_/.test(text ?? '')) as never);
  keysToken = (await openKeysPage(front.app, mails.find(({ text }) => /keys\?token=/.test(text ?? '')) as never)).token;
  const response = await makeLink('200070');
  address = new URL(String(response.headers.location), front.url);
});
afterAll(() => front[Symbol.asyncDispose]());

const hashOf = (text: string) => parseKey(text)?.hash ?? '';
const makeLink = (stop: string) =>
  postForm(front.app, '/keys/board', { token: keysToken, key: hashOf(key), stop }, BROWSER);
const departures = (stop: string, token: string, query = '') =>
  front.app.inject({ url: `/board/${stop}/departures${query}`, headers: { authorization: `Screen ${token}` } });
const tokenOf = (url: URL) => url.hash.slice(1);

describe('the wall board', () => {
  it('the wall board is a page for a browser and text for a terminal', async () => {
    const page = await front.app.inject({ url: '/board/200070', headers: BROWSER });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
    const authorization = `Bearer ${key}`;
    for (const headers of [{ authorization }, { authorization, ...BROWSER }])
      expect((await front.app.inject({ url: '/board/200070', headers })).headers['content-type']).toMatch(
        /^text\/plain/,
      );
    expect((await front.app.inject('/board/200070')).statusCode).toBe(401);
  });

  it('the link to a wall board contains no key, opens its stop and is charged to its key', async () => {
    expect(address.pathname).toBe('/board/200070');
    expect(address.href).not.toContain('tis_');
    const response = await departures('200070', tokenOf(address));
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ stop_id: '200070', stop_name: 'Town Hall Station' });
    const left = (headers: Record<string, unknown>) => Number(headers['x-ratelimit-remaining']);
    expect(left((await departures('200070', tokenOf(address))).headers)).toBe(left(response.headers) - 1);
  });

  it.each(['?modes=ferry&utm_source=1', '?modes[]=ferry&utm_source=1'])(
    'the wall board uses only the parameters of its link: %s',
    async (query) => {
      const response = await departures(
        '200020',
        tokenOf(new URL(String((await makeLink('200020')).headers.location), front.url)),
        query,
      );
      const modes = response.json().departures.map(({ mode }: { mode: string }) => mode);
      expect(new Set(modes)).toEqual(new Set(['ferry']));
    },
  );

  it.each([
    ['another stop', '200060', (token: string) => token],
    ['another account', '200070', (token: string) => `other123${token.slice(8)}`],
    ['a made-up signature', '200070', (token: string) => `${token.slice(0, -3)}AAA`],
  ])('the wall board refuses the link to %s', async (_name, stop, forge) => {
    expect((await departures(stop, forge(tokenOf(address)))).statusCode).toBe(401);
  });

  it('the token of a wall board opens nothing else', async () => {
    const headers = { authorization: `Screen ${tokenOf(address)}` };
    for (const url of ['/v1/departures?stop=200070', '/board/200070', '/v1/trips?from=1&to=2'])
      expect((await front.app.inject({ url, headers })).statusCode).toBe(401);
  });

  it('the wall board refuses a stop that does not exist and a link that has expired', async () => {
    expect((await makeLink('<script>')).statusCode).toBe(400);
    const forged = { token: 'x', key: hashOf(key), stop: '200070' };
    expect((await postForm(front.app, '/keys/board', forged)).statusCode).toBe(400);
  });

  it('the wall board accepts a stop by its name, and reports when there is none', async () => {
    const found = await makeLink('circular quay');
    expect(found.headers.location).toMatch(/^\/board\/200020#/);
    const unknown = await makeLink('xyzzyx');
    expect([unknown.statusCode, unknown.body]).toEqual([400, expect.stringContaining('No stop with that name')]);
  });

  it('stops are suggested by name only to people with an open page of keys', async () => {
    const suggest = (token: string) => postForm(front.app, '/keys/stops', { token, stop: 'circular quay' });
    const { stops } = (await suggest(keysToken)).json();
    expect(stops[0]).toMatchObject({ stop_id: '200020', name: expect.stringContaining('Circular Quay') });
    expect((await suggest('nonsense')).statusCode).toBe(400);
  });

  it('the wall board opens in the sandbox without a link', async () => {
    const { body } = await front.app.inject({ url: '/board/200060', headers: BROWSER });
    const [, token = ''] = /data-token="([^"]+)"/.exec(body) ?? [];
    expect((await departures('200060', token)).statusCode).toBe(200);
    expect(body).not.toContain('tis_');
  });

  it('the wall board stops working when its key is revoked', async () => {
    await postForm(front.app, '/keys/revoke', { token: keysToken, key: hashOf(key) });
    expect((await departures('200070', tokenOf(address))).statusCode).toBe(401);
  });
});
