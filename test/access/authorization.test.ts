import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AccountStore } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { issueTestKey } from '../support/access.ts';
import { buildProbeApp, type ProbeApp } from '../support/probe-app.ts';

const REQUESTS = 20_000;
const AT_ONCE = 500;

let store: AccountStore;
let app: ProbeApp;
let key: string;
const logged: string[] = [];

beforeAll(async () => {
  store = openEmbeddedStore(':memory:');
  const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  app = await buildProbeApp({ store, logger });
  key = await issueTestKey(store, { plan: 'pro' });
});
afterAll(async () => {
  await app.close();
  await store.close();
});

/** Nearly valid keys, valid keys in the wrong place, and text that is no key. */
function mutations(): fc.Arbitrary<string> {
  const at = fc.nat(key.length - 1);
  const letter = fc.stringMatching(/^[ -~]$/);
  const nearly = fc.oneof(
    fc.tuple(at, letter).map(([index, other]) => key.slice(0, index) + other + key.slice(index + 1)),
    fc.tuple(at, letter).map(([index, other]) => key.slice(0, index) + other + key.slice(index)),
    at.map((index) => key.slice(0, index)),
    at.map((index) => key.slice(index + 1)),
    fc.tuple(at, at).map(([one, other]) => swap(key, one, other)),
    fc.constantFrom(
      key.toLowerCase(),
      key.toUpperCase(),
      key.replace('live', 'test'),
      `${key}${key}`,
      `${key},${key}`,
      `"${key}"`,
    ),
  );
  const scheme = fc.constantFrom(
    'Bearer ',
    'bearer ',
    'Bearer\t',
    'Bearer  ',
    'Basic ',
    'apikey ',
    'Token ',
    'Bearer',
    '',
    'Bearer:',
  );
  const noise = fc.string({ maxLength: 200, unit: 'grapheme-ascii' });
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(scheme, nearly).map(([before, text]) => before + text) },
    { weight: 1, arbitrary: fc.constantFrom('', 'Basic ', 'Bearer', 'Bearer:').map((before) => before + key) },
    { weight: 2, arbitrary: fc.tuple(scheme, noise).map(([before, text]) => before + text) },
    { weight: 1, arbitrary: noise },
  );
}

function swap(text: string, one: number, other: number): string {
  const letters = [...text];
  [letters[one], letters[other]] = [letters[other] ?? '', letters[one] ?? ''];
  return letters.join('');
}

it(`${REQUESTS.toLocaleString('en')} nearly valid Authorization headers admit nobody, and the log has none of them`, {
  timeout: 150_000,
}, async () => {
  const seed = randomBytes(4).readInt32BE();
  const headers = fc.sample(mutations(), { numRuns: REQUESTS, seed });
  const statuses: Record<number, number> = {};
  for (let start = 0; start < REQUESTS; start += AT_ONCE) {
    const sent = headers.slice(start, start + AT_ONCE).filter((authorization) => !isRight(authorization));
    const responses = await Promise.all(
      sent.map((authorization) => app.inject({ url: '/v1/probe', headers: { authorization } })),
    );
    for (const { statusCode } of responses) statuses[statusCode] = (statuses[statusCode] ?? 0) + 1;
  }
  expect(Object.keys(statuses), `seed ${seed}`).toEqual(['401']);

  const log = logged.join('');
  expect(logged.length).toBeGreaterThan(REQUESTS / 2);
  expect(log).not.toMatch(/tis_(live|test)_/i);
  expect(log).not.toContain(key.slice(17, 30));
  expect(log).not.toContain(key.slice(30, 44));
});

/** A swap of equal letters or a blank before the key leaves the header valid. */
function isRight(authorization: string): boolean {
  return /^bearer\s+$/i.test(authorization.replace(key, '')) && authorization.includes(key);
}

it('the log contains no key that was put into a URL', async () => {
  const before = logged.length;
  for (const url of [
    `/v1/probe?key=${key}`,
    `/v1/probe?x=${key}`,
    `/v1/probe?${key}`,
    `/v1/probe?x=${key.replace('_', '%5f')}`,
  ]) {
    expect((await app.inject({ url, headers: { authorization: 'Bearer x' } })).statusCode).toBe(401);
  }
  for (const url of [`/v1/${key}`, `/${key}/v1/probe`, `/v1/probe/${key.replace('_', '%5f')}?x=${key}`]) {
    expect((await app.inject({ url, headers: { authorization: `Bearer ${key}` } })).statusCode).toBe(404);
  }
  expect(logged.length).toBeGreaterThan(before);
  expect(logged.slice(before).join('')).not.toContain(key.slice(17, 30));
});
