import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium, openWindow } from '../support/chromium.ts';
import { type Front, startFront } from '../support/front.ts';

let browser: Browser;
let front: Front;
let folder: string;
/** Serves the built client on an origin of its own. */
let site: { url: string; close(): unknown };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transit-browser-client-'));
  await promisify(execFile)('node_modules/.bin/tsc', ['-p', 'clients/typescript', '--outDir', folder]);
  browser = await launchChromium();
  front = await startFront({ now: '2026-11-20T02:00:20Z' });
  const server = createServer(async (request, response) => {
    const isModule = request.url?.endsWith('.js');
    response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(
      isModule
        ? await readFile(join(folder, basename(request.url ?? '')))
        : '<!doctype html><link rel=icon href=data:,>',
    );
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

it('the TypeScript client gets boards, pages and streams in a page of another origin', async () => {
  const hosts = [new URL(front.url).host, new URL(site.url).host];
  const { page, context, complaints } = await openWindow(browser, { hosts });
  await page.goto(site.url);
  const program = `(async () => {
    const { createTransit } = await import('/transit.js');
    const transit = createTransit({ url: '${front.url}', key: '${front.publishableKey}' });
    const query = { stop: '200070', modes: ['all'], limit: 3 };
    const first = await transit.getDepartures(query);
    const again = await transit.getDepartures(query);
    let rows = 0;
    for await (const { departures } of transit.getDepartures.pages(query)) if ((rows += departures.length) >= 6) break;
    for await (const { stop_name } of transit.streamDepartures(query))
      return [first.departures.length, JSON.stringify(again) === JSON.stringify(first), rows, stop_name];
  })()`;
  expect(await page.evaluate(program)).toEqual([3, true, 6, 'Town Hall Station']);
  expect(complaints).toEqual([]);
  await context.close();
});
