import { describe, expect, it, vi } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { createInstruments } from '#src/extensions/telemetry/instruments.ts';
import { LINK_SECRET } from '#test/support/ids.ts';
import { createMagicLinks } from '#web/signup/magic-link.ts';
import { issueTestKey } from '../../support/access.ts';
import { freePort } from '../../support/free-port.ts';
import { type Front, keyIn, startFront } from '../../support/front.ts';
import { type SmtpFault, startFaultySmtp, startSmtp } from '../../support/smtp.ts';

const FORM = { email: 'jo@example.com', terms: true };
const BROWSER = { accept: 'text/html' };

const post = (front: Front, url: string, payload: object, headers = {}) =>
  front.app.inject({ method: 'POST', url, payload, headers });

async function liveKeys(front: Front): Promise<string[]> {
  const account = await front.store.loadAccountByEmail('jo@example.com');
  const keys = account ? await front.store.listKeys(account.id) : [];
  return keys.filter(({ revokedAt }) => revokedAt === null).map(({ hash }) => hash);
}

/** The hash of a valid key, and the token of an open page of the keys of its account. */
async function issueWithLink(front: Front): Promise<{ key: string; token: string }> {
  const issued = parseKey(await issueTestKey(front.store, { email: 'jo@example.com' }));
  const now = () => front.clock.now;
  const links = createMagicLinks({
    secrets: [LINK_SECRET],
    publicUrl: front.url,
    accounts: front.store,
    now: () => now().getTime(),
  });
  const link = new URL(await links.createUrl(issued?.accountId ?? '')).searchParams.get('token');
  const visit = await links.use(link ?? '');
  return { key: issued?.hash ?? '', token: visit ? await links.createVisitToken(visit) : '' };
}

it('mails go to the configured SMTP server', async () => {
  await using smtp = await startSmtp();
  await using front = await startFront({ smtpUrl: smtp.url });
  const accepted = await post(front, '/signup', FORM);
  expect([accepted.statusCode, accepted.json().message]).toEqual([202, expect.stringContaining('on its way')]);
  for (const url of ['/signup/sent', '/keys/sent']) expect((await front.app.inject(url)).body).toContain('on its way');
  expect(smtp.received).toHaveLength(1);
  const { recipients, mail } = smtp.received[0] as NonNullable<(typeof smtp.received)[0]>;
  expect(recipients).toEqual(['jo@example.com']);
  expect(mail.from).toEqual({ name: 'Transit Information Service', address: 'keys@example.test' });
  const response = await fetch(`${front.url}/v1/stops/search?q=central`, {
    headers: { authorization: `Bearer ${keyIn(mail)}` },
  });
  expect(response.status).toBe(200);
  expect(await front.readOutbox()).toEqual([]);
});

it('the page says where the mail is when there is no server to send it', async () => {
  await using front = await startFront();
  expect((await post(front, '/signup', FORM)).json().message).toContain('in the folder “outbox”');
  for (const url of ['/signup/sent', '/keys/sent']) {
    const { body } = await front.app.inject(url);
    expect(body).toContain('in the folder “outbox”');
    expect(body).not.toMatch(/on its way|inbox/);
  }
  const [written] = await front.readOutboxFiles();
  const [key] = /^ {4}tis_\w+\r?$/m.exec(written ?? '') ?? [];
  expect(written).toContain(
    `curl -H "Authorization: Bearer ${key?.trim()}" "${front.url}/v1/departures?stop=200070&modes=all&limit=5"`,
  );
});

const FAULTS: SmtpFault[] = [
  'hangs before the greeting',
  'hangs after RCPT',
  'hangs after the message',
  'never ends its greeting',
  'closes the connection',
  'answers 421',
];

describe.each<[string, () => Promise<{ url: string } & AsyncDisposable>]>([
  ['refuses the address', () => startSmtp({ refuse: true })],
  ['is unreachable', async () => ({ url: 'smtp://127.0.0.1:9', [Symbol.asyncDispose]: async () => {} })],
  ...FAULTS.map((fault): [string, () => Promise<{ url: string } & AsyncDisposable>] => [
    fault,
    () => startFaultySmtp(fault),
  ]),
])('when the SMTP server %s', { concurrent: true }, (name, start) => {
  if (name !== 'refuses the address')
    it('a signup reports that the mail is delayed', async () => {
      await using smtp = await start();
      await using front = await startFront({ smtpUrl: smtp.url, smtpTimeoutMs: 300 });
      const [json, page] = await Promise.all([post(front, '/signup', FORM), post(front, '/signup', FORM, BROWSER)]);
      expect([json.statusCode, json.json().status]).toEqual([202, 'delayed']);
      expect(json.json().message).toContain('retry for a day');
      expect([page.statusCode, page.headers.location]).toEqual([303, '/signup/later']);
      expect((await front.app.inject('/signup/later')).body).toContain('retry for a day');
      expect(await liveKeys(front)).toHaveLength(2);
    });

  it('a link request answers 503 when its mail cannot be sent', async () => {
    await using smtp = await start();
    await using front = await startFront({ smtpUrl: smtp.url, smtpTimeoutMs: 300 });
    expect((await post(front, '/keys/link', FORM)).statusCode).toBe(503);
  });

  it('a revocation holds when its mail cannot be sent, and the page says so', async () => {
    await using smtp = await start();
    // A refusal must arrive before the timeout, even on a busy machine.
    const isRefused = name === 'refuses the address';
    await using front = await startFront({ smtpUrl: smtp.url, ...(!isRefused && { smtpTimeoutMs: 300 }) });
    const { key, token } = await issueWithLink(front);
    const response = await post(front, '/keys/revoke', { token, key });
    expect(response.statusCode).toBe(200);
    expect(await liveKeys(front)).toEqual([]);
    expect(response.body).toMatch(
      isRefused ? /is revoked.*mail could not be sent/ : /is revoked.*will send a confirmation/,
    );
  });

  it('adding a key answers 503 and leaves no new valid key when its mail cannot be sent', async () => {
    await using smtp = await start();
    await using front = await startFront({ smtpUrl: smtp.url, smtpTimeoutMs: 300 });
    const { key, token } = await issueWithLink(front);
    expect((await post(front, '/keys/new', { token })).statusCode).toBe(503);
    expect(await liveKeys(front)).toEqual([key]);
  });

  it('replacing a key answers 503 and leaves only the old key valid when the mail cannot be sent', async () => {
    await using smtp = await start();
    await using front = await startFront({ smtpUrl: smtp.url, smtpTimeoutMs: 300 });
    const { key, token } = await issueWithLink(front);
    const response = await post(front, '/keys/rotate', { token, key, overlap: '0' });
    expect(response.statusCode).toBe(503);
    expect(await liveKeys(front)).toEqual([key]);
  });
});

it('an address that the SMTP server refuses gets a 503 with advice, and no valid key', async () => {
  await using smtp = await startSmtp({ refuse: true });
  await using front = await startFront({ smtpUrl: smtp.url });
  const [json, page] = await Promise.all([post(front, '/signup', FORM), post(front, '/signup', FORM, BROWSER)]);
  expect(json.statusCode).toBe(503);
  expect(json.json()).toMatchObject({
    error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('try again') },
  });
  expect(page.statusCode).toBe(503);
  expect(page.body).toMatch(/role="alert".*could not be sent/);
  expect(page.headers['retry-after']).toBe('300');
  expect(await liveKeys(front)).toEqual([]);
});

describe('a mail that could not be sent', () => {
  /** A front whose mail server is down, with the function that ends its waits, and its counts of mails. */
  async function startWithoutSmtp() {
    const port = await freePort();
    const waits: (() => void)[] = [];
    const instruments = createInstruments();
    const front = await startFront({
      smtpUrl: `smtp://127.0.0.1:${port}`,
      sleep: () => new Promise<void>((resolve) => waits.push(resolve)),
      instruments,
    });
    const counts = async () => {
      const { values } = await instruments.mails.get();
      return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
    };
    return { front, port, counts, wait: () => waits.shift()?.() };
  }

  it('a mail with a key is retried until the server accepts it, and the key works', async () => {
    const { front, port, counts, wait } = await startWithoutSmtp();
    await using _ = front;
    expect((await post(front, '/signup', FORM)).statusCode).toBe(202);
    expect((await post(front, '/signup', { ...FORM, email: 'ada@example.com' })).statusCode).toBe(202);
    expect(await counts()).toEqual({ failed: 2 });
    wait();
    await expect.poll(counts).toEqual({ failed: 3 });
    await using smtp = await startSmtp({ port });
    const retry = () => {
      wait();
      return smtp.received.length;
    };
    await expect.poll(retry).toBe(2);
    // The server has a mail before the service reads that it was accepted.
    await expect.poll(counts).toEqual({ failed: 3, sent: 2 });
    expect(smtp.received.map(({ recipients }) => recipients[0]).sort()).toEqual(['ada@example.com', 'jo@example.com']);
    for (const { mail } of smtp.received) {
      const headers = { authorization: `Bearer ${keyIn(mail)}` };
      expect((await fetch(`${front.url}/v1/stops/search?q=central`, { headers })).status).toBe(200);
    }
  });

  it('a mail is given up after a day, and at the end of the process, and its key is revoked', async () => {
    const { front, wait } = await startWithoutSmtp();
    await using _ = front;
    await post(front, '/signup', FORM);
    expect(await liveKeys(front)).toHaveLength(1);
    front.clock.now = new Date(front.clock.now.getTime() + 24 * 60 * 60_000);
    wait();
    await expect.poll(() => liveKeys(front)).toEqual([]);
    await post(front, '/signup', FORM);
    expect(await liveKeys(front)).toHaveLength(1);
    await front.app.close();
    expect(await liveKeys(front)).toEqual([]);
  });

  it('a mail is given up when the server refuses its address, and its key is revoked', async () => {
    const { front, port, counts, wait } = await startWithoutSmtp();
    await using _ = front;
    await post(front, '/signup', FORM);
    await using smtp = await startSmtp({ port, refuse: true });
    wait();
    await expect.poll(() => liveKeys(front)).toEqual([]);
    expect(await counts()).toEqual({ failed: 1, refused: 1 });
    expect(smtp.received).toEqual([]);
  });
});

it('the connection to an SMTP server that does not respond in time is closed', async () => {
  await using smtp = await startFaultySmtp('never ends its greeting');
  await using front = await startFront({ smtpUrl: smtp.url, smtpTimeoutMs: 300 });
  await post(front, '/signup', FORM);
  await vi.waitFor(() => expect([smtp.countOpened(), smtp.countConnections()]).toEqual([1, 0]), 60_000);
});

it('links signed with the previous secret work while it is replaced, and new ones use the new secret', async () => {
  await using front = await startFront();
  const { accountId = '' } = parseKey(await issueTestKey(front.store, { email: 'jo@example.com' })) ?? {};
  const linksOf = (...secrets: [string, ...string[]]) =>
    createMagicLinks({ secrets, publicUrl: front.url, accounts: front.store, now: () => front.clock.now.getTime() });
  const [before, both, after] = [linksOf('old'), linksOf('new', 'old'), linksOf('new')];
  const token = (url: string) => new URL(url).searchParams.get('token') ?? '';
  const [old, now] = [token(await before.createUrl(accountId)), token(await both.createUrl(accountId))];
  expect(await Promise.all([both, after].map(({ isValid }) => isValid(old)))).toEqual([true, false]);
  expect(await Promise.all([before, both, after].map(({ isValid }) => isValid(now)))).toEqual([false, true, true]);
  expect(both.verifyQuotaMails(token(before.createQuotaMailsUrl(accountId)))).toBe(accountId);
});
