import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { type Front, keyIn, postForm, startFront } from '../../support/front.ts';

const NOW = '2026-11-20T02:00:20Z';
let front: Front;

beforeEach(async () => {
  front = await startFront({ now: NOW, mailLimits: { perNetwork: 1000, perAddress: 1000 } });
});
afterEach(() => front[Symbol.asyncDispose]());

const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  postForm(front.app, path, fields, headers);
const BROWSER = { accept: 'text/html,application/xhtml+xml' };
const signUp = (email: string, more: Record<string, string> = {}, headers = {}) =>
  post('/signup', { email, terms: 'on', ...more }, headers);
const send = (key: string) =>
  front.app.inject({ url: '/v1/stops/search?q=central', headers: { authorization: `Bearer ${key}` } });

describe('signing up', () => {
  it('a signup mails a key that works and shows it on no page', async () => {
    const response = await signUp('Jo@Example.com', { label: 'phone' }, BROWSER);
    expect(response.statusCode).toBe(303);
    const page = await front.app.inject({ url: String(response.headers.location), headers: BROWSER });
    expect(page.body).not.toMatch(/tis_(live|test)_/);

    const [mail, ...others] = await front.readOutbox();
    expect(others).toEqual([]);
    expect(mail?.to).toEqual([{ name: '', address: 'jo@example.com' }]);
    const key = keyIn(mail as never);
    expect(mail?.html).toContain(key);
    for (const text of [mail?.text, mail?.html]) {
      expect(text).toContain(`${front.url}/docs`);
      expect(text).toContain(`${front.url}/keys`);
      expect(text).toMatch(/1,000 requests a day/);
    }
    expect((await send(key)).statusCode).toBe(200);
  });

  it.each([
    ['test keys where the sandbox answers', true, 'test'],
    ['live keys everywhere else', false, 'live'],
  ])('a signup mails %s', async (_name, isSandbox, kind) => {
    await using service = await startFront({ now: NOW, isSandbox });
    await service.app.inject({ method: 'POST', url: '/signup', payload: { email: 'jo@example.com', terms: true } });
    const key = keyIn((await service.readOutbox())[0] as never);
    expect(parseKey(key)?.kind).toBe(kind);
    const headers = { authorization: `Bearer ${key}` };
    expect((await service.app.inject({ url: '/v1/stops/search?q=central', headers })).statusCode).toBe(200);
  });

  it('a signup mails a curl command that works', async () => {
    await signUp('jo@example.com');
    const [mail] = await front.readOutbox();
    const [, key, url] = /curl -H "Authorization: Bearer (\S+)" "(\S+)"/.exec(mail?.text ?? '') ?? [];
    const response = await fetch(url ?? '', { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
  });

  it('a signup answers the same for known and unknown addresses, and adds keys to the same account', async () => {
    const withoutId = ({ 'x-request-id': _, date: __, ...headers }: Record<string, unknown>) => headers;
    const first = await signUp('jo@example.com');
    const second = await signUp('JO@example.com ');
    expect([second.statusCode, second.body]).toEqual([first.statusCode, first.body]);
    expect(withoutId(second.headers)).toEqual(withoutId(first.headers));
    const keys = (await front.readOutbox()).map(keyIn);
    expect(new Set(keys).size).toBe(2);
    expect(new Set(keys.map((key) => parseKey(key)?.accountId)).size).toBe(1);
  });

  it('a signup mails how to make room instead of a sixth key', async () => {
    const responses = [];
    for (let count = 0; count < 6; count++) responses.push(await signUp('jo@example.com'));
    expect(new Set(responses.map(({ statusCode, body }) => statusCode + body)).size).toBe(1);
    const mails = await front.readOutbox();
    expect(mails.slice(0, 5).map(keyIn)).toHaveLength(5);
    expect(mails[5]?.text).toMatch(/5 keys/);
    expect(mails[5]?.text).toContain(`${front.url}/keys`);
    expect(mails[5]?.text).not.toMatch(/tis_(live|test)_/);
  });

  it.each([
    ['no address', { terms: 'on' }, 'email'],
    ['an invalid address', { email: 'jo', terms: 'on' }, 'email'],
    ['terms not accepted', { email: 'jo@example.com' }, 'terms'],
    ['too long a label', { email: 'jo@example.com', terms: 'on', label: 'x'.repeat(41) }, 'label'],
  ])('a signup shows the problem beside its field: %s', async (_name, fields: Record<string, string>, field) => {
    const page = await post('/signup', fields, BROWSER);
    expect(page.statusCode).toBe(400);
    expect(page.body).toContain(`aria-describedby="${field}-error"`);
    expect(page.body).toContain('role="alert"');
    const json = await post('/signup', fields);
    expect(json.json()).toMatchObject({
      error: { code: 'INVALID_PARAMETER', message: expect.stringContaining(`${field}: `) },
    });
    expect(await front.readOutbox()).toEqual([]);
  });

  it.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
  ])('a signup from a form of another site sends no mail: %j', async (headers) => {
    expect((await signUp('jo@example.com', {}, { ...BROWSER, ...headers })).statusCode).toBe(400);
    expect(await front.readOutbox()).toEqual([]);
  });

  it('a signup accepts JSON', async () => {
    const response = await front.app.inject({
      method: 'POST',
      url: '/signup',
      payload: { email: 'jo@example.com', terms: true },
    });
    expect(response.statusCode).toBe(202);
    expect((await front.readOutbox()).map(keyIn)).toHaveLength(1);
  });
});

describe('the throttle', () => {
  it.each([
    ['an address', { perNetwork: 1000, perAddress: 2 }, ['jo@example.com', 'jo@example.com', 'jo@example.com']],
    ['a network', { perNetwork: 2, perAddress: 1000 }, ['a@example.com', 'b@example.com', 'c@example.com']],
  ])(
    'the throttle limits mails for %s, as a page and as JSON, until the window ends',
    async (_name, mailLimits, emails) => {
      await using throttled = await startFront({ now: NOW, mailLimits });
      const send = (email: string | undefined, headers = {}) =>
        throttled.app.inject({ method: 'POST', url: '/signup', headers, payload: { email, terms: true } });
      await send(emails[0]);
      await send(emails[1]);
      const json = await send(emails[2]);
      expect(json.statusCode).toBe(429);
      expect(json.json()).toMatchObject({ error: { code: 'TOO_MANY_REQUESTS' } });
      const page = await send(emails[2], BROWSER);
      expect(page.statusCode).toBe(429);
      expect(page.headers['content-type']).toMatch(/html/);
      expect(await throttled.readOutbox()).toHaveLength(2);

      throttled.clock.now = new Date(throttled.clock.now.getTime() + Number(page.headers['retry-after']) * 1000);
      expect((await send(emails[2])).statusCode).toBe(202);
    },
  );
});
