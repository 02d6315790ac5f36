import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import type { ErrorCode } from '#src/errors/api-error.ts';
import { ERROR_DOCS } from '#src/errors/docs.ts';
import { countRequests, issueTestKey } from '#test/support/access.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { type Handler, json, startUpstream, type TestUpstream } from '#test/support/upstream.ts';

const NOW = '2026-11-20T12:00:00Z';
const BOARD = '/v1/departures?stop=200070';
const NO_BOARD = { version: '10.6.21.17', locations: [], stopEvents: [] };
const NO_TRIP = { version: '10.6.21.17', systemMessages: [{ type: 'error', module: 'BROKER', code: -4000, text: '' }] };

let upstream: TestUpstream;
let app: TestApp;
const store = openEmbeddedStore(':memory:');

beforeAll(async () => {
  upstream = await startUpstream(json(NO_BOARD));
  app = await buildTestApp({ upstream: upstream.url, store, now: NOW, timeoutMs: 150 });
});

afterAll(async () => {
  await app.close();
  await upstream.close();
  await store.close();
});

const status = (code: number, body: unknown): Handler => json(body, code);
const silent: Handler = () => {};

/** Removes what differs between the documented example and the response: numbers, dates, quoted text. */
const withoutValues = (message: string) => message.replace(/"[^"]*"|G?[\d:.,-]+(?:T[\d:]+Z)?/g, '…');

describe('the error messages in the documentation', () => {
  it.each<[ErrorCode, string, Handler?]>([
    ['INVALID_PARAMETER', `${BOARD}&limit=ten`],
    ['DATE_OUT_OF_RANGE', `${BOARD}&date=20261118`],
    ['NOT_FOUND', '/v1/departure'],
    ['NO_JOURNEYS_FOUND', '/v1/trips?from=200070&to=200060', json(NO_TRIP)],
    ['STOP_NOT_FOUND', '/v1/departures?stop=123456789', json(NO_BOARD)],
    ['UPSTREAM_ERROR', `${BOARD}&time=0101`, status(500, {})],
    ['UPSTREAM_UNAVAILABLE', `${BOARD}&time=0102`, status(429, {})],
    ['UPSTREAM_TIMEOUT', `${BOARD}&time=0103`, silent],
  ])('the documented message of %s is the one that is sent', async (code, url, response) => {
    if (response) upstream.respondWith(response);
    const { error } = (await app.inject(url)).json();
    expect(error.code).toBe(code);
    expect(withoutValues(error.message.replace('/v1/departure.', '…'))).toBe(
      withoutValues(ERROR_DOCS[code].example.message.replace('/v1/departure.', '…')),
    );
  });

  it('the documented message of UNAUTHORIZED is the one that is sent', async () => {
    const { error } = (await app.inject({ url: BOARD, headers: { authorization: '' } })).json();
    expect(error.message).toBe(ERROR_DOCS.UNAUTHORIZED.example.message);
  });

  it('the documented message of METHOD_NOT_ALLOWED is the one that is sent', async () => {
    const { error } = (await app.inject({ method: 'POST', url: '/v1/departures' })).json();
    expect(error.message).toBe(ERROR_DOCS.METHOD_NOT_ALLOWED.example.message);
  });

  it('the error documentation describes keys in stream URLs, and a wait of up to an hour', () => {
    expect(ERROR_DOCS.UNAUTHORIZED.cause).toMatch(
      /only streams take a publishable key or a token there, as access_token/,
    );
    expect(ERROR_DOCS.VISITOR_LIMIT_EXCEEDED.retry).not.toContain('double');
    expect(ERROR_DOCS.VISITOR_LIMIT_EXCEEDED.retry).toContain('up to an hour');
  });

  it('the documented message of SUSPENDED is the one that is sent', async () => {
    const { message } = ERROR_DOCS.SUSPENDED.example;
    const reason = /: (.*?\.) For details/.exec(message)?.[1] ?? '';
    const restrict = async (value: string | null) => {
      await store.setRestriction(`account:${parseKey(app.apiKey)?.accountId}`, value);
      await app.restrictions.refresh();
    };
    await restrict(JSON.stringify({ since: NOW, reason }));
    const response = await app.inject(BOARD);
    await restrict(null);
    expect(response.json().error).toMatchObject({ code: 'SUSPENDED', message });
  });

  it('the documented message of DAILY_LIMIT_EXCEEDED is the one that is sent', async () => {
    const key = await issueTestKey(store, { now: new Date(NOW) });
    await countRequests(store, key, 1000, '20261120');
    const { error } = (await app.inject({ url: BOARD, headers: { authorization: `Bearer ${key}` } })).json();
    expect(error.code).toBe('DAILY_LIMIT_EXCEEDED');
    expect(withoutValues(error.message)).toBe(withoutValues(ERROR_DOCS.DAILY_LIMIT_EXCEEDED.example.message));
  });

  it('the documented message of INTERNAL_ERROR is the one that is sent', async () => {
    const broken = await buildTestApp({ upstream: () => Promise.reject(new TypeError('a bug')), now: NOW });
    const { error } = (await broken.inject(BOARD)).json();
    await broken.close();
    expect(error.message).toBe(ERROR_DOCS.INTERNAL_ERROR.example.message);
  });
});
