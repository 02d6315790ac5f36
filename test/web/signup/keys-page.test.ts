import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Front, keyIn, linkIn, openKeysPage, postForm, startFront, tokenIn } from '../../support/front.ts';

const NOW = '2026-11-20T02:00:20Z';
let front: Front;

beforeEach(async () => {
  front = await startFront({ now: NOW, mailLimits: { perNetwork: 1000, perAddress: 1000 } });
});
afterEach(() => front[Symbol.asyncDispose]());

const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  postForm(front.app, path, fields, headers);
const BROWSER = { accept: 'text/html,application/xhtml+xml' };
const signUp = (email: string, more: Record<string, string> = {}) => post('/signup', { email, terms: 'on', ...more });
const send = (key: string, more = {}) =>
  front.app.inject({ url: '/v1/stops/search?q=central', headers: { authorization: `Bearer ${key}`, ...more } });

async function openKeys(email = 'jo@example.com') {
  // Of two links made at the same moment, only one can be used.
  front.clock.now = new Date(front.clock.now.getTime() + 1);
  await post('/keys/link', { email });
  const { page, token } = await openKeysPage(front.app, (await front.readOutbox()).at(-1) as never);
  const hashes = [...page.body.matchAll(/name="key" value="(\w+)"/g)].map(([, hash]) => hash ?? '');
  return { page, token, hashes: [...new Set(hashes)] };
}

it('the page of keys shows last four, label, creation, last use and 30 days of usage, but not the key', async () => {
  await signUp('jo@example.com', { label: 'phone <b>' });
  const key = keyIn((await front.readOutbox())[0] as never);
  for (let count = 0; count < 3; count++) await send(key);
  const { page } = await openKeys();
  expect(page.statusCode).toBe(200);
  expect(page.body).not.toContain(key);
  expect(page.body).toContain(`…${key.slice(-4)}`);
  expect(page.body).toContain('phone &#60;b&#62;');
  expect(page.body.replaceAll(/<[^>]*>/g, '')).toContain('Created 2026-11-20 · last used 2026-11-20 (UTC)');
  expect(page.body).toContain('2026-11-20: 3');
  expect(page.body.match(/<rect class="hit"/g)).toHaveLength(30);
  expect(page.headers['cache-control']).toBe('no-store');
});

it('an address that has used up its signups still gets links to its keys', async () => {
  await using busy = await startFront({ now: NOW, mailLimits: { perNetwork: 1000, perAddress: 2 } });
  const sent = (url: string) =>
    busy.app.inject({ method: 'POST', url, payload: { email: 'jo@example.com', terms: true } });
  for (let count = 0; count < 3; count++) await sent('/signup');
  expect((await sent('/signup')).statusCode).toBe(429);
  expect((await sent('/keys/link')).statusCode).toBe(202);

  // When the links are used up too, the last one works until the next may be requested.
  await sent('/keys/link');
  const link = new URL(linkIn((await busy.readOutbox()).at(-1) as never));
  const requestedAt = busy.clock.now.getTime();
  busy.clock.now = new Date(requestedAt + 1_799_000);
  expect((await sent('/keys/link')).statusCode).toBe(429);
  expect((await busy.app.inject({ url: link.pathname + link.search, headers: BROWSER })).statusCode).toBe(200);
  busy.clock.now = new Date(requestedAt + 1_800_000);
  expect((await sent('/keys/link')).statusCode).toBe(202);
});

it('the page of keys revokes a key at once', async () => {
  await signUp('jo@example.com');
  const key = keyIn((await front.readOutbox())[0] as never);
  const { token, hashes } = await openKeys();
  const response = await post('/keys/revoke', { token, key: hashes[0] ?? '' }, BROWSER);
  expect(response.statusCode).toBe(200);
  expect((await send(key)).statusCode).toBe(401);
  expect(response.body).toContain('is revoked');
});

it.each([
  [0, '2026-11-20T02:00:20Z', 401],
  [3, '2026-11-23T23:59:59Z', 200],
  [3, '2026-11-24T00:00:01Z', 401],
])('a key replaced with %d days of overlap: at %s the old key gets %d', async (overlap, at, status) => {
  await signUp('jo@example.com', { label: 'phone' });
  const old = keyIn((await front.readOutbox())[0] as never);
  const { token, hashes } = await openKeys();
  const response = await post('/keys/rotate', { token, key: hashes[0] ?? '', overlap: String(overlap) }, BROWSER);
  expect(response.statusCode).toBe(200);
  const mail = (await front.readOutbox()).at(-1);
  expect(mail?.text).toContain(old.slice(-4));
  front.clock.now = new Date(at);
  expect((await send(keyIn(mail as never))).statusCode).toBe(200);
  expect((await send(old)).statusCode).toBe(status);
});

it('only responses to a replaced key give the times of its replacement and its end', async () => {
  await signUp('jo@example.com');
  const old = keyIn((await front.readOutbox())[0] as never);
  const { token, hashes } = await openKeys();
  expect((await send(old)).headers).not.toHaveProperty('sunset');
  await post('/keys/rotate', { token, key: hashes[0] ?? '', overlap: '3' }, BROWSER);
  front.clock.now = new Date('2026-11-21T09:00:00Z');
  const { headers } = await send(old, { origin: 'https://app.example' });
  expect(headers).toMatchObject({
    deprecation: `@${Date.parse('2026-11-20T02:00:20Z') / 1000}`,
    sunset: 'Tue, 24 Nov 2026 00:00:00 GMT',
  });
  for (const name of ['Deprecation', 'Sunset']) expect(headers['access-control-expose-headers']).toContain(name);
  const fresh = await send(keyIn((await front.readOutbox()).at(-1) as never));
  expect(fresh.headers).not.toHaveProperty('deprecation');
});

it('a key can be replaced when the address has five', async () => {
  for (let count = 0; count < 5; count++) await signUp('jo@example.com');
  const { token, hashes } = await openKeys();
  await post('/keys/rotate', { token, key: hashes[0] ?? '', overlap: '0' });
  expect(keyIn((await front.readOutbox()).at(-1) as never)).toBeTruthy();
  expect((await openKeys()).page.body).toContain('5 of 5 in use');
});

const FORGED: [string, (token: string) => string][] = [
  ['a made-up signature', (token) => `${token.slice(0, -3)}AAA`],
  ['another account', (token) => `other123${token.slice(8)}`],
  ['a longer time', (token) => token.replace(/\.\d+\./, '.9999999999999.')],
  ['a moment that begins with zero', (token) => token.replace(/\.\d+\./, '.0999999999999.')],
  ['nonsense', () => '"><script>'],
];

async function requestLink(email = 'jo@example.com') {
  await post('/keys/link', { email });
  const link = new URL(linkIn((await front.readOutbox()).at(-1) as never));
  return { path: link.pathname + link.search, token: link.searchParams.get('token') ?? '' };
}

const openLink = async ({ path, token }: Awaited<ReturnType<typeof requestLink>>) => ({
  opened: await front.app.inject({ url: path, headers: BROWSER }),
  used: await post('/keys', { token }, BROWSER),
});

describe('a link to the keys', () => {
  it('a link to the keys waits for a click, and then works once', async () => {
    await signUp('jo@example.com');
    const link = await requestLink();
    for (let scan = 0; scan < 3; scan++) {
      const page = await front.app.inject({ url: link.path, headers: BROWSER });
      expect(page.statusCode).toBe(200);
      expect(page.body).not.toContain('jo@example.com');
      expect(page.body).toContain('<button>Open your keys</button>');
    }
    const first = await post('/keys', { token: link.token }, BROWSER);
    expect([first.statusCode, first.headers.location]).toEqual([200, undefined]);
    expect(first.body).toContain('jo@example.com');
    const second = await post('/keys', { token: link.token }, BROWSER);
    expect(second.statusCode).toBe(400);
    expect(second.body).toContain('has been used');
    expect(second.body).toContain('action="/keys/link"');
    expect(second.body).not.toContain('jo@example.com');
  });

  it('a link opens the keys for only one of several concurrent requests', async () => {
    await signUp('jo@example.com');
    const { token } = await requestLink();
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => (await post('/keys', { token }, BROWSER)).statusCode),
    );
    expect(statuses.toSorted()).toEqual([200, ...Array(9).fill(400)]);
  });

  it('a link ends when a later one is used, but not when an earlier one is used', async () => {
    await signUp('jo@example.com');
    const links = [];
    for (let count = 0; count < 3; count++) {
      front.clock.now = new Date(front.clock.now.getTime() + 1000);
      links.push(await requestLink());
    }
    const [first, second, third] = links as [(typeof links)[0], (typeof links)[0], (typeof links)[0]];
    expect((await openLink(second)).used.statusCode).toBe(200);
    expect((await openLink(first)).used.statusCode).toBe(400);
    expect((await openLink(third)).used.statusCode).toBe(200);
  });

  it.each([
    ['revoke', {}],
    ['rotate', { overlap: '0' }],
    ['rotate', { overlap: '7' }],
  ])('a link and every open page end with a revocation: %s %j', async (action, fields) => {
    await signUp('jo@example.com');
    await signUp('jo@example.com');
    const other = await openKeys();
    front.clock.now = new Date(front.clock.now.getTime() + 1000);
    const { token, hashes } = await openKeys();
    front.clock.now = new Date(front.clock.now.getTime() + 1000);
    const unused = await requestLink();
    const changed = await post(`/keys/${action}`, { token, key: hashes[0] ?? '', ...fields }, BROWSER);
    expect(changed.statusCode).toBe(200);
    const { opened, used } = await openLink(unused);
    expect([opened.statusCode, used.statusCode]).toEqual([400, 400]);
    const sent = (await front.readOutbox()).length;
    for (const one of [token, other.token]) expect((await post('/keys/new', { token: one })).statusCode).toBe(400);
    expect((await front.readOutbox()).length).toBe(sent);
    expect((await post('/keys/new', { token: tokenIn(changed.body) })).statusCode).toBe(200);
  });

  it('a link ends when its account is deleted', async () => {
    await signUp('jo@example.com');
    const link = await requestLink();
    const account = await front.store.loadAccountByEmail('jo@example.com');
    await front.store.deleteAccount(account?.id ?? '', front.clock.now.getTime());
    await signUp('jo@example.com');
    const { opened, used } = await openLink(link);
    expect([opened.statusCode, used.statusCode]).toEqual([400, 400]);
  });

  it('a link and the page that it opened end after 30 minutes each', async () => {
    await signUp('jo@example.com');
    const link = await requestLink();
    front.clock.now = new Date('2026-11-20T02:30:19.999Z');
    const page = (await openLink(link)).used;
    expect(page.statusCode).toBe(200);
    front.clock.now = new Date('2026-11-20T02:30:20Z');
    expect((await openLink(link)).opened.statusCode).toBe(400);
    front.clock.now = new Date('2026-11-20T03:00:19.998Z');
    const later = await post('/keys/new', { token: tokenIn(page.body) });
    expect(later.statusCode).toBe(200);
    front.clock.now = new Date('2026-11-20T03:00:20Z');
    for (const { body } of [page, later])
      expect((await post('/keys/new', { token: tokenIn(body) })).statusCode).toBe(400);
  });

  it.each(FORGED)('the keys page refuses a link with %s', async (_name, forge) => {
    await signUp('jo@example.com');
    const { token: link } = await requestLink();
    for (const page of [
      await front.app.inject({ url: `/keys?token=${encodeURIComponent(forge(link))}`, headers: BROWSER }),
      await post('/keys', { token: forge(link) }, BROWSER),
    ]) {
      expect(page.statusCode).toBe(400);
      expect(page.body).not.toContain('jo@example.com');
      expect(page.body).not.toContain('"><script>');
    }
    const { token, hashes } = await openKeys();
    for (const one of [forge(token), link])
      expect((await post('/keys/revoke', { token: one, key: hashes[0] ?? '' })).statusCode).toBe(400);
    expect((await post('/keys', { token })).statusCode).toBe(400);
  });
});

it('a link cannot revoke a key of another account', async () => {
  await signUp('jo@example.com');
  await signUp('mo@example.com');
  const mo = await openKeys('mo@example.com');
  const jo = await openKeys('jo@example.com');
  const response = await post('/keys/revoke', { token: mo.token, key: jo.hashes[0] ?? '' });
  expect(response.statusCode).toBe(400);
  expect((await openKeys('jo@example.com')).page.body).toContain('1 of 5 in use');
});

it('the request for a link has the same response for an unknown address, and only the mail says that it has no keys', async () => {
  await signUp('jo@example.com');
  const known = await post('/keys/link', { email: 'jo@example.com' });
  const unknown = await post('/keys/link', { email: 'nobody@example.com' });
  expect([unknown.statusCode, unknown.body]).toEqual([known.statusCode, known.body]);
  const mail = (await front.readOutbox()).at(-1);
  expect(mail?.to).toEqual([{ name: '', address: 'nobody@example.com' }]);
  expect(mail?.text).not.toContain('token=');
});

it('GET changes nothing, because mail scanners open links', async () => {
  await signUp('jo@example.com');
  const { token, hashes } = await openKeys();
  for (const action of ['revoke', 'rotate']) {
    const response = await front.app.inject({ url: `/keys/${action}?token=${token}&key=${hashes[0]}&overlap=0` });
    expect(response.statusCode).toBe(405);
  }
  expect((await openKeys()).page.body).toContain('1 of 5 in use');
});

it('further keys, up to five, are mailed and have the plan of the account', async () => {
  await signUp('jo@example.com');
  const account = await front.store.loadAccountByEmail('jo@example.com');
  await front.store.setPlan(account?.id ?? '', 'developer');
  const { token } = await openKeys();
  for (let count = 2; count <= 5; count++) {
    const page = await post('/keys/new', { token, label: `tablet ${count}` }, BROWSER);
    expect(page.statusCode).toBe(200);
    const mail = (await front.readOutbox()).at(-1);
    expect(mail?.text).toMatch(/50,000 requests a day/);
    expect((await send(keyIn(mail as never))).statusCode).toBe(200);
    expect(page.body).toContain('new key was sent to your inbox');
    expect(page.body).toContain(`tablet ${count}`);
  }
  const sent = (await front.readOutbox()).length;
  const refused = await post('/keys/new', { token, label: '' });
  expect(refused.json()).toMatchObject({
    error: { code: 'INVALID_PARAMETER', message: expect.stringMatching(/5 keys/) },
  });
  expect((await front.readOutbox()).length).toBe(sent);
  expect((await openKeys()).page.body).not.toContain('action="/keys/new"');
});

it('no key is added without a valid link or with a bad label', async () => {
  await signUp('jo@example.com');
  const { token } = await openKeys();
  const sent = (await front.readOutbox()).length;
  expect((await post('/keys/new', { token: `${token.slice(0, -3)}AAA` })).statusCode).toBe(400);
  expect((await post('/keys/new', { token, label: 'x'.repeat(41) })).statusCode).toBe(400);
  expect((await front.readOutbox()).length).toBe(sent);
});

it('a replaced key that still works does not count towards the five keys of an account', async () => {
  for (let count = 0; count < 5; count++) await signUp('jo@example.com');
  const { token, hashes } = await openKeys();
  await post('/keys/rotate', { token, key: hashes[0] ?? '', overlap: '3' });
  const { page } = await openKeys();
  expect(page.body).toContain('5 of 5 in use');
  const seen = page.body.replaceAll(/<[^>]*>/g, '');
  expect(seen).toContain('works until 2026-11-24 11:00 Sydney time (2026-11-24 00:00 UTC)');
  expect(seen).toContain('24 Nov, 11:00');
});

it('a revocation sends the owner one mail', async () => {
  await signUp('jo@example.com', { label: 'phone' });
  const key = keyIn((await front.readOutbox())[0] as never);
  const { token, hashes } = await openKeys();
  const sent = (await front.readOutbox()).length;
  for (let count = 0; count < 2; count++) await post('/keys/revoke', { token, key: hashes[0] ?? '' });
  const mails = (await front.readOutbox()).slice(sent);
  expect(mails.map(({ subject }) => subject)).toEqual(['Your API key was revoked']);
  expect(mails[0]?.to).toEqual([{ name: '', address: 'jo@example.com' }]);
  for (const text of [mails[0]?.text, mails[0]?.html]) {
    expect(text).toContain(key.slice(-4));
    expect(text).toContain(`${front.url}/keys`);
    expect(text).not.toMatch(/phone|token=|tis_/);
  }
});

it('the page of keys shows how often tokens of a key were refused, and why', async () => {
  await signUp('jo@example.com');
  const headers = { authorization: `Bearer ${keyIn((await front.readOutbox())[0] as never)}` };
  const payload = { operations: ['/v1/departures'] };
  const { token } = (await front.app.inject({ method: 'POST', url: '/v1/tokens', headers, payload })).json();
  const shown = async () => (await openKeys()).page.body.replaceAll(/<[^>]*>/g, '');
  expect(await shown()).not.toContain('Refused with tokens');
  expect((await send(token)).statusCode).toBe(403);
  await expect
    .poll(shown, { timeout: 15_000, interval: 500 })
    .toContain('Refused with tokens of this key in the last seven days: operation not chosen 1');
});

describe('the publishable keys on the page of keys', () => {
  const wanted = { origins: 'https://www.example.org\nhttps://*.example.net', perDay: '300', perVisitorHour: '50' };
  const sendFrom = (key: string, origin: string) =>
    front.app.inject({ url: '/v1/stops/search?q=central', headers: { authorization: `Bearer ${key}`, origin } });

  it('a publishable key has its origins, operations and limits, comes by mail, and shows its requests and refusals', async () => {
    await signUp('jo@example.com');
    const { token } = await openKeys();
    const operations = ['/v1/stops/search', '/v1/departures'];
    const response = await front.app.inject({
      method: 'POST',
      url: '/keys/publishable',
      headers: BROWSER,
      payload: { token, label: 'map', operations, ...wanted },
    });
    expect(response.statusCode).toBe(200);
    const mail = (await front.readOutbox()).at(-1);
    expect(mail?.subject).toBe('Your publishable key');
    const key = keyIn(mail as never);
    expect(key).toMatch(/^tis_pub_/);
    expect((await sendFrom(key, 'https://www.example.org')).statusCode).toBe(200);
    expect((await sendFrom(key, 'https://evil.example')).statusCode).toBe(403);
    const shown = async () => (await openKeys()).page.body.replaceAll(/<[^>]*>/g, '');
    await expect
      .poll(shown, { timeout: 15_000, interval: 500 })
      .toContain('Last seven days: 1 request, refused: wrong origin 1');
    const text = await shown();
    expect(text).toMatch(/Day \(UTC\)RequestsRefused: wrong origin\s+2026-11-2011\s+2026-11-1900/);
    expect(text).toContain('For https://www.example.org, https://*.example.net');
    expect(text).toContain('For /v1/stops/search, /v1/departures');
    expect(text).toContain('300 requests a day, 50 an hour for each visitor');
  });

  it('a replaced publishable key keeps its restrictions, and opens no wall board', async () => {
    await signUp('jo@example.com');
    const { token } = await openKeys();
    await post('/keys/publishable', { token, ...wanted }, BROWSER);
    const { page, token: later, hashes } = await openKeys();
    expect(page.body.match(/Wall display/g)).toHaveLength(1);
    const boardOf = (hash = '') => post('/keys/board', { token: later, key: hash, stop: '200070' });
    expect((await Promise.all(hashes.map(boardOf))).map(({ statusCode }) => statusCode)).toEqual([400, 303]);
    await post('/keys/rotate', { token: later, key: hashes[0] ?? '', overlap: '0' }, BROWSER);
    const key = keyIn((await front.readOutbox()).at(-1) as never);
    expect(key).toMatch(/^tis_pub_/);
    expect((await sendFrom(key, 'https://a.example.net')).statusCode).toBe(200);
    expect((await sendFrom(key, 'https://evil.example')).statusCode).toBe(403);
  });

  it('the form for a publishable key keeps the input when part of it is wrong', async () => {
    await signUp('jo@example.com');
    const { token } = await openKeys();
    const fields = { token, ...wanted, label: 'my "map"', apps: 'on', operations: '/v1/trips', perDay: '5000' };
    const { statusCode, body } = await post('/keys/publishable', fields, BROWSER);
    expect(statusCode).toBe(400);
    expect(body).toContain('Enter a whole number from 1 to 1,000.');
    expect(body).toContain('value="my &#34;map&#34;"');
    expect(body).toContain('>https://www.example.org\nhttps://*.example.net</textarea>');
    expect(body).toMatch(/name="apps" checked/);
    expect(body).toMatch(/value="\/v1\/trips" checked/);
    const again =
      /action="\/keys\/publishable"><input type="hidden" name="token" value="([^"]+)"/.exec(body)?.[1] ?? '';
    expect((await post('/keys/publishable', { ...fields, token: again, perDay: '300' }, BROWSER)).statusCode).toBe(200);
  });

  it.each([
    [{ origins: '' }, 'origins: Name at least one origin'],
    [{ origins: 'www.example.org' }, 'origins: "www.example.org" is not an origin'],
    [{ origins: 'https://*.github.io' }, 'origins: "https://*.github.io" covers sites of many owners'],
    [{ perDay: '1001' }, 'perDay: Enter a whole number from 1 to 1,000.'],
    [{ perVisitorHour: '0' }, 'perVisitorHour: Enter a whole number from 1 to 300.'],
    [{ operations: '/v1/everything' }, 'operations: "/v1/everything" is not one of'],
  ])('a publishable key is not created with %o', async (wrong, message) => {
    await signUp('jo@example.com');
    const { token } = await openKeys();
    const response = await post('/keys/publishable', { token, ...wanted, ...wrong });
    expect(response.statusCode).toBe(400);
    expect(response.json().error.message).toContain(message);
  });
});
