import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Departures } from '#src/operations/departures/departure.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { findViolations } from '../support/axe.ts';
import { launchChromium, openWindow, type Watched } from '../support/chromium.ts';
import { type Front, linkIn, startFront } from '../support/front.ts';

const KILOBYTE = 1000;
/** Each page with an element (`sign`) that appears once the scripts of the page have run. */
const PAGES: readonly (readonly [path: string, sign: string, kilobytes: number])[] = [
  ['/', '.board tbody tr', 200],
  ['/status', '.chart', 200],
  ['/signup', 'form', 200],
  ['/signup/sent', 'h1', 200],
  ['/nothing-here', '.notice', 200],
  ['/keys', 'form', 200],
  ['link to my keys', 'form', 200],
  ['my keys', '.chart', 200],
  ['/board/200070', '#rows tr', 200],
  ['/explore', '.stops li', 400],
  ['/explore#board=200070', '#result tbody tr', 400],
  ['/explore#journey=202020,209573', '.journey[open]', 400],
];

/** Early in a minute, because a wall board drops departures after half a minute and a response only after the minute. */
const NOW = '2026-11-20T02:00:20Z';

let browser: Browser;
let front: Front;
let keysLink: string;
let watched: Watched;
let weights: Promise<number>[] = [];

beforeAll(async () => {
  browser = await launchChromium();
  // Without a timetable, stops come from upstream.
  front = await startFront({ now: NOW, stops: new StopRegister(noStops) });
  for (const url of ['/signup', '/keys/link']) {
    await front.app.inject({ method: 'POST', url, payload: { email: 'jo@example.com', label: 'phone', terms: true } });
  }
  keysLink = linkIn((await front.readOutbox()).at(-1) as never);
  watched = await openWindow(browser, { hosts: [new URL(front.url).host] });
  watched.page.on('response', (response) => {
    // Leaving the page discards bodies, for example of a board being refreshed.
    weights.push(
      response.body().then(
        (body) => gzipSync(body).length,
        () => 0,
      ),
    );
  });
});

afterAll(async () => {
  await browser?.close();
  await front?.[Symbol.asyncDispose]();
});

it.each(PAGES)(
  'the page %s passes axe, fits 390 to 1280 pixels, logs no error and contacts nobody else, in light and dark',
  async (path, sign, kilobytes) => {
    const { page, complaints } = watched;
    await page.goto('about:blank');
    weights = [];
    complaints.length = 0;
    await page.goto(path.endsWith('my keys') ? keysLink : front.url + path, { waitUntil: 'load' });
    if (path === 'my keys') await page.getByRole('button', { name: 'Open your keys' }).click();
    await page.locator(sign).first().waitFor();
    for (const width of [768, 390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      if (width === 390) expect(await findViolations(page)).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await findViolations(page, { colours: 'only' })).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    const weight = (await Promise.all(weights)).reduce((sum, one) => sum + one, 0);
    expect(weight).toBeGreaterThan(KILOBYTE);
    expect(weight).toBeLessThan(kilobytes * KILOBYTE);
    // The browser itself logs a page that answers 404.
    expect(complaints.filter((one) => !/status of 404/.test(one))).toEqual([]);
  },
);

it('no table of the status page is cut off on a phone', async () => {
  const { page, context } = await openWindow(browser, { width: 390, hosts: [new URL(front.url).host] });
  const headers = { authorization: `Bearer ${front.testKey}` };
  await front.app.inject({ url: '/v1/departures?stop=200070', headers });
  await page.goto(`${front.url}/status`);
  await page.locator('.figures').first().waitFor({ state: 'attached' });
  const cut = `(() => {
    for (const fold of document.querySelectorAll('details')) fold.open = true;
    // As long as the names and states of real files are.
    for (const table of document.querySelectorAll('.figures')) {
      const row = table.tBodies[0].rows[0];
      row.cells[0].textContent = 'regionalbuses/southeasttablelands';
      for (const cell of [...row.cells].slice(1)) cell.textContent = '2026-11-28 to 2027-02-26';
    }
    return [...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length;
  })()`;
  expect(await page.evaluate(cut)).toBe(0);
  await context.close();
});

it.each(['/', '/docs/reference/departures', '/status', '/explore'])(
  'text on %s has at most five sizes, and code is at least 13 pixels',
  async (path) => {
    const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
    await page.goto(front.url + path, { waitUntil: 'load' });
    // Labels on the map belong to the map.
    const read = `(() => {
      const sizes = new Set();
      const codes = [];
      for (const element of document.querySelectorAll('body *')) {
        if (element.closest('.leaflet-container, svg, noscript, template')) continue;
        if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
        const size = Number.parseFloat(getComputedStyle(element).fontSize);
        sizes.add(size);
        if (element.closest('code, pre, kbd')) codes.push(size);
      }
      return { sizes: [...sizes].sort((one, other) => one - other), smallestCode: Math.min(99, ...codes) };
    })()`;
    const { sizes, smallestCode } = (await page.evaluate(read)) as { sizes: number[]; smallestCode: number };
    expect(sizes.length, sizes.join()).toBeLessThanOrEqual(5);
    expect(smallestCode).toBeGreaterThanOrEqual(13);
    await context.close();
  },
);

it('the wall board form suggests stops while typing and opens the board, which fits a phone', async () => {
  for (const url of ['/signup', '/keys/link'])
    await front.app.inject({ method: 'POST', url, payload: { email: 'mo@example.com', label: 'wall', terms: true } });
  const { page, context, complaints } = await openWindow(browser, { width: 390, hosts: [new URL(front.url).host] });
  await page.goto(linkIn((await front.readOutbox()).at(-1) as never));
  await page.getByRole('button', { name: 'Open your keys' }).click();
  await page.locator('summary', { hasText: 'Wall display' }).click();
  await page.getByRole('combobox', { name: /^Stop / }).fill('circular');
  await page
    .getByRole('option', { name: /^Circular Quay/ })
    .first()
    .click();
  expect(await page.getByRole('combobox', { name: /^Stop / }).inputValue()).toBe('200020');
  await page.getByRole('button', { name: 'Open the board' }).click();
  await page.locator('#rows tr').first().waitFor();
  const sizes = await page
    .locator('th, td, footer p, #alerts li')
    .evaluateAll((all) =>
      all.map((one) =>
        Number.parseFloat(
          (globalThis as never as { getComputedStyle(one: unknown): { fontSize: string } }).getComputedStyle(one)
            .fontSize,
        ),
      ),
    );
  expect(Math.min(...sizes)).toBeGreaterThan(13);
  expect(complaints).toEqual([]);
  await context.close();
});

it('a wall board shows only complete rows', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.setViewportSize({ width: 1280, height: 500 });
  await page.goto(`${front.url}/board/200070`);
  await page.locator('#rows tr').first().waitFor();
  const bottomsOf = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().bottom));
  const [end = 0] = await bottomsOf('.rows');
  const rows = await bottomsOf('#rows tr:visible');
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.filter((bottom) => bottom > end)).toEqual([]);
  await context.close();
});

it('a wall board numbers its alerts and marks the affected departures', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  const answered = page.waitForResponse(/\/departures$/);
  await page.goto(`${front.url}/board/200070`);
  const { departures, alert_texts: texts }: Departures = await (await answered).json();
  await page.locator('#rows tr').first().waitFor();
  // The response includes departures of the last minute that the wall board no longer shows.
  const left = departures.slice(departures.length - (await page.locator('#rows tr').count()));
  const visible = left.slice(0, await page.locator('#rows tr:visible').count());
  const ids = [...new Set(visible.flatMap(({ alert_ids }) => alert_ids ?? []))];
  const shown = await page.locator('#alerts li').allTextContents();
  expect(shown).toEqual(ids.slice(0, 2).map((id) => texts?.[id]));
  const marked = left.filter(({ alert_ids }) => alert_ids?.includes(ids[0] ?? ''));
  expect(await page.locator('#rows .mark').getByText('1', { exact: true }).count()).toBe(marked.length);
  await context.close();
});

it('a wall board shows only alerts of visible rows', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.setViewportSize({ width: 1280, height: 500 });
  await page.route('**/departures', async (route) => {
    const response = await route.fetch();
    const board = await response.json();
    const departures = Array.from({ length: 20 }, (_, index) => ({
      ...board.departures[0],
      scheduled_at: '2026-11-20T02:30:00Z',
      realtime_at: null,
      alert_ids: index === 0 ? ['near'] : index === 19 ? ['far'] : [],
    }));
    const alert_texts = { near: 'Use the other entrance.', far: 'Of a row that is cut off.' };
    await route.fulfill({ response, json: { ...board, departures, alert_texts } });
  });
  await page.goto(`${front.url}/board/200070`);
  await page.locator('#rows tr').first().waitFor();
  expect(await page.locator('#rows tr').last().isVisible()).toBe(false);
  expect(await page.locator('#alerts li').allTextContents()).toEqual(['Use the other entrance.']);
  expect(await page.locator('#rows .mark').allTextContents()).toEqual(['1']);
  await context.close();
});

it('a wall board shows minutes up to an hour, then the time of day', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.route('**/departures', async (route) => {
    const response = await route.fetch();
    const board = await response.json();
    const times = ['2026-11-20T02:00:40Z', '2026-11-20T02:30:50Z', '2026-11-20T03:30:20Z'];
    const departures = times.map((scheduled_at) => ({ ...board.departures[0], scheduled_at, realtime_at: null }));
    await route.fulfill({ response, json: { ...board, retrieved_at: '2026-11-20T02:00:20Z', departures } });
  });
  await page.goto(`${front.url}/board/200070`);
  await page.locator('#rows tr').first().waitFor();
  expect(await page.locator('#rows td:last-child').allTextContents()).toEqual(['now', '30 min', '14:30']);
  await context.close();
});

it('a wall board keeps its query, and says when nothing departs', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/board/200020?modes=ferry`);
  await page.locator('#rows tr').first().waitFor();
  expect(await page.locator('#rows .route:not(.ferry)').count()).toBe(0);
  await page.goto(`${front.url}/board/200070?modes=ferry`);
  await page.locator('#notice').waitFor();
  expect(await page.locator('#notice').textContent()).toMatch(/^No departures at \d\d:\d\d\.$/);
  await page.goto(`${front.url}/board/200070?modes=tram`);
  await page.getByText('This board’s address is wrong: create a new link on your keys page.').waitFor();
  await context.close();
});

it('a wall board names a stop that does not exist and offers the search', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/board/99999999`);
  await page.getByText('There is no stop 99999999.').waitFor();
  expect(await page.getByRole('columnheader').count()).toBe(0);
  expect(await findViolations(page)).toEqual([]);
  await page.getByLabel('Find a stop by its name').fill('circular quay');
  await page.keyboard.press('Enter');
  await page
    .getByRole('button', { name: /^Board: Circular Quay/ })
    .first()
    .waitFor();
  await context.close();
});

it('a wall board is light or dark as the system is, keeps the choice of its screen, and leads back to the map', async () => {
  const { page, context } = await openWindow(browser, {
    width: 390,
    hosts: [new URL(front.url).host],
    scheme: 'light',
  });
  const isDark = () => page.evaluate(`/^rgb\\(\\d{1,2}, /.test(getComputedStyle(document.body).backgroundColor)`);
  await page.goto(`${front.url}/board/200070`);
  await page.locator('#rows tr').first().waitFor();
  expect(await isDark()).toBe(false);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await isDark()).toBe(true);
  await page.getByRole('button', { name: 'Light' }).click();
  expect(await isDark()).toBe(false);
  await page.reload();
  await page.getByRole('button', { name: 'Dark' }).waitFor();
  expect(await isDark()).toBe(false);
  await page.getByRole('link', { name: 'Back to the map' }).click();
  await page.getByRole('heading', { name: 'Town Hall Station' }).waitFor();
  expect(page.url()).toContain('/explore#board=200070');
  await context.close();
});

it('a wall board says when its data is old, and recovers by itself', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.clock.install();
  await page.goto(`${front.url}/board/200070`);
  await page.locator('#rows tr').first().waitFor();
  expect(await page.locator('#name').textContent()).toBe('Town Hall Station');
  expect(await page.locator('#age').textContent()).toMatch(/^As of \d\d:\d\d, \d+ s ago$/);
  await page.route('**/departures', (route) => route.abort());
  await page.clock.runFor(200_000);
  expect(await page.locator('#notice').textContent()).toMatch(/^No update since \d\d:\d\d: times may be wrong\.$/);
  await page.unroute('**/departures');
  await page.clock.runFor(20_000);
  await page.locator('#notice').waitFor({ state: 'hidden' });
  await context.close();
});
