import { expect, it } from 'vitest';
import { keyIn, startFront } from '../support/front.ts';
import { startSmtp } from '../support/smtp.ts';

const FORM = { email: 'jo@example.com', terms: true };
const BROWSER = { accept: 'text/html' };

it('sends the mail to the configured SMTP server', async () => {
  await using smtp = await startSmtp();
  await using front = await startFront({ smtpUrl: smtp.url });
  expect((await front.app.inject({ method: 'POST', url: '/signup', payload: FORM })).statusCode).toBe(202);
  expect(smtp.received).toHaveLength(1);
  const { recipients, mail } = smtp.received[0] as NonNullable<(typeof smtp.received)[0]>;
  expect(recipients).toEqual(['jo@example.com']);
  expect(mail.from).toEqual({ name: 'Transit Information Service', address: 'keys@example.test' });
  const answer = await fetch(`${front.url}/v1/stops/search?q=central`, {
    headers: { authorization: `Bearer ${keyIn(mail)}` },
  });
  expect(answer.status).toBe(200);
  expect(await front.readOutbox()).toEqual([]);
});

it.each([
  ['refuses the address', async () => startSmtp({ refuse: true })],
  ['is unreachable', async () => ({ url: 'smtp://127.0.0.1:9', [Symbol.asyncDispose]: async () => {} })],
])('leaves no valid key when the mail server %s, and answers 503 with advice', async (_name, start) => {
  await using smtp = await start();
  await using front = await startFront({ smtpUrl: smtp.url });
  const json = await front.app.inject({ method: 'POST', url: '/signup', payload: FORM });
  expect(json.statusCode).toBe(503);
  expect(json.json()).toMatchObject({
    error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('try again') },
  });
  const page = await front.app.inject({ method: 'POST', url: '/signup', headers: BROWSER, payload: FORM });
  expect(page.statusCode).toBe(503);
  expect(page.body).toMatch(/role="alert".*could not be sent/);
  expect(page.headers['retry-after']).toBe('300');

  const account = await front.store.findAccountByEmail('jo@example.com');
  const keys = await front.store.listKeys(account?.id ?? '');
  expect(keys.map(({ revokedAt }) => revokedAt !== null)).toEqual([true, true]);
});
