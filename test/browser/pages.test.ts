import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchChromium, openWindow } from '../support/chromium.ts';
import { type Front, linkIn, startFront } from '../support/front.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 300_000 });

/** As text: the page's own policy lets no foreign script tag in. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Runs in the page, after axe. */
const FIND_SERIOUS = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? '')).join(' | ')))`;
const PAGES = [
  '/',
  '/docs',
  '/docs/errors',
  '/docs/errors/DAILY_LIMIT_EXCEEDED',
  '/explore',
  '/status',
  '/signup',
  '/signup/sent',
  '/keys',
  'my keys',
];

let browser: Browser;
let front: Front;
let keysLink: string;

beforeAll(async () => {
  browser = await launchChromium();
  front = await startFront();
  for (const url of ['/signup', '/keys/link']) {
    await front.app.inject({ method: 'POST', url, payload: { email: 'jo@example.com', label: 'phone', terms: true } });
  }
  keysLink = linkIn((await front.readOutbox()).at(-1) as never);
});

afterAll(async () => {
  await browser?.close();
  await front?.[Symbol.asyncDispose]();
});

describe.each([
  ['a phone', { width: 390, height: 844, scheme: 'light' }],
  ['a desktop', { width: 1280, height: 800, scheme: 'light' }],
  ['a dark desktop', { width: 1280, height: 800, scheme: 'dark' }],
] as const)('on %s', (_name, size) => {
  it.each(PAGES)('%s: nothing serious for axe, nothing cut off, no complaint, nobody else asked', async (path) => {
    const { page, context, complaints } = await openWindow(browser, { ...size, hosts: [new URL(front.url).host] });
    await page.goto(path === 'my keys' ? keysLink : front.url + path, { waitUntil: 'load' });
    if (path === '/docs') {
      await page.locator('.opblock').first().waitFor();
      await page.locator('.opblock-summary-control').first().click();
      await page.getByRole('button', { name: 'Execute' }).waitFor();
    }
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await page.evaluate(AXE);
    const found = await page.evaluate(FIND_SERIOUS);
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

it('the first Tab offers to skip to the content', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(front.url);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
  await context.close();
});
