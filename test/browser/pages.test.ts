import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchChromium, openWindow } from '../support/chromium.ts';
import { type Front, startFront } from '../support/front.ts';
import { listDocumentSamples } from '../support/samples.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 300_000 });

/** As text: the page's own policy lets no foreign script tag in. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const LEAFLET = readFileSync(createRequire(import.meta.url).resolve('leaflet/dist/leaflet.js'), 'utf8');
/** Runs in the page, after axe. */
const FIND_SERIOUS = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? '')).join(' | ')))`;
const PAGES = ['/docs', '/docs/operations/boards', '/docs/errors', '/docs/errors/DAILY_LIMIT_EXCEEDED'];

let browser: Browser;
let front: Front;

beforeAll(async () => {
  browser = await launchChromium();
  front = await startFront();
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
    await page.goto(front.url + path, { waitUntil: 'load' });
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await page.evaluate(AXE);
    const found = await page.evaluate(FIND_SERIOUS);
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

it('every page of the docs fits from 390 to 1280 pixels, light and dark, within 200 kB', async () => {
  const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  let weights: Promise<number>[] = [];
  // An icon may be on its way when the page is left, and its body is gone then.
  page.on('response', (response) =>
    weights.push(
      response.body().then(
        (body) => gzipSync(body).length,
        () => 0,
      ),
    ),
  );
  await page.goto(`${front.url}/docs`);
  const paths = await page.evaluate(`[...document.querySelectorAll('.side > nav a')].map((link) => link.pathname)`);
  for (const path of paths as string[]) {
    weights = [];
    await page.goto(front.url + path, { waitUntil: 'load' });
    const weight = (await Promise.all(weights)).reduce((sum, one) => sum + one);
    expect(weights.length, path).toBeGreaterThan(4);
    expect(weight, path).toBeLessThan(200_000);
    for (const width of [390, 768, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBeLessThanOrEqual(0);
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.evaluate(AXE);
    expect(await page.evaluate(FIND_SERIOUS), path).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
  }
  expect(complaints).toEqual([]);
  await context.close();
});

it('the docs need no script to be read, and languages of samples can be chosen without one', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${front.url}/docs/operations/departures`);
  await page.getByText('Live and scheduled departures').first().waitFor();
  const swift = page.locator('code.language-swift');
  expect(await swift.isVisible()).toBe(false);
  await page.locator('label', { hasText: 'Swift' }).click();
  expect(await swift.isVisible()).toBe(true);
  await context.close();
});

it('by keyboard alone: the docs are searched, and the language of samples is chosen and kept', async () => {
  const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/docs`);
  await page.keyboard.press('/');
  await page.keyboard.type('retry-after');
  await page.locator('#docs-results a').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/docs\/\w+/);
  expect(await page.locator('article').textContent()).toMatch(/retry-after/i);

  await page.goto(`${front.url}/docs/quickstart`);
  await page.locator('.tabs input').first().focus();
  await page.keyboard.press('ArrowRight');
  expect(await page.locator('code.language-js').isVisible()).toBe(true);
  await page.goto(`${front.url}/docs/operations/trips`);
  expect(await page.locator('code.language-js').isVisible()).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});

describe('the console of the docs', () => {
  it('is fetched when it is asked for, has the sandbox’s key, and asks the operation of its page', async () => {
    const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
    await page.goto(`${front.url}/docs/operations/departures`);
    await page.getByRole('button', { name: 'Open the console' }).click();
    const answered = page.waitForResponse(/\/v1\/departures/);
    await page.getByRole('button', { name: 'Execute' }).click();
    expect((await answered).status()).toBe(200);
    await page.locator('.live-responses-table').getByText('Town Hall Station').first().waitFor();
    expect(await page.locator('.opblock').count()).toBe(1);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it.each([
    [390, 'light'],
    [1280, 'dark'],
  ] as const)('has nothing serious for axe and nothing cut off: %i pixels, %s', async (width, scheme) => {
    const { page, context, complaints } = await openWindow(browser, {
      width,
      scheme,
      hosts: [new URL(front.url).host],
    });
    await page.goto(`${front.url}/docs/console`);
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.locator('.opblock-summary-control').first().click();
    await page.getByRole('button', { name: 'Execute' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await page.evaluate(AXE);
    expect(await page.evaluate(FIND_SERIOUS)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

it('the Leaflet sample of the guide on maps draws every leg of a journey', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/docs/maps`);
  const headers = { authorization: `Bearer ${front.testKey}` };
  const { journeys } = (await front.app.inject({ url: '/v1/trips?from=202020&to=209573&limit=1', headers })).json();
  const [sample] = listDocumentSamples().filter(({ setting }) => setting === 'leaflet');
  await page.evaluate(LEAFLET);
  const drawn = await page.evaluate(`(() => {
    ${sample?.code}
    const place = document.querySelector('article');
    place.style.height = '400px';
    const map = L.map(place).setView([0, 0], 3);
    const group = drawJourney(map, ${JSON.stringify(journeys[0])});
    return { lines: place.querySelectorAll('.leaflet-overlay-pane path').length, isSeen: map.getBounds().contains(group.getBounds()) };
  })()`);
  expect(drawn).toEqual({ lines: journeys[0].legs.length, isSeen: true });
  await context.close();
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
