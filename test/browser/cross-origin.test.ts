import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { departureMonitor } from '../support/departure-monitor.ts';
import { startProtectedApp } from '../support/protected-app.ts';
import { json } from '../support/upstream.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 300_000 });

let browser: Browser;
let service: Awaited<ReturnType<typeof startProtectedApp>>;
let address: string;
/** Serves an empty page of another origin. */
let other: Server;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
  service = await startProtectedApp({
    now: '2026-04-15T06:00:10Z',
    response: json(departureMonitor('2026-04-15T06:10:00Z')),
  });
  address = await service.app.listen({ host: '127.0.0.1', port: 0 });
  other = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
});

afterAll(async () => {
  await browser?.close();
  await service?.app.close();
  other?.close();
});

/** The status of what a script on the page gets; "blocked" where the browser lets it read nothing. */
function fetchInPage(path: string, headers: Record<string, string>): Promise<number | 'blocked'> {
  const call = `fetch(${JSON.stringify(address + path)}, ${JSON.stringify({ headers })})`;
  // A browser keeps only answers that are read to the end.
  return page.evaluate(`${call}.then((answer) => answer.text().then(() => answer.status)).catch(() => 'blocked')`);
}

it('shows an answer that the browser keeps to no other key', async () => {
  const ask = (key: string) => fetchInPage('/v1/departures?stop=200060', { authorization: `Bearer ${key}` });
  expect(await ask(service.apiKey)).toEqual(200);
  expect(await ask('revoked')).toEqual(401);
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
])('answers a front end of another origin that sends %s', async (name) => {
  const path = `/v1/departures?stop=200060&x=${name}`;
  expect(await fetchInPage(path, { authorization: `Bearer ${service.apiKey}`, [name]: 'x' })).toBe(200);
});
