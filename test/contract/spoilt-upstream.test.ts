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
/** Keys where upstream nests objects, and some where it does not. */
const DEEP_PLACES: readonly Key[] = ['locations', 'stopEvents', 'journeys', 'legs', 0, 'origin', 'parent', 'coord'];
const OWN_LISTS = ['stopEvents', 'locations', 'journeys'];
const VERDICTS_EXPIRE_MS = 25 * 60 * 60_000;

let upstream: TestUpstream;
let app: TestApp;
/** Replacements for upstream's valid responses, by endpoint. */
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

async function sendWith({ url }: { url: string }, endpoint: string, payload: unknown) {
  spoilt.set(endpoint, toText(payload));
  try {
    return await app.inject(url);
  } finally {
    spoilt.clear();
  }
}

/** The valid request, without and with all optional fields. */
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
      const response = await sendWith(operation, operation.endpoint, withValue(operation.response, path, value));
      expect(response.statusCode, `${path.join('.')} = ${value}`).toBeLessThan(500);
      expectContract(response, operation);
    }
  }
}

describe.each(OPERATIONS)('spoilt upstream payloads of $name', PATIENCE, (operation) => {
  it(`${operation.name} returns every record of a valid payload`, async () => {
    const response = await app.inject(operation.url);
    expect(response.statusCode).toBe(200);
    expectContract(response, operation);
    const shown = Object.values(response.json()).find(Array.isArray);
    expect(shown?.length).toBeGreaterThanOrEqual(2);
  });

  it(`${operation.name} keeps the contract with any mutation of the payload`, async () => {
    await fc.assert(
      fc.asyncProperty(mutations, fc.constantFrom(...urlsOf(operation)), async (changes, url) => {
        const response = await sendWith({ url }, operation.endpoint, mutate(operation.response, changes));
        expect([200, 400, 404, 502]).toContain(response.statusCode);
        expectContract(response, operation);
      }),
      RUNS,
    );
  });

  it(`${operation.name} never fails when one field is missing, except the list that identifies its endpoint`, async () => {
    for (const path of listPaths(operation.response).filter((path) => !OWN_LISTS.includes(path.join('.')))) {
      const response = await sendWith(operation, operation.endpoint, without(operation.response, path));
      expect(response.statusCode, path.join('.')).toBeLessThan(500);
      expectContract(response, operation);
    }
  });

  it(`${operation.name} never fails when one field is null`, async () => {
    for (const path of listPaths(operation.response)) {
      const response = await sendWith(operation, operation.endpoint, withValue(operation.response, path, null));
      expect(response.statusCode, path.join('.')).toBeLessThan(500);
      expectContract(response, operation);
    }
  });

  it(`${operation.name} never fails when one number is absurd`, async () => {
    const isNumber = (path: Key[]) => !path.includes('coords') && typeof valueAt(operation.response, path) === 'number';
    await expectEach(operation, listPaths(operation.response).filter(isNumber), STRANGE_NUMBERS);
  });

  it(`${operation.name} never fails when one time is absurd`, async () => {
    const isTime = (path: Key[]) => /Time(Planned|Estimated|BaseTimetable)$/.test(String(path.at(-1)));
    await expectEach(operation, listPaths(operation.response).filter(isTime), STRANGE_TIMES);
  });

  it(`${operation.name} never answers 500 however deep a field is nested`, async () => {
    const isDeep = (path: Key[]) => DEEP_PLACES.includes(path.at(-1) as Key);
    for (const path of listPaths(operation.response).filter(isDeep)) {
      const payload = withValue(operation.response, path, '<deep parents>');
      const response = await sendWith(operation, operation.endpoint, payload);
      expect(response.statusCode, path.join('.')).not.toBe(500);
      expectContract(response, operation);
    }
  });
});

describe('nearby with spoilt boards of its stops', PATIENCE, () => {
  const nearby = OPERATIONS[1];
  const departures = OPERATIONS[0];

  it('nearby matches its schema with any mutation of the boards that it checks', async () => {
    await fc.assert(
      fc.asyncProperty(mutations, async (changes) => {
        app.clock.now = new Date(app.clock.now.getTime() + VERDICTS_EXPIRE_MS);
        const response = await sendWith(nearby, departures.endpoint, mutate(departures.response, changes));
        expect(response.statusCode).toBe(200);
        expectContract(response, nearby);
      }),
      RUNS,
    );
  });
});
