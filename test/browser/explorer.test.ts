import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Departures } from '#src/operations/departures/departure.ts';
import { tripsResponse } from '#src/operations/trips/response.ts';
import type { Vehicle, Vehicles } from '#src/realtime/vehicles.ts';
import { StopRegister } from '#src/stops/register.ts';
import { type StopRecord, tableOf } from '#src/stops/table.ts';
import { launchChromium, openWindow } from '../support/chromium.ts';
import { type Front, startFront } from '../support/front.ts';

interface Point {
  x: number;
  y: number;
}

interface DrawnJourney {
  /** For each leg, the ends of its line and its two stops. */
  lines: { ends: Point[]; stops: Point[] }[];
  width: number;
}

/** Runs in the page: returns the screen positions of line ends and stops. */
const READ_MAP = `import(new URL('/assets/explore/explore.js', location.href).href).then(({ map }) => {
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

/** Runs in the page: whether the heading of the result is visible and nothing is cut off at the side. */
const SEEN_IN_PANEL = `(() => {
  const panel = document.getElementById('panel');
  const { top, bottom } = document.querySelector('#result h2').getBoundingClientRect();
  return top >= panel.getBoundingClientRect().top && bottom < innerHeight && panel.scrollWidth <= panel.clientWidth;
})()`;

const stopAt = (stop_id: string, name: string, lng: number): StopRecord => ({
  stop_id,
  name,
  suburb: '',
  lat: -33.797,
  lng,
  modes: ['bus'],
  parent_id: null,
  is_platform: false,
});

const NOW = Date.parse('2026-11-20T02:00:20Z');
/** The reporting vehicles, none unless a test adds some. */
let reporting: Vehicle[] = [];
const vehicles: Pick<Vehicles, 'areKnown' | 'fetch'> = {
  areKnown: true,
  async fetch() {
    const freshness = { retrievedAt: NOW, freshUntil: NOW, staleUntil: NOW, source: 'cache', shortage: null } as const;
    return { vehicles: reporting, missing: [], freshness };
  },
};

let browser: Browser;
let front: Front;

beforeAll(async () => {
  browser = await launchChromium();
  const known = [stopAt('1', 'Fairy Bower', 151.285), stopAt('2', 'Cremorne', 151.18)];
  const stops = new StopRegister(() => tableOf(known, { dataDate: '2026-08-21', source: 'a test' }));
  front = await startFront({ now: '2026-11-20T02:00:20Z', stops, vehicles: vehicles as Vehicles });
});

afterAll(async () => {
  await browser?.close();
  await front?.[Symbol.asyncDispose]();
});

/** The service of this file has no timetable. */
const answerNoLines = (page: Page) =>
  page.route(/\/v1\/lines\?/, (route) => route.fulfill({ json: { lines: [], total: 0 } }));

const open = async (path: string) => {
  const window = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await answerNoLines(window.page);
  await window.page.goto(front.url + path, { waitUntil: 'load' });
  return window;
};

/** Presses Tab until a button of this name has the focus. */
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

it('the explorer draws a journey with line ends at its stops, by keyboard alone', async () => {
  const { page, context, complaints } = await open('/explore');
  await findByKeyboard(page, 'Domestic Airport');
  await tabTo(page, 'From: Domestic Airport Station, Mascot');
  await page.keyboard.press('Enter');
  await findByKeyboard(page, 'Manly Wharf');
  await tabTo(page, 'To: Manly Wharf, Manly');
  await page.keyboard.press('Enter');
  const answered = page.waitForResponse(/\/v1\/trips/);
  await page.locator('#plan').focus();
  await page.keyboard.press('Enter');
  const { journeys } = tripsResponse.parse(await (await answered).json());
  await page.locator('path.leg').first().waitFor();

  const legs = journeys[0]?.legs ?? [];
  expect(await page.locator('path.leg').count()).toBe(legs.length);
  for (const { mode } of legs) expect(await page.locator(`path.leg.${mode}`).count()).toBe(1);
  const colours = (await page.evaluate(
    '[...document.querySelectorAll("path.leg")].map((line) => getComputedStyle(line).stroke)',
  )) as string[];
  expect(new Set(colours).size).toBe(new Set(legs.map(({ mode }) => mode)).size);

  // On screen, compare the ends of each line with the circles of the stops.
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
  // Manly is north-east of the airport, so further right and up.
  const [airport, manly] = [drawn.lines[0]?.stops[0] as Point, drawn.lines.at(-1)?.stops[1] as Point];
  expect(manly.x).toBeGreaterThan(airport.x);
  expect(manly.y).toBeLessThan(airport.y);
  expect(complaints).toEqual([]);
  await context.close();
});

it('the explorer plans with the options that the reader sets, and its link keeps them', async () => {
  const { page, context } = await open('/explore#journey=202020,209573');
  await page.locator('path.leg').first().waitFor();
  await page.locator('#options summary').click();
  await page.getByLabel('Longest walk').selectOption('400 m');
  const requested = page.waitForRequest((request) => request.url().includes('pace=slow'));
  await page.getByLabel('Pace').selectOption('Slow');
  const { searchParams } = new URL((await requested).url());
  const names = ['from', 'pace', 'max_walk', 'min_change', 'prefer'];
  expect(names.map((name) => searchParams.get(name))).toEqual(['202020', 'slow', '400', null, null]);
  // The service of this file has no timetable.
  await page.getByText('`pace` works only with journeys from the timetable').first().waitFor();
  const { pathname, hash } = new URL(page.url());
  const other = await open(pathname + hash);
  expect(await other.page.getByLabel('Pace').inputValue()).toBe('slow');
  expect(await other.page.getByLabel('Longest walk').inputValue()).toBe('400');
  await Promise.all([context.close(), other.context.close()]);
});

it('the explorer plans with typed names alone: Enter takes the first suggestion and says what is missing', async () => {
  const { page, context, complaints } = await open('/explore');
  await page.locator('.stops li').first().waitFor();
  const missing = page.locator('#missing');
  const focused = () => page.evaluate('document.activeElement.id');
  await page.getByRole('button', { name: 'Plan' }).click();
  expect([await missing.textContent(), await focused()]).toEqual(['Enter where the journey starts.', 'from']);
  // Typed so fast that no suggestion is shown yet.
  await page.locator('#from').fill('domestic airp');
  await page.keyboard.press('Enter');
  await expect.poll(focused).toBe('to');
  expect(await page.locator('#from').inputValue()).toBe('Domestic Airport Station, Mascot');
  expect(await missing.textContent()).toBe('Enter where the journey ends.');
  await page.locator('#to').fill('qqqqq');
  await page.keyboard.press('Enter');
  await expect.poll(() => missing.textContent()).toBe('Nothing matches “qqqqq”.');
  await page.locator('#to').fill('manly whar');
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.journey').first().waitFor();
  expect(page.url()).toContain('#journey=202020,209573');
  expect(await missing.textContent()).toBe('');

  await page.locator('#options summary').click();
  const requested = page.waitForRequest(/\/v1\/trips\?.*via=200020/);
  await page.getByLabel('Via').fill('circular quay');
  await page.getByRole('option', { name: /^Circular Quay.*Ferry/ }).click();
  await requested;
  expect(page.url()).toContain('via=200020');
  expect(complaints.filter((text) => !text.includes('status of 400'))).toEqual([]);
  await context.close();
});

it('the explorer follows a planned journey, and offers another way when its change is missed', async () => {
  const plan = '/v1/trips?from=99000008&to=99004007&include=ids';
  const headers = { authorization: `Bearer ${front.testKey}` };
  const { journeys } = (await front.app.inject({ url: plan, headers })).json();
  const { page, context, complaints } = await open('/explore#journey=99000008,99004007');
  await page.locator('.journey').first().waitFor();
  // The sandbox makes the change impossible some time after the journey was first followed.
  await front.app.inject({ url: `/v1/trips/${journeys[0].journey_id}`, headers });
  front.clock.now = new Date(NOW + 90_000);
  const answered = page.waitForResponse(/\/v1\/trips\/[\w-]+\?/);
  await page
    .locator('.journey[open]')
    .getByRole('button', { name: /^Follow: the journey at / })
    .focus();
  await page.keyboard.press('Enter');
  const { journey, changes } = await (await answered).json();
  const result = page.locator('#result');
  await result.getByRole('status').waitFor();
  expect(await result.getByRole('status').textContent()).toBe('A change is missed');
  expect(await result.locator('li.change').textContent()).toBe(`Change at ${changes[0].name}: missed`);
  expect(await page.locator('path.leg').count()).toBe(journey.legs.length);
  expect(await page.evaluate('document.activeElement.textContent')).toBe(await result.locator('h2').textContent());

  // In a new window, which has no paths of the journey.
  const { pathname, hash } = new URL(page.url());
  const other = await open(pathname + hash);
  await other.page.locator('li.change.missed').waitFor();
  expect(await other.page.locator('path.leg').count()).toBe(journey.legs.length);
  await other.context.close();

  await result.locator('.journey summary').first().click();
  await result
    .getByRole('button', { name: /^Follow: / })
    .first()
    .click();
  await result.locator('.change.possible').first().waitFor();
  front.clock.now = new Date(NOW);
  expect(complaints).toEqual([]);
  await context.close();
});

it('the explorer follows a vehicle from its board with stops, position and line, by keyboard and on a phone', async () => {
  const hosts = [new URL(front.url).host];
  const { page, context, complaints } = await openWindow(browser, { width: 390, height: 844, hosts });
  await answerNoLines(page);
  const board = page.waitForResponse(/\/v1\/departures/);
  await page.goto(`${front.url}/explore#board=200060&modes=train`);
  const { departures } = await (await board).json();
  const isOnItsWay = ({ is_live, run_id }: Departures['departures'][number]) => is_live && run_id;
  const chosen = departures.findIndex(isOnItsWay);
  const button = page.locator('#result .follow').nth(chosen);
  await tabTo(page, (await button.getAttribute('aria-label')) ?? '');
  await page.route(/\/v1\/runs\//, async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    const occupancies = ['MANY_SEATS', 'FEW_SEATS', 'STANDING_ONLY', null];
    const carriages = occupancies.map((occupancy, index) => ({ position: index + 1, occupancy }));
    await route.fulfill({
      response,
      json: { ...json, calls: json.calls?.map((call: object) => ({ ...call, carriages })) },
    });
  });
  const answered = page.waitForResponse(/\/v1\/runs\/.*include=carriages/);
  await page.keyboard.press('Enter');
  const run = await (await answered).json();
  const items = page.locator('.calls > li');
  await items.first().waitFor();
  const texts = await items.allTextContents();
  expect(texts).toHaveLength(run.calls.length);
  for (const [index, { name }] of run.calls.entries()) expect(texts[index]).toContain(name);
  // Its position in words, among the stops and for the stop of the board.
  expect(await page.locator('#result').textContent()).toContain(`Now ${run.position}`);
  const here = page.locator('.calls li:has([aria-current]), .calls li[aria-current]');
  expect(await here.textContent()).toContain(
    run.calls.find(({ stop_id }: { stop_id: string }) => stop_id === run.last_stop_id).name,
  );
  expect(await page.locator('.calls li:has(.yours)').textContent()).toContain('Central Station');
  // Its carriages at the stops still ahead.
  const strips = page.locator('.calls .carriages');
  const last = run.calls.findIndex(({ stop_id }: { stop_id: string }) => stop_id === run.last_stop_id);
  expect(await strips.count()).toBe(run.calls.length - last);
  expect(await strips.first().textContent()).toBe('▁▄█·');
  expect(await strips.first().getAttribute('aria-label')).toBe(
    '4 carriages, front first: many seats, few seats, standing only, unknown',
  );
  // On the map: a circle for each stop, a line in the route's colour, and the vehicle on the line.
  const drawn = (await page.evaluate(READ_MAP)) as DrawnJourney;
  expect(drawn.lines).toHaveLength(1);
  expect(await page.locator('path.leg-end').count()).toBe(run.calls.length);
  expect(await page.locator('.stop-marker.vehicle').count()).toBe(1);
  for (const { x } of drawn.lines[0]?.ends ?? []) expect(x).toBeGreaterThan(0);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(await page.evaluate(SEEN_IN_PANEL)).toBe(true);
  const link = page.url();
  await tabTo(page, 'Back to the board');
  await page.keyboard.press('Enter');
  await page.locator('.follow').first().waitFor();
  await page.goto('about:blank');
  await page.goto(link);
  await page.locator('.calls li:has(.yours)').waitFor();
  expect(complaints).toEqual([]);
  // An ended run says so and links back.
  await page.goto('about:blank');
  await page.goto(
    link.replace(/run=[^,&]+/, `run=${Buffer.from('1 200060 0 2020-01-01T00:00:00Z no run').toString('base64url')}`),
  );
  await page.getByRole('link', { name: 'INVALID_PARAMETER' }).waitFor();
  await page.getByRole('button', { name: 'Back to the board' }).click();
  await page.locator('.follow').first().waitFor();
  await context.close();
});

it('the explorer loads more stops as the map moves, and only outside the area already loaded', async () => {
  const { page, context } = await open('/explore#around=-33.8731,151.2069&at=-33.8731,151.2069,15');
  await page.locator('.stops li').first().waitFor();
  const windows: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/v1/stops?')) windows.push(new URL(request.url()).searchParams.get('bbox') ?? '');
  });
  const move = (lng: number) =>
    page.evaluate(`import(new URL('/assets/explore/explore.js', location.href).href).then(({ map }) => {
      map.show({ lat: -33.797, lng: ${lng}, zoom: 14 });
    })`);
  const inSight = () =>
    page.locator('#map').evaluate((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const isInside = ({ x, y }: Point) => x > left && x < right && y > top && y < bottom;
      return [...element.querySelectorAll('.marker')].filter((one) => isInside(one.getBoundingClientRect())).length;
    });
  await move(151.285);
  await expect.poll(inSight).toBeGreaterThan(0);
  await move(151.284);
  const answered = page.waitForResponse(/\/v1\/stops\?/);
  await move(151.18);
  await answered;
  expect(windows).toHaveLength(2);
  for (const bbox of windows) expect(bbox).toMatch(/^-33\.\d\d,151\.\d\d,-33\.\d\d,151\.\d\d$/);
  await context.close();
});

it('the explorer suggests stops and places while typing, by keyboard too, and plans a journey to a place', async () => {
  const { page, context, complaints } = await open('/explore');
  await page.locator('.stops li').first().waitFor();
  const searches: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/v1/places/search')) searches.push(request.url());
  });
  await page.locator('#from').pressSequentially('domestic airp');
  await page.getByRole('option', { name: /^Domestic Airport Station/ }).click();
  // Typing does not send one request per letter.
  expect(searches.length).toBeLessThan('domestic airp'.length / 2);
  expect(searches.at(-1)).toContain('near=-33.87');
  await page.locator('#to').pressSequentially('opera');
  await page
    .getByRole('option', { name: /Place$/ })
    .first()
    .waitFor();
  const [place] = await page.getByRole('option').allTextContents();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(place).toContain(await page.locator('#to').inputValue());
  await page.getByRole('button', { name: 'Plan' }).click();
  await page.locator('.journey').first().waitFor();
  const link = page.url();
  expect(link).toMatch(/#journey=202020,\w+ID/);
  await page.goto('about:blank');
  await page.goto(link);
  await page.locator('.journey').first().waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

it('the explorer shows the alerts of journeys, boards and visible stops, with the same IDs', async () => {
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
  const plan = tripsResponse.parse(await (await answered).json());
  const ids = plan.journeys[0]?.legs.flatMap((leg) => leg.alert_ids ?? []) ?? [];
  expect(ids.length).toBeGreaterThan(0);
  for (const id of ids)
    expect(await page.locator(`.journey[open] [data-alert="${id}"]`).textContent()).toContain(plan.alert_texts?.[id]);

  await page.goto('about:blank');
  const boardAnswered = page.waitForResponse(/\/v1\/departures/);
  await page.goto(`${front.url}/explore#board=200070&at=-33.8731,151.2069,15`);
  const { departures }: Departures = await (await boardAnswered).json();
  const { alerts } = (
    await front.app.inject({ url: '/v1/alerts?limit=300', headers: { authorization: `Bearer ${front.testKey}` } })
  ).json();
  const marked = departures.find(({ alert_ids }) => alert_ids?.length);
  expect(await page.locator('.alert-mark').first().textContent()).toBe('1');
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.locator('#modes').getByLabel('Light rail', { exact: true }).waitFor();
  await page.locator('.alert-mark').first().focus();
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.dataset.alert')).toBe(marked?.alert_ids?.[0]);
  const known = alerts.find(
    ({ id, url }: { id: string; url: string | null }) =>
      url && departures.some(({ alert_ids }) => alert_ids?.includes(id)),
  );
  await page.locator(`#result [data-alert="${known.id}"] a[href="${known.url}"]`).waitFor();
  await page.locator('#notices summary').click();
  const ofStop = alerts.find(({ stops }: { stops: { stop_id: string }[] }) =>
    stops.some(({ stop_id }) => stop_id === '200070'),
  );
  await page.locator(`#notices [data-alert="${ofStop.id}"]`).waitFor();
  await context.close();
});

it('the explorer opens with the stops around the centre, and a click on the map finds the stops around it', async () => {
  const { page, context, complaints } = await open('/explore');
  await page.locator('.stop-marker, .stop-cluster').first().waitFor();
  expect(await page.locator('#message').textContent()).toMatch(/^\d+ stops\.$/);
  expect(await page.locator('path.land').count()).toBe(1);
  expect(await page.locator('path.network-line').count()).toBeGreaterThan(20);
  const before = await page.locator('.stops li strong').first().textContent();
  await page.locator('#map').click({ position: { x: 420, y: 580 } });
  await expect.poll(() => page.locator('.stops li strong').first().textContent()).not.toBe(before);
  expect(complaints).toEqual([]);
  await context.close();
});

it('the explorer’s coast has the harbour, with Sydney Cove at the water and the Opera House on land', async () => {
  const { page, context } = await open('/explore#around=-33.8731,151.2069&at=-33.83,151.25,13');
  await page.locator('path.channel').waitFor({ state: 'attached' });
  const surfaces =
    await page.evaluate(`import(new URL('/assets/explore/explore.js', location.href).href).then(({ map }) => {
    const [land, channel] = ['land', 'channel'].map((name) => document.querySelector('path.' + name));
    const points = [[-33.859, 151.2117], [-33.853, 151.25], [-33.838, 151.21], [-33.8576, 151.2149]].map((position) => {
      const { x, y } = map.toLayerPoint(position);
      return new DOMPoint(x, y);
    });
    return points.map((point) => !land.isPointInFill(point) || channel.isPointInStroke(point));
  })`);
  // Sydney Cove, the middle of the harbour, North Sydney and the Opera House.
  expect(surfaces).toEqual([true, true, false, false]);
  await context.close();
});

const F1 = {
  line_id: 'ferry_F1',
  route: 'F1',
  name: 'F1 Manly',
  mode: 'ferry',
  operator: 'Sydney Ferries',
  color: '00774B',
  text_color: 'FFFFFF',
};
const QUAY = { stop_id: '200020', name: 'Circular Quay', lat: -33.861, lng: 151.211 };
const WHARF = { stop_id: '209573', name: 'Manly Wharf', lat: -33.8, lng: 151.284 };
const BEND = [151.25, -33.85];
const COURSE = [[QUAY.lng, QUAY.lat], BEND, [WHARF.lng, WHARF.lat]];
const line = {
  ...F1,
  date: '2026-11-20',
  directions: [
    {
      direction_id: 0,
      headsigns: ['Manly'],
      runs: 41,
      first_departure_at: '2026-11-19T18:20:00Z',
      last_departure_at: '2026-11-20T12:40:00Z',
      headway_minutes: 20,
      stops: [QUAY, WHARF],
    },
  ],
  alerts: ['No ferries after 20:00.'],
  alert_ids: ['nP3k9QzVx0'],
  type: 'FeatureCollection',
  features: [{ type: 'Feature', geometry: { type: 'MultiLineString', coordinates: [COURSE] }, properties: {} }],
};

/** A ferry of the line, as `/v1/vehicles` lists it; it is outside the map window. */
const FAR_FERRY = {
  ...{ vehicle_id: 'far', lat: -33.8, lng: 151.9, bearing: null, reported_at: '2026-11-20T02:00:00Z', mode: 'ferry' },
  ...{ route: 'F1', line_id: 'ferry_F1', destination: 'Manly', trip_id: 'far', run_id: null, next_call: null },
  ...{ occupancy: null, carriages: null, wheelchair_accessible: null },
};

const answerLines = async (page: Page) => {
  const ofLine = { retrieved_at: '2026-11-20T02:00:00Z', vehicles: [FAR_FERRY], total: 1 };
  await page.route(/\/v1\/vehicles\?line=ferry_F1$/, (route) => route.fulfill({ json: ofLine }));
  await page.route(/\/v1\/lines\?/, (route) => route.fulfill({ json: { lines: [F1], total: 1 } }));
  await page.route(/\/v1\/lines\/ferry_F1\?/, (route) => route.fulfill({ json: line }));
};

const ferry = (key: string, route: string): Vehicle => ({
  key,
  mode: 'ferry',
  route,
  lineId: `ferry_${route}`,
  headsign: 'Manly',
  tripId: key,
  bearing: null,
  start: null,
  findNextCall: () => null,
  occupancy: null,
  carriages: null,
  isAccessible: null,
  lat: -33.85,
  lng: 151.25,
  reportedAt: NOW,
});

it('the name of a line in the search of the explorer draws its course and stops with its vehicles only', async () => {
  const { page, context, complaints } = await open('/explore');
  await answerLines(page);
  reporting = [ferry('one', 'F1'), ferry('two', 'F2')];
  await page.getByLabel('Find a stop').fill('F1');
  await page.keyboard.press('Enter');
  await page.locator('path.leg.ferry[data-line="F1"]').waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toBe('F1 Manly');
  expect(await page.locator('path.leg-end').count()).toBe(2);
  expect(await page.locator('#result .calls button').allTextContents()).toEqual(['Circular Quay', 'Manly Wharf']);
  expect(await page.locator('#result .alerts').textContent()).toContain('No ferries after 20:00.');
  await expect.poll(() => page.locator('.vehicle-marker').allTextContents()).toEqual(['F1']);
  expect(page.url()).toContain('#line=ferry_F1');

  await page.getByRole('button', { name: 'Board: Manly Wharf' }).click();
  await page.getByRole('button', { name: 'Lines: Manly Wharf' }).click();
  await page.getByRole('button', { name: 'Line F1 Manly' }).waitFor();
  await page.getByRole('button', { name: 'Back to the board' }).waitFor();
  reporting = [];
  expect(complaints).toEqual([]);
  await context.close();
});

const CENTRAL = '-33.884,151.2062';
const train = (key: string, route: string, lng: number): Vehicle => ({
  ...ferry(key, route),
  mode: 'train',
  lineId: `train_${route}`,
  lat: -33.884,
  lng,
  bearing: 45,
});

it('vehicles that are close are one marker on the map until it is near, with arrows inside their badges', async () => {
  reporting = [train('one', 'T1', 151.2061), train('two', 'T1', 151.2062), train('three', 'T8', 151.2063)];
  const { page, context, complaints } = await open(`/explore#around=${CENTRAL}&at=${CENTRAL},14`);
  await page.locator('.vehicle-cluster').waitFor();
  expect(await page.locator('.vehicle-cluster').allTextContents()).toEqual(['3×']);
  expect(await page.locator('.vehicle-marker').count()).toBe(0);
  await page.locator('.vehicle-cluster').dispatchEvent('click');
  await expect.poll(() => page.locator('.vehicle-marker').count()).toBe(3);
  expect(await page.locator('.vehicle-cluster').count()).toBe(0);
  for (const badge of await page.locator('.vehicle-marker').all()) {
    const [outer, arrow] = await Promise.all([badge.boundingBox(), badge.locator('.heading').boundingBox()]);
    expect(arrow && outer && arrow.x >= outer.x && arrow.x + arrow.width <= outer.x + outer.width).toBe(true);
    expect(arrow && outer && arrow.y >= outer.y && arrow.y + arrow.height <= outer.y + outer.height).toBe(true);
  }
  reporting = [];
  expect(complaints).toEqual([]);
  await context.close();
});

it('names of stations stay on the map above stops and vehicles', async () => {
  reporting = [train('one', 'T1', 151.2061), train('two', 'T8', 151.2062)];
  const { page, context } = await open(`/explore#around=${CENTRAL}&at=${CENTRAL},14`);
  await page.locator('.vehicle-cluster').waitFor();
  const names = () => page.locator('.label').allTextContents();
  await expect.poll(names).toContain('Central');
  const levels = await page.evaluate(`['.labels-pane', '.leaflet-marker-pane'].map((pane) =>
    Number(getComputedStyle(document.querySelector(pane)).zIndex))`);
  expect((levels as number[])[0]).toBeGreaterThan((levels as number[])[1] ?? 0);
  expect(new Set(await names()).size).toBe((await names()).length);
  reporting = [];
  await context.close();
});

it('other lines fade and other vehicles disappear while a journey is chosen in the explorer', async () => {
  reporting = [train('one', 'T8', 151.2061), train('two', 'T1', 151.25)];
  const { page, context } = await open(`/explore#around=${CENTRAL}&at=${CENTRAL},16`);
  const opacity = () => page.evaluate(`Number(getComputedStyle(document.querySelector('.network-pane')).opacity)`);
  await expect.poll(opacity).toBeGreaterThan(0.5);
  await page.goto('about:blank');
  await page.goto(`${front.url}/explore#journey=202020,209573`);
  await page.locator('path.leg').first().waitFor();
  await expect.poll(opacity).toBeLessThan(0.3);
  await expect.poll(() => page.locator('.vehicle-marker').allTextContents()).toEqual(['T8']);
  expect(await page.locator('.stop-label').allTextContents()).toContain('Manly Wharf');
  reporting = [];
  await context.close();
});

it('the card of a journey says where a change is at risk', async () => {
  const { page, context } = await open('/explore');
  await page.locator('.stops li').first().waitFor();
  await page.route(/\/v1\/trips\?/, async (route) => {
    const response = await route.fetch();
    const plan = await response.json();
    const rides = plan.journeys[0].legs.flatMap(({ mode }: { mode: string }, leg: number) =>
      mode === 'walk' ? [] : leg,
    );
    const change = { leg: rides[0], next_leg: rides[1], stop_id: '200020', name: 'Circular Quay' };
    plan.journeys[0].change_ratings = [{ ...change, rating: 'at_risk', spare_minutes: 1, spare_seconds: 70 }];
    await route.fulfill({ response, json: plan });
  });
  await page.locator('#from').fill('domestic airport');
  await page.locator('#to').fill('manly wharf');
  await page.keyboard.press('Enter');
  const card = page.locator('.journey[open]');
  await card.waitFor();
  expect(await card.locator('summary').textContent()).toContain('A change is at risk');
  expect(await card.locator('li.change').textContent()).toBe('Change at Circular Quay: 1 min to spare, at risk');
  await context.close();
});

it('the explorer draws a followed vehicle on the course of its line', async () => {
  const { page, context, complaints } = await open('/explore#board=209573&modes=ferry');
  await answerLines(page);
  await page.route(/\/v1\/runs\//, (route) => {
    const call = { platform: null, cancelled: false, arrives_at: null, departs_at: null };
    const [left, due] = ['2026-11-20T02:00:00Z', '2026-11-20T02:20:00Z'];
    const json = {
      ...{
        run_id: 'x',
        mode: 'ferry',
        route: 'F1',
        line_id: 'ferry_F1',
        destination: 'Manly',
        status: 'under_way',
        position: 'between',
      },
      ...{ last_stop_id: QUAY.stop_id, next_stop_id: WHARF.stop_id, next_run_id: null, alerts: [] },
      retrieved_at: '2026-11-20T02:10:00Z',
      calls: [
        { ...call, ...QUAY, departs_at: left },
        { ...call, ...WHARF, arrives_at: due },
      ],
    };
    return route.fulfill({ json });
  });
  await page.locator('.follow').first().click();
  await page.locator('.stop-marker.vehicle').waitFor();
  // Half the time is gone; half the course lies at sea, near the bend and far from the straight line.
  const middle =
    (await page.evaluate(`import(new URL('/assets/explore/explore.js', location.href).href).then(({ map }) =>
    map.stopLayers().at(-1).getLatLng())`)) as { lat: number; lng: number };
  expect(Math.hypot(middle.lat - -33.845, middle.lng - 151.252)).toBeLessThan(0.005);
  const points =
    await page.evaluate(`import(new URL('/assets/explore/explore.js', location.href).href).then(({ map }) =>
    map.legLayers()[0].getLatLngs().map(({ lat, lng }) => [lng, lat]))`);
  expect(points).toEqual(COURSE);
  await page.getByRole('button', { name: 'Line: F1' }).click();
  await page.getByRole('heading', { name: 'F1 Manly' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

it('the explorer shows the area within reach of a stop or a position, by keyboard too', async () => {
  const { page, context, complaints } = await open('/explore#board=200070');
  const sent: URLSearchParams[] = [];
  await page.route(/\/v1\/reachable\?/, (route) => {
    const { searchParams } = new URL(route.request().url());
    sent.push(searchParams);
    const ring = [BEND, [151.2, -33.9], [151.3, -33.9], BEND];
    const geometry = { type: 'MultiPolygon', coordinates: [[ring]] };
    const features = [{ type: 'Feature', geometry, properties: { minutes: Number(searchParams.get('minutes')) } }];
    const origin = { stop_id: searchParams.get('from'), name: 'Town Hall Station' };
    return route.fulfill({ json: { origin, type: 'FeatureCollection', features, total: 140 } });
  });
  await tabTo(page, 'Reach: Town Hall Station');
  await page.keyboard.press('Enter');
  await page.locator('path.reach').waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Within 30 minutes of Town Hall Station');
  await tabTo(page, '45 minutes');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Within 45 minutes of Town Hall Station' }).waitFor();
  expect(await page.getByRole('button', { pressed: true }).textContent()).toBe('45 minutes');
  expect(await page.locator('path.reach').count()).toBe(1);
  const link = page.url();
  expect(link).toContain('#reach=45,200070');
  await page.getByRole('button', { name: 'Reach from here' }).click();
  await page.getByRole('heading', { name: 'Within 30 minutes of this position' }).waitFor();
  expect(sent.map((query) => `${query.get('minutes')} ${query.get('format')}`)).toEqual([
    '30 geojson',
    '45 geojson',
    '30 geojson',
  ]);
  expect(sent[2]?.get('from')).toMatch(/^-33\.\d+,151\.\d+$/);
  expect(complaints).toEqual([]);
  await context.close();
});

it('the explorer shows the age of a board and refreshes it every 15 seconds', async () => {
  const { page, context } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.clock.install();
  await page.goto(`${front.url}/explore#board=200070`);
  await page.locator('#result tbody tr').first().waitFor();
  expect(await page.locator('#result h2').textContent()).toBe('Town Hall Station');
  await page.clock.fastForward(5000);
  expect(await page.locator('[data-age]').textContent()).toMatch(/^, \d+ s ago$/);
  const refreshed = page.waitForRequest(/\/v1\/departures\?stop=200070/);
  await page.clock.fastForward(11_000);
  await refreshed;
  await context.close();
});

it('an explorer link restores the view without the key, and JSON and curl are one click away', async () => {
  const { page, context } = await open('/explore#board=200070');
  await page.locator('#result tbody tr').first().waitFor();
  await page.getByRole('button', { name: 'Filters' }).click();
  const answered = page.waitForResponse(/\/v1\/departures/);
  for (const mode of ['metro', 'lightrail', 'bus', 'coach', 'ferry', 'schoolbus'])
    await page.locator(`#modes input[value=${mode}]`).uncheck();
  await answered;
  await expect.poll(() => page.locator('#result .route:not(.train)').count()).toBe(0);
  const link = page.url();
  expect(link).toMatch(/#board=200070&modes=train&at=-33\.\d+,151\.\d+,\d+$/);
  expect(link).not.toContain('tis_');
  await page.goto('about:blank');
  await page.goto(link);
  await page.locator('#result .route.train').first().waitFor();
  expect(await page.locator('#result .route:not(.train)').count()).toBe(0);
  await page.getByText('JSON and curl').click();
  expect(await page.locator('#curl').textContent()).toContain(`"${front.url}/v1/departures?stop=200070&modes=train`);
  expect(JSON.parse((await page.locator('#json').textContent()) ?? '').stop_id).toBe('200070');
  await context.close();
});

it.each([
  ['board=200070', '#result tbody tr'],
  ['search=Town Hall', '.stops li'],
  ['journey=200060,200070', '#result .journey'],
])(
  'a change of the filters in the explorer at %s neither scrolls the panel nor moves the focus',
  async (view, shown) => {
    const { page, context } = await open(`/explore#${view}`);
    await page.locator(shown).first().waitFor();
    await page.getByRole('button', { name: 'Filters' }).click();
    const box = page.locator('#modes input[value=bus]');
    await box.scrollIntoViewIfNeeded();
    const place = () => page.evaluate(`document.getElementById('panel').scrollTop`);
    const before = await place();
    await page.evaluate(`document.getElementById('result').insertAdjacentHTML('beforeend', '<p id="old">old</p>')`);
    await box.uncheck();
    await page.locator('#old').waitFor({ state: 'detached' });
    expect(await box.evaluate((input) => input.matches(':focus'))).toBe(true);
    expect(await place()).toBe(before);
    await context.close();
  },
);

it('the explorer moves vehicles smoothly to their reported positions and shows the age of the reports', async () => {
  const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  const train = {
    key: 'a train',
    mode: 'train',
    route: 'T4',
    headsign: 'Bondi Junction',
    tripId: 'one',
    bearing: null,
  };
  const unknown = {
    lineId: null,
    start: null,
    findNextCall: () => null,
    occupancy: null,
    carriages: null,
    isAccessible: null,
  };
  const report = (lng: number, secondsAgo: number): Vehicle[] => [
    { ...train, ...unknown, mode: 'train', lat: -33.87, lng, reportedAt: NOW - secondsAgo * 1000 },
  ];
  reporting = report(151.2, 40);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await page.clock.install({ time: NOW });
  await page.goto(`${front.url}/explore#around=-33.8731,151.2069&at=-33.8731,151.2069,15`);
  const badge = page.locator('.vehicle-marker');
  await badge.waitFor();
  expect(await badge.textContent()).toBe('T4');
  const note = page.locator('#vehicles-note');
  expect(await note.textContent()).toMatch(/^1 vehicle, reported 4\d s ago\.$/);

  await page.getByRole('button', { name: 'Filters' }).click();
  await page.clock.pauseAt(NOW + 120_000);
  reporting = report(151.21, 5);
  const left = async () => (await badge.boundingBox())?.x ?? Number.NaN;
  await page.locator('#modes input[value=ferry]').uncheck();
  await expect.poll(() => note.textContent()).toBe('1 vehicle, reported 5 s ago.');
  const start = await left();
  await page.clock.runFor(7500);
  const middle = await left();
  await page.clock.runFor(7600);
  const end = await left();
  expect(end - start).toBeGreaterThan(100);
  expect(Math.abs(middle - (start + end) / 2)).toBeLessThan(3);

  await page.getByLabel('Vehicles on the map').uncheck();
  await expect.poll(() => badge.count()).toBe(0);
  expect(page.url()).toContain('vehicles=off');
  expect(complaints).toEqual([]);
  await context.close();
  reporting = [];
});

it('the explorer accepts a date and a time to arrive by', async () => {
  const { page, context } = await open('/explore#journey=202020,209573&date=20261123&time=0900&arrive_by=true');
  await page.locator('.journey').first().waitFor();
  const last = page.locator('.journey[open] .leg-text').last().locator('strong').last();
  expect((await last.textContent()) ?? '').toMatch(/^08:/);
  expect(await page.getByLabel('Arrive by').isChecked()).toBe(true);
  await context.close();
});

it('the explorer stores a key in the browser, explains a wrong one, and shows no old response with the error', async () => {
  const { page, context } = await open('/explore#board=200070');
  await page.locator('#result tbody tr').first().waitFor();
  await page.getByText('Your key', { exact: true }).click();
  await page.locator('#key').fill('tis_live_mistyped');
  await page.locator('#key').blur();
  await page.getByRole('button', { name: 'Search this area' }).click();
  const link = page.getByRole('link', { name: 'UNAUTHORIZED' });
  await link.waitFor();
  expect(await link.getAttribute('href')).toBe(`${front.url}/docs/errors/UNAUTHORIZED`);
  expect(await page.locator('#result').textContent()).toBe('');
  expect(await page.locator('.stops li, .stop-marker').count()).toBe(0);
  await page.reload();
  expect(await page.locator('#key').inputValue()).toBe('tis_live_mistyped');
  await context.close();
});

it('the map and the response share the screen of a phone in the explorer', async () => {
  const { page, context } = await openWindow(browser, { width: 390, height: 844, hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/explore#board=200070`);
  const row = page.locator('#result tbody tr').first();
  await row.waitFor();
  const [map, panel, response] = await Promise.all(
    [page.locator('#map'), page.locator('#panel'), row].map((part) => part.boundingBox()),
  );
  expect(panel?.y ?? 0).toBeGreaterThan((map?.y ?? 0) + 200);
  expect((response?.y ?? 0) + (response?.height ?? 0)).toBeLessThan(844);
  const height = () => page.locator('#panel').evaluate((element) => element.clientHeight);
  const half = await height();
  await page.getByRole('button', { name: 'Show more' }).click();
  expect(await height()).toBeGreaterThan(half);
  // No gap appears between the edge of the sheet and its handle while the sheet scrolls.
  const above = await page.evaluate(`(() => {
    const panel = document.getElementById('panel');
    panel.scrollTop = 200;
    const { left, top, width } = panel.getBoundingClientRect();
    return [4, width / 2, width - 4].map((x) => document.elementFromPoint(left + x, top + 20).id);
  })()`);
  expect(above).toEqual(['sheet-handle', 'sheet-handle', 'sheet-handle']);
  await context.close();
});

it('on a phone the next departures around are on the first screen of the explorer, below one search field', async () => {
  const { page, context, complaints } = await openWindow(browser, {
    width: 390,
    height: 844,
    hosts: [new URL(front.url).host],
  });
  for (const path of ['/', '/status', '/explore']) {
    await page.goto(front.url + path);
    expect((await page.locator('main').boundingBox())?.y).toBeLessThanOrEqual(96);
  }
  const first = page.locator('.stops > li').first();
  await first.locator('.next li').first().waitFor();
  for (const part of [first.getByRole('button', { name: /^Board: / }), first.locator('.next li').last()])
    expect(await part.evaluate((element) => element.getBoundingClientRect().bottom)).toBeLessThan(844);
  expect(await page.locator('input:is([type=search], [type=text]):visible').count()).toBe(1);
  // A departure leads to its vehicle, and its stop to the board.
  await first.locator('.next .follow').first().click();
  await page.getByRole('button', { name: 'Back to the board' }).click();
  await page.locator('#result tbody tr').first().waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

it.each(['', '#board=200070', '#journey=202020,209573', '#line=train_T4'])(
  'everything to press on the explorer%s of a phone is at least 44 pixels high and wide',
  async (view) => {
    const { page, context } = await openWindow(browser, { width: 390, height: 844, hosts: [new URL(front.url).host] });
    await answerNoLines(page);
    await page.goto(`${front.url}/explore${view}`);
    await page.locator('#result :is(h2, .calls, .notice), .next li, #message .notice').first().waitFor();
    for (const name of ['Journey', 'Filters']) await page.getByRole('button', { name, expanded: false }).click();
    const small = await page.evaluate(`(() => {
      for (const fold of document.querySelectorAll('#panel details')) fold.open = true;
      const targets = '.top a, .leaflet-bar a, #panel :is(button, summary, select, input:not([type=checkbox]), label:has(input[type=checkbox]))';
      return [...document.querySelectorAll(targets)]
        .filter((one) => one.checkVisibility())
        .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
        .filter(([, { width, height }]) => width < 44 || height < 44)
        .map(([html, { width, height }]) => width + ' x ' + height + ' ' + html);
    })()`);
    expect(small).toEqual([]);
    await context.close();
  },
);

it('the sheet of the explorer follows a finger on its handle, and stays at the nearest of three heights', async () => {
  const { page, context } = await openWindow(browser, { width: 390, height: 844, hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/explore#board=200070`);
  await page.locator('#result tbody tr').first().waitFor();
  const panel = page.locator('#panel');
  const height = () => panel.evaluate((element) => element.offsetHeight);
  const half = await height();
  const { x = 0, y = 0 } = (await page.locator('#sheet-handle').boundingBox()) ?? {};
  await page.mouse.move(x + 100, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + 100, y - 30, { steps: 3 });
  expect(await height()).toBe(half + 50);
  await page.mouse.move(x + 100, 150, { steps: 3 });
  await page.mouse.up();
  expect(await panel.getAttribute('data-height')).toBe('high');
  expect(await page.getByRole('button', { name: 'Show the map' }).count()).toBe(1);
  await page.locator('#sheet-handle').press('Enter');
  expect(await panel.getAttribute('data-height')).toBe('low');
  await context.close();
});

it('stops found by a search are in view on a phone in the explorer', async () => {
  const { page, context } = await openWindow(browser, { width: 390, height: 844, hosts: [new URL(front.url).host] });
  await page.goto(`${front.url}/explore`);
  await page.locator('.stops li').first().waitFor();
  await page.getByLabel('Find a stop').fill('circular');
  await page.getByRole('button', { name: 'Find', exact: true }).click();
  const found = page.locator('.stops li').filter({ hasText: 'Circular Quay' }).first();
  await found.waitFor();
  const bottom = () => found.evaluate((element) => element.getBoundingClientRect().bottom);
  await expect.poll(bottom).toBeLessThan(844);
  await context.close();
});
