import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { startUpstream, type TestUpstream } from '#test/support/upstream.ts';
import { expectContract } from './expect-contract.ts';
import {
  type Key,
  listPaths,
  mutate,
  mutations,
  STRANGE_NUMBERS,
  STRANGE_TIMES,
  toText,
  valueAt,
  without,
  withValue,
} from './mutation.ts';
import { endpointOf, GOOD_ANSWERS, OPERATIONS, type Operation } from './operations.ts';
import { NOW } from './payloads.ts';

const RUNS = { seed: 20260415, numRuns: 150 };
const PATIENCE = { timeout: 30_000 };
/** Keys at which upstream puts objects within objects, and some at which it does not. */
const DEEP_PLACES: readonly Key[] = ['locations', 'stopEvents', 'journeys', 'legs', 0, 'origin', 'parent', 'coord'];
const OWN_LISTS = ['stopEvents', 'locations', 'journeys'];
const VERDICTS_EXPIRE_MS = 25 * 60 * 60_000;

let upstream: TestUpstream;
let app: TestApp;
/** The authority's text in place of its good response, by endpoint. */
const spoilt = new Map<string, string>();

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    const endpoint = endpointOf(request.url);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(spoilt.get(endpoint) ?? GOOD_ANSWERS.get(endpoint));
  });
  app = await buildTestApp({ upstream: upstream.url, now: NOW });
});

afterAll(async () => {
  await app.close();
  await upstream.close();
});

async function askWith({ url }: { url: string }, endpoint: string, payload: unknown) {
  spoilt.set(endpoint, toText(payload));
  try {
    return await app.inject(url);
  } finally {
    spoilt.clear();
  }
}

/** The good request, and that with every field that has to be asked for. */
function urlsOf({ name, url }: Operation): string[] {
  if (name === 'stop search') return [url];
  return [
    url,
    name === 'nearby' ? `${url}&include=ids` : `${url}&cancelled=include&include=ids,colors,alert_texts,access`,
  ];
}

async function expectEach(operation: Operation, paths: Key[][], values: readonly unknown[]) {
  for (const path of paths) {
    for (const value of values) {
      const response = await askWith(operation, operation.endpoint, withValue(operation.response, path, value));
      expect(response.statusCode, `${path.join('.')} = ${value}`).toBeLessThan(500);
      expectContract(response, operation);
    }
  }
}

describe.each(OPERATIONS)('$name', PATIENCE, (operation) => {
  it('answers the good payload with every record in it', async () => {
    const response = await app.inject(operation.url);
    expect(response.statusCode).toBe(200);
    expectContract(response, operation);
    const shown = Object.values(response.json()).find(Array.isArray);
    expect(shown?.length).toBeGreaterThanOrEqual(2);
  });

  it('keeps the contract whatever is wrong with the payload', async () => {
    await fc.assert(
      fc.asyncProperty(mutations, fc.constantFrom(...urlsOf(operation)), async (changes, url) => {
        const response = await askWith({ url }, operation.endpoint, mutate(operation.response, changes));
        expect([200, 400, 404, 502]).toContain(response.statusCode);
        expectContract(response, operation);
      }),
      RUNS,
    );
  });

  it('never fails for the want of one field, except the list that makes the response one of its endpoint', async () => {
    for (const path of listPaths(operation.response).filter((path) => !OWN_LISTS.includes(path.join('.')))) {
      const response = await askWith(operation, operation.endpoint, without(operation.response, path));
      expect(response.statusCode, path.join('.')).toBeLessThan(500);
      expectContract(response, operation);
    }
  });

  it('never fails for one field that is null', async () => {
    for (const path of listPaths(operation.response)) {
      const response = await askWith(operation, operation.endpoint, withValue(operation.response, path, null));
      expect(response.statusCode, path.join('.')).toBeLessThan(500);
      expectContract(response, operation);
    }
  });

  it('never fails for one number that is out of all reason', async () => {
    const isNumber = (path: Key[]) => !path.includes('coords') && typeof valueAt(operation.response, path) === 'number';
    await expectEach(operation, listPaths(operation.response).filter(isNumber), STRANGE_NUMBERS);
  });

  it('never fails for one time that is out of all reason', async () => {
    const isTime = (path: Key[]) => /Time(Planned|Estimated|BaseTimetable)$/.test(String(path.at(-1)));
    await expectEach(operation, listPaths(operation.response).filter(isTime), STRANGE_TIMES);
  });

  it('has no trouble of its own however deep a field goes', async () => {
    const isDeep = (path: Key[]) => DEEP_PLACES.includes(path.at(-1) as Key);
    for (const path of listPaths(operation.response).filter(isDeep)) {
      const payload = withValue(operation.response, path, '<deep parents>');
      const response = await askWith(operation, operation.endpoint, payload);
      expect(response.statusCode, path.join('.')).not.toBe(500);
      expectContract(response, operation);
    }
  });
});

describe('nearby, while it asks what stops at its stops', PATIENCE, () => {
  const nearby = OPERATIONS[1];
  const departures = OPERATIONS[0];

  it('answers with the schema whatever is wrong with those payloads', async () => {
    await fc.assert(
      fc.asyncProperty(mutations, async (changes) => {
        app.clock.now = new Date(app.clock.now.getTime() + VERDICTS_EXPIRE_MS);
        const response = await askWith(nearby, departures.endpoint, mutate(departures.response, changes));
        expect(response.statusCode).toBe(200);
        expectContract(response, nearby);
      }),
      RUNS,
    );
  });
});
