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

describe('the playground of an operation', () => {
  it('asks with the sandbox’s key, and URL, samples and the address of the page follow what is typed', async () => {
    const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
    await page.goto(`${front.url}/docs/operations/departures`);
    const [send, status] = [page.getByRole('button', { name: 'Send' }), page.locator('#try-status')];
    await send.click();
    await status.getByText('200 OK').waitFor();
    const url = '/v1/departures?stop=200070&limit=5&modes=all';
    expect(await page.locator('#try-url').textContent()).toBe(`GET ${url}`);
    expect(await page.locator('#try-body').textContent()).toContain('"stop_name": "Town Hall Station"');
    expect(await page.locator('#try-body a[href="#field-departures-route"]').count()).toBeGreaterThan(0);
    await page.getByText('Headers, and what they mean').click();
    await page.getByText(/^RateLimit: /).waitFor();

    // Stops are suggested as one types, and chosen by the keyboard.
    await page.getByLabel('stop required').fill('circular');
    await page
      .getByRole('option', { name: /Circular Quay/ })
      .first()
      .waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByLabel('train', { exact: true }).check();
    await page.getByLabel('all', { exact: true }).uncheck();
    expect(page.url()).toBe(`${front.url}/docs/operations/departures?stop=200020&limit=5&modes=train`);
    const sample = (language: string) => page.locator(`.tabs .language-${language}`).textContent();
    expect(await sample('sh')).toContain(`Bearer ${front.testKey}"`);
    expect(await sample('python')).toContain('/v1/departures?stop=200020&limit=5&modes=train")');
    expect(await sample('ts')).toContain("getDepartures({ query: { stop: '200020', limit: 5, modes: ['train'] } })");
    expect(await sample('mcp')).toContain('"arguments":{"stop":"200020","limit":"5","modes":"train"}}}');

    // Who opens the address sees the same form, and an error is shown like any other response.
    await page.goto(`${front.url}/docs/operations/departures?stop=nowhere`);
    await send.click();
    await status.getByText('400 Bad Request').waitFor();
    expect(await page.locator('#try-body').textContent()).toContain('stop must be a stop identifier');
    expect(complaints.filter((one) => !one.includes('400'))).toEqual([]);
    await context.close();
  });

  it('shows the events of a stream as they come, until it is stopped', async () => {
    const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
    await page.goto(`${front.url}/docs/operations/departures-stream`);
    await page.getByRole('button', { name: 'Start' }).click();
    await page
      .locator('#try-body')
      .getByText(/ board$/m)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    expect(await page.locator('#try-status').textContent()).toBe('Stopped.');
    await context.close();
  });

  it.each([
    [390, 'light'],
    [1280, 'dark'],
  ] as const)(
    'takes a place from a map, with nothing serious for axe and nothing cut off: %i pixels, %s',
    async (width, scheme) => {
      const { page, context, complaints } = await openWindow(browser, {
        width,
        scheme,
        hosts: [new URL(front.url).host],
      });
      await page.goto(`${front.url}/docs/operations/nearby`);
      await page.getByText('Choose on a map').click();
      await page.locator('.leaflet-container .land').first().waitFor();
      await page.locator('#try-map .map').click();
      expect(page.url()).toMatch(/\?lat=-33\.8\d+&lng=151\.2\d+&/);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      await page.evaluate(AXE);
      expect(await page.evaluate(FIND_SERIOUS)).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    },
  );
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
