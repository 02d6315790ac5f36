import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium, openWindow } from '../support/chromium.ts';
import { type Front, keyIn, linkIn, startFront } from '../support/front.ts';
import { startSmtp } from '../support/smtp.ts';

let browser: Browser;
let front: Front;
let elsewhere: Server;
let elsewhereUrl: string;

beforeAll(async () => {
  browser = await launchChromium();
  front = await startFront();
  elsewhere = createServer((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><link rel="icon" href="data:,"><title>Another origin</title>');
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  elsewhereUrl = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
});

afterAll(async () => {
  await browser?.close();
  await front?.[Symbol.asyncDispose]();
  elsewhere?.close();
});

const hosts = (one: Front) => [new URL(one.url).host, new URL(elsewhereUrl).host];

/** Signs up by keyboard only. */
async function signUpByKeyboard(one: Front, email: string, then = 'The mail was written to a file') {
  const { page, context, complaints } = await openWindow(browser, { hosts: hosts(one) });
  await page.goto(`${one.url}/signup`);
  await page.getByLabel('Email address').focus();
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type('my phone');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: then }).waitFor();
  expect(await page.content()).not.toMatch(/tis_(live|test)_/);
  expect(complaints).toEqual([]);
  return { page, context, complaints };
}

it('a key from the .eml file of a signup works from another origin', async () => {
  const { page, context } = await signUpByKeyboard(front, 'jo@example.com');
  const key = keyIn((await front.readOutbox())[0] as never);
  await page.goto(elsewhereUrl);
  const responses = await page.evaluate(
    async ([url, good]) => {
      const send = async (key: string) => {
        const response = await fetch(`${url}/v1/departures?stop=200070&modes=all`, {
          headers: { authorization: `Bearer ${key}` },
        });
        const { headers, status } = response;
        return {
          status,
          body: await response.json(),
          limit: headers.get('ratelimit'),
          policy: headers.get('ratelimit-policy'),
          id: headers.get('x-request-id'),
        };
      };
      return { good: await send(good ?? ''), wrong: await send('tis_live_wrong') };
    },
    [front.url, key],
  );
  expect(responses.good).toMatchObject({
    status: 200,
    body: { stop_name: 'Town Hall Station' },
    limit: expect.stringMatching(/^"daily";r=999;t=\d+$/),
    policy: '"daily";q=1000;w=86400',
  });
  expect(responses.wrong).toMatchObject({
    status: 401,
    body: { error: { code: 'UNAUTHORIZED', docs: `${front.url}/docs/errors/UNAUTHORIZED` } },
  });
  expect(responses.wrong.id).toBeTruthy();
  await context.close();
});

it('a key mailed by a real SMTP server after signup works', async () => {
  await using smtp = await startSmtp();
  await using mailed = await startFront({ smtpUrl: smtp.url });
  const { page, context, complaints } = await signUpByKeyboard(mailed, 'mo@example.com', 'Check your inbox');
  const { recipients, mail } = smtp.received[0] as NonNullable<(typeof smtp.received)[0]>;
  expect(recipients).toEqual(['mo@example.com']);
  await page.goto(elsewhereUrl);
  const status = await page.evaluate(
    async ([url, key]) =>
      (await fetch(`${url}/v1/stops/search?q=quay`, { headers: { authorization: `Bearer ${key}` } })).status,
    [mailed.url, keyIn(mail)],
  );
  expect(status).toBe(200);
  expect(complaints).toEqual([]);
  await context.close();
});

it('signup works without JavaScript, from a wrong form to a new key with the old one revoked', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${front.url}/signup`);
  await page.getByLabel('Email address').fill('not an address');
  await page.getByRole('button', { name: 'Send me a key' }).click();
  await page.getByRole('alert').first().waitFor();
  expect(await page.getByLabel('Email address').getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel('Email address').inputValue()).toBe('not an address');

  await page.getByLabel('Email address').fill('zoe@example.com');
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Send me a key' }).click();
  await page.getByRole('heading', { name: 'The mail was written to a file' }).waitFor();
  const key = keyIn((await front.readOutbox()).at(-1) as never);

  await page.goto(`${front.url}/keys`);
  await page.getByLabel('Email address').fill('zoe@example.com');
  await page.getByRole('button', { name: 'Send me the link' }).click();
  await page.getByRole('heading', { name: 'The mail was written to a file' }).waitFor();
  const link = linkIn((await front.readOutbox()).at(-1) as never);
  await page.goto(link);
  await page.getByRole('button', { name: 'Open your keys' }).click();
  await page.getByText('Rotate key').click();
  await page.getByLabel('Old key stops:').selectOption('1');
  await page.getByRole('button', { name: 'Send me a new key' }).click();
  await page.getByRole('status').filter({ hasText: 'A new key was sent to your inbox' }).waitFor();
  const fresh = keyIn((await front.readOutbox()).at(-1) as never);

  const old = page.getByRole('region', { name: `Key ending in ${key.slice(-4)}` });
  expect(await old.textContent()).toContain('works until');
  await old.getByText('Revoke key').click();
  await old.getByRole('button', { name: `Yes, revoke …${key.slice(-4)}` }).click();
  await page.getByRole('status').filter({ hasText: 'is revoked' }).waitFor();
  const send = async (one: string) =>
    (await fetch(`${front.url}/v1/stops/search?q=quay`, { headers: { authorization: `Bearer ${one}` } })).status;
  expect([await send(key), await send(fresh)]).toEqual([401, 200]);
  expect(page.url()).not.toContain('token');
  await page.goto(link);
  await page.getByRole('alert').filter({ hasText: 'Request a new one' }).waitFor();
  await context.close();
});
