import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '#sandbox/server.ts';
import { buildApp } from '#src/app.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { openTestAccess, sendKey } from './support/access.ts';

const NOW = new Date('2026-11-20T02:00:20Z');
const now = () => NOW;

describe('the service without extensions', () => {
  let sandbox: Sandbox;
  let app: Awaited<ReturnType<typeof buildApp>>;

  beforeAll(async () => {
    sandbox = await startSandbox({ apiKey: 'test-key', now });
    const client = createEfaClient({
      url: sandbox.url,
      apiKey: 'test-key',
      timeoutMs: 5000,
      now: () => now().getTime(),
    });
    const { store, apiKey } = await openTestAccess(NOW);
    app = await buildApp({
      config: { publicUrl: 'https://example.test', docsUrl: 'https://example.test/docs', trustProxy: false },
      sources: { queryUpstream: client.callUpstream },
      access: { store, acceptsTestKeys: false },
      now: () => now().getTime(),
    });
    app.addHook('onClose', async () => client.close());
    sendKey(app, apiKey);
  });

  afterAll(async () => {
    await app.close();
    await sandbox.close();
  });

  it.each([
    ['/v1/departures?stop=200070&modes=all', 'departures'],
    ['/v1/nearby?lat=-33.8731&lng=151.2069&modes=all', 'stops'],
    ['/v1/stops/search?q=town%20hall', 'results'],
    ['/v1/trips?from=200070&to=202020', 'journeys'],
  ])('the service without extensions answers %s with %s', async (url, list) => {
    const response = await app.inject(url);
    expect(response.statusCode).toBe(200);
    expect(response.json()[list]).not.toEqual([]);
  });

  it.each(['/healthz', '/readyz', '/openapi.json'])('the service without extensions answers %s', async (url) => {
    expect((await app.inject(url)).statusCode).toBe(200);
  });

  it('the service without car parks says so where they are requested', async () => {
    const response = await app.inject('/v1/stops/200070?include=carparks');
    expect([response.json().carparks, response.headers['x-notice']]).toEqual([null, 'This service has no car parks.']);
  });

  it.each([
    '/',
    '/docs',
    '/mcp',
    '/board/200070',
    '/v1/departures/stream?stop=200070',
    '/v1/carparks',
    '/v1/carparks/486',
  ])('the service without extensions has no %s', async (url) => {
    expect((await app.inject(url)).statusCode).toBe(404);
  });
});
