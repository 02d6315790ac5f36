import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '#src/sandbox/server.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';

const NOW = '2026-11-20T02:00:20Z';

let sandbox: Sandbox;
let app: TestApp;
beforeAll(async () => {
  sandbox = await startSandbox({ apiKey: 'test-key', now: () => new Date(NOW) });
  app = await buildTestApp({ upstream: sandbox.url, now: NOW });
});
afterAll(async () => {
  await app.close();
  await sandbox.close();
});

it.each([
  ['G201023', 'G201023'],
  ['g201023', 'G201023'],
  ['200070', '200070'],
])('a search for the identifier %s finds that stop, which departures take', async (q, stopId) => {
  const { results } = (await app.inject(`/v1/stops/search?q=${q}`)).json();
  expect(results).toMatchObject([{ stop_id: stopId }]);
  expect((await app.inject(`/v1/departures?stop=${stopId}`)).statusCode).toBe(200);
});
