import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueTestKey } from '../support/access.ts';
import { launchChromium } from '../support/chromium.ts';
import { departureMonitor } from '../support/departure-monitor.ts';
import { startFront } from '../support/front.ts';
import { startProtectedApp } from '../support/protected-app.ts';
import { json } from '../support/upstream.ts';

let browser: Browser;
let service: Awaited<ReturnType<typeof startProtectedApp>>;
let address: string;
/** Servers of an empty page on two other origins. */
let servers: Server[];
let origins: string[];
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
  service = await startProtectedApp({
    now: '2026-04-15T06:00:10Z',
    response: json(departureMonitor('2026-04-15T06:10:00Z')),
  });
  address = await service.app.listen({ host: '127.0.0.1', port: 0 });
  servers = [1, 2].map(() => createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>')));
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  origins = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  page = await browser.newPage();
  await page.goto(origins[0] ?? '');
});

afterAll(async () => {
  await browser?.close();
  await service?.app.close();
  for (const server of servers ?? []) server.close();
});

/** The status of a request by a script on the page, or "blocked" if the browser hides the response. */
function fetchInPage(path: string, headers: Record<string, string>): Promise<number | 'blocked'> {
  const call = `fetch(${JSON.stringify(address + path)}, ${JSON.stringify({ headers })})`;
  // A browser caches only responses that are read to the end.
  return page.evaluate(
    `${call}.then((response) => response.text().then(() => response.status)).catch(() => 'blocked')`,
  );
}

it('a response that the browser caches is shown only with the same key', async () => {
  const send = (key: string) => fetchInPage('/v1/departures?stop=200060', { authorization: `Bearer ${key}` });
  expect(await send(service.apiKey)).toEqual(200);
  expect(await send('revoked')).toEqual(401);
});

it.each([
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
  'x-datadog-trace-id',
  'x-b3-traceid',
  'X-Requested-With',
  'X-Correlation-Id',
  'Content-Type',
  'Cache-Control',
  'If-None-Match',
])('a front end on another origin may send the header %s', async (name) => {
  const path = `/v1/departures?stop=200060&_=${name}`;
  expect(await fetchInPage(path, { authorization: `Bearer ${service.apiKey}`, [name]: 'x' })).toBe(200);
});

it('a publishable key works on pages of its origins, and not in frames of another origin on them', async () => {
  await using front = await startFront();
  const [listed = '', other = ''] = origins;
  const grant = { origins: [listed], perDay: 100, perVisitorHour: 100 };
  const key = await issueTestKey(front.store, { grant });
  const forApps = await issueTestKey(front.store, { grant: { ...grant, apps: true } });
  const path = '/v1/departures?stop=200070&modes=all&limit=2';
  const fetchIn = (where: Page | Frame, sent = key) => {
    const call = `fetch(${JSON.stringify(front.url + path)}, { headers: { authorization: 'Bearer ${sent}' } })`;
    return where.evaluate(`${call}.then((response) => response.text().then(() => response.status))`);
  };
  const followIn = (where: Page | Frame, sent = key) =>
    where.evaluate(`new Promise((resolve) => {
      const events = new EventSource(${JSON.stringify(`${front.url}${path.replace('?', '/stream?')}&access_token=${sent}`)});
      events.addEventListener('board', ({ data }) => { events.close(); resolve(JSON.parse(data).departures.length); });
      events.onerror = () => resolve('refused');
    })`);
  const addFrame = async (attributes: object) => {
    const frame = page.waitForEvent('frameattached');
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('iframe'), ${JSON.stringify(attributes)}))`,
    );
    await (await frame).waitForLoadState();
    return frame;
  };
  expect([await fetchIn(page), await fetchIn(page), await followIn(page)]).toEqual([200, 200, 2]);
  // Two ports of one host are the same site, whose frames share the browser's cache.
  const ofOther = await addFrame({ src: other });
  expect([await fetchIn(ofOther), await followIn(ofOther)]).toEqual([403, 'refused']);
  // This frame sends `Origin: null`, which any site can arrange.
  const hidden = await addFrame({ srcdoc: '<p>', sandbox: 'allow-scripts' });
  expect([await fetchIn(hidden), await followIn(hidden)]).toEqual([403, 'refused']);
  expect([await fetchIn(hidden, forApps), await followIn(hidden, forApps)]).toEqual([200, 2]);
  expect([await fetchIn(ofOther, forApps), await followIn(ofOther, forApps)]).toEqual([403, 'refused']);
});
