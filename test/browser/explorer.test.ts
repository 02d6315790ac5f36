import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { tripsResponse } from '#src/trips/response.ts';
import { launchChromium, openWindow } from '../support/chromium.ts';
import { type Front, startFront } from '../support/front.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 300_000 });

interface Point {
  x: number;
  y: number;
}

interface DrawnJourney {
  /** Of each leg: where its line ends, and where its two stops are. */
  lines: { ends: Point[]; stops: Point[] }[];
  width: number;
}

/** Runs in the page: where on the screen the lines end and the stops are. */
const READ_MAP = `import(new URL('/assets/explore.js', location.href).href).then(({ map }) => {
  const leaflet = map.stopLayers()[0]._map;
  const place = (position) => leaflet.latLngToContainerPoint(position);
  return {
    lines: map.legLayers().map((line, index) => ({
      ends: [place(line.getLatLngs()[0]), place(line.getLatLngs().at(-1))],
      stops: map.stopLayers().slice(2 * index, 2 * index + 2).map((stop) => place(stop.getLatLng())),
    })),
    width: leaflet.getSize().x,
  };
})`;

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

const open = async (path: string) => {
  const window = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await window.page.goto(front.url + path, { waitUntil: 'load' });
  return window;
};

/** Tabs on until the focus is on a button of that name. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab');
    const label = await page.evaluate('document.activeElement?.ariaLabel ?? document.activeElement?.textContent');
    if (label === name) return;
  }
  throw new Error(`the keyboard does not reach "${name}"`);
}

async function findByKeyboard(page: Page, name: string): Promise<void> {
  await page.getByLabel('Find a stop').focus();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await page.locator('.stops li').filter({ hasText: name }).first().waitFor();
}

it('draws a journey whose lines begin and end at its stops, by keyboard alone', async () => {
  const { page, context, complaints } = await open('/explore');
  await findByKeyboard(page, 'Domestic Airport');
  await tabTo(page, 'From: Domestic Airport Station, Mascot');
  await page.keyboard.press('Enter');
  await findByKeyboard(page, 'Manly Wharf');
  await tabTo(page, 'To: Manly Wharf, Manly');
  await page.keyboard.press('Enter');
  const answered = page.waitForResponse(/\/v1\/trips/);
  await page.locator('#swap').focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  const { journeys } = tripsResponse.parse(await (await answered).json());
  await page.locator('path.leg').first().waitFor();

  const legs = journeys[0]?.legs ?? [];
  expect(await page.locator('path.leg').count()).toBe(legs.length);
  for (const { mode } of legs) expect(await page.locator(`path.leg-${mode}`).count()).toBe(1);
  const colours = await page
    .locator('path.leg')
    .evaluateAll((lines) => lines.map((line) => line.getAttribute('stroke')));
  expect(new Set(colours).size).toBe(new Set(legs.map(({ mode }) => mode)).size);

  // On the screen: the ends of each line against the circles of the stops.
  const drawn = (await page.evaluate(READ_MAP)) as DrawnJourney;
  expect(drawn.lines.map(({ ends }) => ends)).toHaveLength(legs.length);
  for (const { ends, stops } of drawn.lines) {
    for (const [index, end] of ends.entries()) {
      const stop = stops[index] as Point;
      expect(Math.hypot(end.x - stop.x, end.y - stop.y)).toBeLessThan(12);
      expect(end.x).toBeGreaterThan(0);
      expect(end.x).toBeLessThan(drawn.width);
    }
  }
  // Manly is north-east of the airport: right of it and above.
  const [airport, manly] = [drawn.lines[0]?.stops[0] as Point, drawn.lines.at(-1)?.stops[1] as Point];
  expect(manly.x).toBeGreaterThan(airport.x);
  expect(manly.y).toBeLessThan(airport.y);
  expect(complaints).toEqual([]);
  await context.close();
});

it('shows the alerts of a journey', async () => {
  const { page, context } = await open('/explore');
  for (const [name, end] of [
    ['Domestic Airport', 'From'],
    ['Town Hall', 'To'],
  ] as const) {
    await findByKeyboard(page, name);
    await page
      .getByRole('button', { name: new RegExp(`^${end}: ${name}`) })
      .first()
      .click();
  }
  const answered = page.waitForResponse(/\/v1\/trips/);
  await page.getByRole('button', { name: 'Plan' }).click();
  const { journeys } = tripsResponse.parse(await (await answered).json());
  const alerts = journeys[0]?.legs.flatMap((leg) => leg.alerts) ?? [];
  expect(alerts.length).toBeGreaterThan(0);
  await page.locator('.journey[open]').waitFor();
  for (const alert of new Set(alerts)) await page.locator('.journey[open] .alerts').getByText(alert).waitFor();
  await context.close();
});

it('a click on the map finds the stops around it, and a stop its live board', async () => {
  const { page, context, complaints } = await open('/explore');
  expect(await page.getByLabel('Your key').inputValue()).toBe(front.testKey);
  await page.locator('#map').click({ position: { x: 420, y: 380 } });
  await page.locator('.stops li').first().waitFor();
  const name = await page.locator('.stops li strong').first().textContent();
  await page
    .locator('.stops li')
    .first()
    .getByRole('button', { name: /^Board/ })
    .click();
  await page.locator('#result tbody tr').first().waitFor();
  expect(name).toContain(await page.locator('#result h2').textContent());
  expect(complaints).toEqual([]);
  await context.close();
});

it('keeps one’s own key in the browser, and explains a wrong one', async () => {
  const { page, context } = await open('/explore');
  await page.getByLabel('Your key').fill('tis_live_mistyped');
  await page.getByLabel('Your key').blur();
  await page.reload();
  expect(await page.getByLabel('Your key').inputValue()).toBe('tis_live_mistyped');
  await page.getByRole('button', { name: 'Stops around the middle of the map' }).click();
  const link = page.getByRole('link', { name: 'UNAUTHORIZED' });
  await link.waitFor();
  expect(await link.getAttribute('href')).toBe(`${front.url}/docs/errors/UNAUTHORIZED`);
  await context.close();
});
