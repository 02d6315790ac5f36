import { gzipSync } from 'node:zlib';
import type { Browser, Response } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findViolations } from '../support/axe.ts';
import { launchChromium, openWindow } from '../support/chromium.ts';
import { type Front, startFront } from '../support/front.ts';

/** One page of each kind is checked completely, in light and dark. */
const KINDS = ['/docs', '/docs/quickstart', '/docs/reference/departures', '/docs/errors', '/docs/headers'];
/** The other pages have the same colours, and are checked without their thousands of similar field lists and examples. */
const OWN_PART = { part: `{ include: 'article', exclude: ['.fields', '.tall'] }`, colours: 'not' } as const;

let browser: Browser;
let front: Front;

beforeAll(async () => {
  browser = await launchChromium();
  front = await startFront({ now: '2026-11-20T02:00:20Z' });
});

afterAll(async () => {
  await browser?.close();
  await front?.[Symbol.asyncDispose]();
});

it('every docs page passes axe, fits 390 to 1280 pixels, logs no error and stays within 200 kB, in light and dark', async () => {
  const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  let weights: Promise<number>[] = [];
  /** The pages share most files. */
  const known = new Map<string, number>();
  const weigh = async (response: Response) => {
    // An icon may still be loading when the page is left, which discards its body.
    const body = known.has(response.url()) ? null : await response.body().catch(() => null);
    if (body) known.set(response.url(), gzipSync(body).length);
    return known.get(response.url()) ?? 0;
  };
  page.on('response', (response) => weights.push(weigh(response)));
  await page.goto(`${front.url}/docs`);
  const paths = await page.evaluate(`[...document.querySelectorAll('.side > nav a')].map((link) => link.pathname)`);
  expect(paths).toContain('/docs/reference/departures-stream');
  for (const path of [...(paths as string[]), '/docs/errors/DAILY_LIMIT_EXCEEDED']) {
    weights = [];
    await page.goto(front.url + path, { waitUntil: 'load' });
    const weight = (await Promise.all(weights)).reduce((sum, one) => sum + one);
    expect(weights.length, path).toBeGreaterThan(4);
    expect(weight, path).toBeLessThan(200_000);
    for (const width of [768, 390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBeLessThanOrEqual(0);
      if (width !== 390) continue;
      expect(await findViolations(page, KINDS.includes(path) ? {} : OWN_PART), path).toEqual([]);
    }
    if (!KINDS.includes(path)) continue;
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await findViolations(page, { colours: 'only' }), path).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
  }
  expect(complaints).toEqual([]);
  await context.close();
});

it('the docs are readable without scripts, and sample languages can be chosen', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${front.url}/docs/reference/departures`);
  await page.getByText('Live and scheduled departures').first().waitFor();
  const swift = page.locator('code.language-swift');
  expect(await swift.isVisible()).toBe(false);
  await page.locator('label', { hasText: 'Swift' }).click();
  expect(await swift.isVisible()).toBe(true);
  expect(await page.locator('#try').isVisible()).toBe(false);
  await context.close();
});

it('the docs can be searched and the sample language chosen and saved by keyboard alone', async () => {
  const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/docs`);
  await page.keyboard.press('/');
  await page.keyboard.type('retry');
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const field = page.getByRole('combobox', { name: 'Search the docs' });
  const selected = page.getByRole('option', { selected: true });
  expect(await field.getAttribute('aria-activedescendant')).toBe(await selected.getAttribute('id'));
  expect(await page.getByRole('option').nth(1).getAttribute('aria-selected')).toBe('true');
  expect(await findViolations(page, { part: "'.side'" })).toEqual([]);
  await page.keyboard.press('Escape');
  expect([await field.inputValue(), await page.getByRole('option').count()]).toEqual(['retry', 0]);
  // The focus is still in the field, so typing continues.
  await page.keyboard.type('-after');
  await page.keyboard.press('ArrowDown');
  const to = await selected.getAttribute('href');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${front.url}${to}`);
  expect(await page.locator('article').textContent()).toMatch(/retry-after/i);

  await page.goto(`${front.url}/docs/quickstart`);
  await page.locator('.tabs input').first().focus();
  await page.keyboard.press('ArrowRight');
  expect(await page.locator('code.language-js').isVisible()).toBe(true);
  await page.goto(`${front.url}/docs/reference/trips`);
  expect(await page.locator('code.language-js').isVisible()).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});

it.each([
  ['/docs', 600],
  ['/docs/reference/vehicles-stream', 600],
  ['/docs/reference', 600],
])(
  'the navigation beside %s shows the current page without scrolling, in a window %i pixels high',
  async (path, height) => {
    const { page, context } = await openWindow(browser, { height, hosts: [new URL(front.url).host] });
    await page.goto(front.url + path);
    const current = page.locator('.side > nav [aria-current]');
    expect(new URL((await current.evaluate((one) => one.href)) as string).pathname).toBe(path);
    await expect
      .poll(async () => {
        const box = await current.boundingBox();
        return box && box.y > 0 && box.y + box.height <= height;
      })
      .toBe(true);
    await context.close();
  },
);

it('a link to a field unfolds the records that have it, also with a former address of the page', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/docs/reference/trips`);
  const field = page.locator('#field-journeys-legs-origin-platform');
  expect(await field.isVisible()).toBe(false);
  await page.goto(`${front.url}/docs/operations/trips#field-journeys-legs-origin-platform`);
  await field.waitFor();
  expect(await page.locator('details.record[open]').count()).toBe(3);
  await context.close();
});

it('the playground shows the example until the first response, and its form covers nothing', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/docs/reference/trips`);
  const response = page.locator('#try-response');
  await response.getByRole('heading', { name: 'Example of a response' }).waitFor();
  await page.locator('#try-others summary').click();
  expect(await page.evaluate(`getComputedStyle(document.querySelector('.actions')).position`)).toBe('static');
  await page.locator('#try-key-box summary').click();
  await page.locator('#try-key').fill('tis_live_other');
  await page.getByRole('button', { name: 'Reset' }).click();
  expect(await page.locator('#try-key').inputValue()).toBe('tis_live_other');
  await page.locator('#try-key').fill(front.testKey);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('#try-status').getByText('200 OK').waitFor();
  expect(await response.getByRole('heading', { name: 'Example of a response' }).count()).toBe(0);
  await context.close();
});

it('the playground opens a shared address, finds stops, sends requests, explains headers and calls the tool, by keyboard', async () => {
  const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  const status = page.locator('#try-status');
  const curl = page.locator('.request .language-sh');
  await page.goto(`${front.url}/docs/reference/departures?stop=200020&modes=ferry&date=20261130`);
  expect(await page.locator('#try-stop').inputValue()).toBe('200020');
  expect(await page.locator('#try input:checked').evaluateAll((all) => all.map((one) => one.value))).toEqual(['ferry']);
  expect(await page.locator('#try-date').inputValue()).toBe('2026-11-30');
  expect(await curl.textContent()).toContain(`${front.url}/v1/departures?stop=200020&modes=ferry&date=20261130"`);
  await page.locator('#try-date').fill('');
  await page.locator('#try-modes-all').check();
  await page.locator('#try-stop').fill('town hall');
  await page.locator('[role=option]').filter({ hasText: 'Town Hall Station' }).first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.locator('#try-response').getByText('"Town Hall Station"').waitFor();
  // The example response that is shown before has the same texts.
  await expect.poll(() => status.textContent()).toMatch(/^200 OK, \d+ ms, \d+\.\d kB$/);
  expect(await page.locator('#try-response a[href="#field-departures-route"]').count()).toBeGreaterThan(0);
  expect(new URL(page.url()).search).toBe('?stop=200070&modes=all');
  expect(await curl.textContent()).toContain(`Bearer ${front.testKey}"`);
  // The body is in view; the headers are folded above it.
  const age = page.locator('.headers summary').filter({ hasText: /^Age: / });
  expect(await age.isVisible()).toBe(false);
  await page.getByText(/^\d+ response headers$/).press('Enter');
  expect(await age.getAttribute('title')).toBe('Seconds since the data was retrieved.');
  await age.press('Enter');
  await page.getByText('Seconds since the data was retrieved.').first().waitFor();

  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Call as a tool' }).press('Enter');
  await page.locator('#try-response').getByText('"structuredContent"').waitFor();
  expect(complaints).toEqual([]);

  await page.getByText('Key', { exact: true }).click();
  await page.locator('#try-key').fill('tis_live_mistyped');
  await page.getByRole('button', { name: 'Send' }).click();
  const help = page.getByRole('link', { name: 'Cause and fix' });
  expect(await help.getAttribute('href')).toBe(`${front.url}/docs/errors/UNAUTHORIZED`);
  expect(await status.textContent()).toContain('401 Unauthorized');
  expect(await curl.textContent()).toContain('Bearer tis_live_mistyped"');
  expect(page.url()).not.toContain('tis_');
  await context.close();
});

it('the playground links the operations that an error names, with their parameters', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/docs/reference/departures?stop=Town%20Hall`);
  await page.getByRole('button', { name: 'Send' }).click();
  const link = page.locator('.notice.bad a').first();
  expect(await link.textContent()).toBe('/v1/stops/search?q=Town%20Hall');
  await link.click();
  await page.waitForURL(`${front.url}/docs/reference/stops-search?q=Town%20Hall`);
  expect(await page.locator('#try-q').inputValue()).toBe('Town Hall');
  await context.close();
});

it.each(['runs-run_id', 'trips-journey_id'])(
  'the form of %s starts with a current ID, and so does its stream',
  async (slug) => {
    const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
    await page.goto(`${front.url}/docs/reference/${slug}`);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('#try-status').getByText('200 OK').waitFor();
    const field = page.locator('#try .field input').first();
    const id = await field.inputValue();
    expect(await page.locator('.request .language-sh').textContent()).toContain(id);
    await field.fill('mistyped');
    await page.getByRole('button', { name: 'Reset' }).click();
    expect(await field.inputValue()).toBe(id);

    await page.goto(`${front.url}/docs/reference/${slug}-stream`);
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.locator('.events').getByText('"retrieved_at"').first().waitFor();
    expect(complaints).toEqual([]);

    await page.goto(`${front.url}/docs/reference/${slug}?${slug.split('-')[1]}=shared`);
    await page.waitForLoadState('networkidle');
    expect(await field.inputValue()).toBe('shared');
    await context.close();
  },
);

it('the form of a run starts with a current ID at night too, when no vehicle is tracked', async () => {
  await using night = await startFront({ now: '2026-11-24T14:50:00Z' });
  const url = '/v1/departures?stop=200070&modes=all&limit=20&include=ids';
  const board = await night.app.inject({ url, headers: { authorization: `Bearer ${night.testKey}` } });
  expect(board.json().departures.filter(({ is_live }: { is_live: boolean }) => is_live)).toEqual([]);
  const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(night.url).host] });
  await page.goto(`${night.url}/docs/reference/runs-run_id`);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('#try-status').getByText('200 OK').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

it('the playground follows a stream until stopped, and takes positions from a map', async () => {
  const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/docs/reference/departures-stream`);
  await page.getByRole('button', { name: 'Follow' }).click();
  await page.locator('.events').getByText('"Town Hall Station"').first().waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.locator('#try-status').getByText('stopped').waitFor();
  await page.goto(`${front.url}/docs/reference/nearby?lat=-33.8&lng=151.2`);
  await page.getByRole('button', { name: 'Choose on a map' }).click();
  await page.locator('.map-dialog path.land').waitFor();
  await page.getByLabel('Map.', { exact: false }).press('ArrowRight');
  await page.getByRole('button', { name: 'Use the middle' }).press('Enter');
  await expect.poll(() => new URL(page.url()).searchParams.get('lng')).toMatch(/^151\.2[01]\d+$/);
  expect(new URL(page.url()).searchParams.get('lat')).toMatch(/^-33\.8/);
  expect(complaints).toEqual([]);
  await context.close();
});

it('the first Tab on a page offers to skip to the content', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(front.url);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
  await context.close();
});
