import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Departures } from '#src/operations/departures/departure.ts';
import { issueTestKey } from '../support/access.ts';
import { findChromium, launchChromium, openWindow } from '../support/chromium.ts';
import { ensureProgram } from '../support/debian.ts';
import { type Front, startFront } from '../support/front.ts';

interface FeatureCollection {
  features: { geometry: { coordinates: [number, number][] } }[];
}

/** Stands in for MapLibre, which needs WebGL, and records its arguments. */
const MAPLIBRE = `globalThis.maplibregl = {
  Map: class {
    once(_event, run) { setTimeout(run); }
    addSource(_id, source) { globalThis.source = source; }
    addLayer() {}
    fitBounds() { globalThis.fitted = true; }
  },
  LngLatBounds: class { extend() {} },
};`;

let browser: Browser;
let front: Front;
let folder: string;
/** Serves the pages of the examples on their own origin. */
let site: { url: string; close(): unknown };

beforeAll(async () => {
  browser = await launchChromium();
  front = await startFront({ now: '2026-11-20T02:00:20Z' });
  folder = await mkdtemp(join(tmpdir(), 'transit-examples-'));
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    createReadStream(join('examples', request.url ?? '')).pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  site = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
});

afterAll(async () => {
  await browser?.close();
  await front?.[Symbol.asyncDispose]();
  site?.close();
  await rm(folder, { recursive: true, force: true });
});

async function send(path: string): Promise<Departures> {
  return (await front.app.inject({ url: path, headers: { authorization: `Bearer ${front.testKey}` } })).json();
}

/** The journey of the maps examples. */
async function sendJourneys() {
  const headers = { authorization: `Bearer ${front.testKey}` };
  return (await front.app.inject({ url: '/v1/trips?from=202020&to=209573&limit=1', headers })).json().journeys;
}

/** Runs an example program; `code` is its exit code. */
function runPython(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, TIS_URL: front.url, TIS_KEY: front.testKey, CHROMIUM: findChromium() };
  return new Promise((done) => {
    // Python needs tzdata for Sydney time, which a minimal Debian lacks.
    ensureProgram('python3', 'python3 tzdata');
    execFile('python3', args, { env }, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

/** Stands in for the servers of Leaflet and of its tiles. */
async function serveLeaflet(context: BrowserContext): Promise<void> {
  await context.route('https://unpkg.com/leaflet@1.9.4/**', (route) =>
    route.fulfill({
      path: join('node_modules/leaflet', new URL(route.request().url()).pathname.slice('/leaflet@1.9.4/'.length)),
    }),
  );
  await context.route('https://tile.openstreetmap.org/**', (route) =>
    route.fulfill({ path: 'web/assets/icon-32.png' }),
  );
}

it('the web page example shows stops on a map and their boards beside it', async () => {
  const hosts = [new URL(front.url).host, new URL(site.url).host, 'unpkg.com', 'tile.openstreetmap.org'];
  const { page, context, complaints } = await openWindow(browser, { hosts });
  await serveLeaflet(context);
  // A different origin than the service, allowed by the key.
  await page.goto(`${site.url}/web-page/index.html`);
  await page.getByLabel('Address').fill(front.url);
  await page.getByLabel('Publishable key').fill(front.publishableKey);
  await page.getByRole('button', { name: 'Show stops' }).click();
  const markers = page.locator('.leaflet-marker-icon');
  await markers.first().waitFor();
  for (const count of [1, 2]) {
    // Markers overlap, so the event goes directly to one.
    await markers.nth(count - 1).dispatchEvent('click');
    await expect.poll(() => page.locator('#boards h2').count()).toBe(count);
  }
  expect(await page.locator('#boards tr').count()).toBeGreaterThan(6);
  const grant = { origins: ['https://www.example.org'], perDay: 100, perVisitorHour: 100 };
  await page.getByLabel('Publishable key').fill(await issueTestKey(front.store, { grant }));
  await page.getByRole('button', { name: 'Show stops' }).click();
  await page.getByText('its publishable key does not allow').waitFor();
  expect(complaints.filter((text) => !text.includes('status of 403'))).toEqual([]);
  await context.close();
});

it('the Leaflet example draws the whole of a line with its own vehicles, and the area within reach', async () => {
  const hosts = [new URL(front.url).host, new URL(site.url).host, 'unpkg.com', 'tile.openstreetmap.org'];
  const { page, context, complaints } = await openWindow(browser, { hosts });
  await serveLeaflet(context);
  const collection = (type: string, coordinates: unknown) => ({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry: { type, coordinates }, properties: {} }],
  });
  const course = [
    [
      [150.7, -33.75],
      [151.2, -33.85],
      [151.3, -33.6],
    ],
  ];
  const area = [
    [
      [
        [151.1, -33.8],
        [151.2, -33.8],
        [151.2, -33.9],
        [151.1, -33.8],
      ],
    ],
  ];
  const train = {
    lat: -33.8,
    lng: 150.95,
    destination: null,
    reported_at: '2026-11-20T02:00:00Z',
    line_id: 'train_T1',
  };
  await page.route(/\/v1\/lines\/train_T1\?/, (route) =>
    route.fulfill({ json: { mode: 'train', route: 'T1', color: 'F99D1C', ...collection('MultiLineString', course) } }),
  );
  await page.route(/\/v1\/reachable\?/, (route) => route.fulfill({ json: collection('MultiPolygon', area) }));
  await page.route('**/v1/vehicles?line=train_T1', (route) =>
    route.fulfill({ json: { vehicles: [train, { ...train, lng: 151.25 }] } }),
  );
  await page.goto(`${site.url}/maps/leaflet.html#url=${front.url}&key=${front.publishableKey}`);
  // The area, the course and two trains.
  const paths = page.locator('.leaflet-overlay-pane path');
  await expect.poll(() => paths.count()).toBe(4);
  for (const path of await paths.all()) {
    const box = await path.boundingBox();
    expect(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= 1280 && box.y + box.height <= 800).toBe(true);
  }
  expect(complaints).toEqual([]);
  await context.close();
});

it('the MapLibre example gives its map every leg of a journey as lines of longitude and latitude', async () => {
  const hosts = [new URL(front.url).host, new URL(site.url).host, 'unpkg.com'];
  const { page, context, complaints } = await openWindow(browser, { hosts });
  await context.route('https://unpkg.com/**', (route) =>
    route.fulfill(
      route.request().url().endsWith('.css')
        ? { contentType: 'text/css', body: '' }
        : { contentType: 'text/javascript', body: MAPLIBRE },
    ),
  );
  await page.goto(`${site.url}/maps/maplibre.html#url=${front.url}&key=${front.publishableKey}`);
  await page.waitForFunction('globalThis.fitted');
  const { type, data } = (await page.evaluate('globalThis.source')) as { type: string; data: FeatureCollection };
  expect(type).toBe('geojson');
  expect(data.features).toHaveLength((await sendJourneys())[0].legs.length);
  for (const [lng, lat] of data.features.flatMap(({ geometry }) => geometry.coordinates))
    expect(lng > 140 && lat < -30).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});

it('the page of the guide shows its board when saved and opened with the key that the sandbox inserted', async () => {
  const guide = (await front.app.inject('/docs/browsers')).body;
  const [, escaped = ''] =
    /<code[^>]*>(&#60;!doctype html&#62;[\s\S]*?)<\/code>/.exec(guide.replaceAll(/<\/?span[^>]*>/g, '')) ?? [];
  const code = escaped.replaceAll(/&#(\d+);/g, (_, number) => String.fromCharCode(Number(number)));
  expect(code).toContain(front.publishableKey);
  await writeFile(join(folder, 'board.html'), code);
  const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.goto(pathToFileURL(join(folder, 'board.html')).href);
  await page.getByRole('heading', { name: 'Town Hall Station' }).waitFor();
  await page.locator('li').nth(5).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

it('the wall display example keeps its rows while the network is down, after three minutes with planned times', async () => {
  const { page, context, complaints } = await openWindow(browser, { hosts: [new URL(front.url).host] });
  await page.clock.install();
  const settings = new URLSearchParams({ url: front.url, key: front.testKey, stops: '200070,200020' });
  await page.goto(`${pathToFileURL(resolve('examples/wall-display/index.html')).href}#${settings}`);
  await page.getByRole('heading', { name: 'Town Hall Station' }).waitFor();
  await page.getByRole('heading', { name: 'Circular Quay' }).waitFor();
  expect(complaints).toEqual([]);
  await context.setOffline(true);
  await page.clock.runFor(120_000);
  await page.getByText('2 minutes old').waitFor();
  const planned = page.getByText('(planned)');
  expect(await page.locator('tr').count()).toBe(16);
  expect(await planned.count()).toBeLessThan(16);
  await page.clock.runFor(60_000);
  await page.getByText('3 minutes old').waitFor();
  expect(await planned.count()).toBe(await page.locator('td:last-child').getByText('min').count());
  await context.close();
});

it('the Python client prints the board when run as a program', async () => {
  const { stdout, stderr } = await runPython('clients/python/transit.py', '200070', '--once');
  const { stop_name, departures } = await send('/v1/departures?stop=200070&modes=all&limit=8');
  expect([stdout.split('\n')[1], stderr]).toEqual([`${stop_name}, 2026-11-20T02:00:20Z`, '']);
  for (const { destination } of departures) expect(stdout).toContain(destination);
});

it('the e-paper example draws a picture of the display size, and only when the board has changed', async () => {
  const picture = join(folder, 'board.png');
  expect(await runPython('examples/e-paper/board.py', '200070', picture)).toEqual({ code: 0, stdout: '', stderr: '' });
  const png = await readFile(picture);
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([800, 480]);
  const { mtimeMs } = await stat(picture);
  expect((await runPython('examples/e-paper/board.py', '200070', picture)).code).toBe(1);
  expect((await stat(picture)).mtimeMs).toBe(mtimeMs);
  expect((await runPython('examples/e-paper/board.py', '200020', picture)).code).toBe(0);
});

it('the Home Assistant sensor sends a valid request and reads existing fields', async () => {
  const text = await readFile('examples/home-assistant/configuration.yaml', 'utf8');
  const { rest } = parse(text, { customTags: [{ tag: '!secret', resolve: (name: string) => `secret ${name}` }] });
  const [{ resource, params, headers, scan_interval, sensor }] = rest;
  expect(headers).toEqual({ Authorization: 'secret transit_authorization' });
  expect(text).toContain(`${(86_400 / scan_interval).toLocaleString('en')} requests a day`);
  const { pathname } = new URL(resource);
  const value_json = await send(`${pathname}?${new URLSearchParams(params)}`);
  const [{ value_template, availability, json_attributes_path, json_attributes }] = sensor;
  const read = (path: string) =>
    path
      .split(/[.[\]]+/)
      .filter(Boolean)
      .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], { value_json, $: value_json });
  const [, path = ''] = /^\{\{ (\S+) \}\}$/.exec(value_template) ?? [];
  expect(read(path)).toBe(value_json.departures[0]?.minutes_away);
  expect(availability).toBe('{{ value_json is defined and value_json.departures | length > 0 }}');
  expect(Object.keys(read(json_attributes_path) as object)).toEqual(expect.arrayContaining(json_attributes));
});

it('the MagicMirror provider gives its module departures in the right format, and errors with their status', async () => {
  await copyFile(
    'examples/magic-mirror/TransitInformationProvider.mjs',
    join(folder, 'TransitInformationProvider.mjs'),
  );
  // The module's base class stores the configuration, then filters and sorts.
  await writeFile(
    join(folder, 'BaseProvider.mjs'),
    'export default class { constructor(config) { this.config = config } finalizeDepartures(list) { return list } }',
  );
  const { default: Provider } = await import(pathToFileURL(join(folder, 'TransitInformationProvider.mjs')).href);
  const config = { baseUrl: front.url, stationId: '200070', apiKey: front.testKey };
  const departures = await new Provider(config).fetchDepartures();
  const { departures: expected } = await send('/v1/departures?stop=200070&modes=all&limit=40&cancelled=include');
  expect(departures.map((one: { direction: string }) => one.direction)).toEqual(
    expected.map(({ destination }) => destination),
  );
  const live = expected.findIndex(({ is_live }) => is_live);
  const { scheduled_at = '', realtime_at, route, mode } = expected[live] ?? {};
  expect(departures[live]).toMatchObject({
    rawWhen: realtime_at,
    rawPlannedWhen: scheduled_at,
    realTime: true,
    delay: (Date.parse(realtime_at ?? '') - Date.parse(scheduled_at)) / 1000,
    line: { name: route, product: mode },
  });
  await expect(new Provider({ ...config, apiKey: 'wrong' }).fetchDepartures()).rejects.toMatchObject({
    statusCode: 401,
  });
});
