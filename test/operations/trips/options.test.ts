import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tripsResponse } from '#src/operations/trips/response.ts';
import { MODES } from '#src/transit/mode.ts';
import { expectErrorObject } from '#test/contract/expect-contract.ts';
import { buildSandboxApp, type TestApp } from '#test/support/app.ts';

const NOW = '2026-11-20T02:00:20Z';
/** Stops and positions of the sandbox in the city, in Manly and in Balmain, whose bus is not accessible. */
const PLACES = ['200060', '200020', '209573', '-33.8731,151.2069', '-33.8005,151.284', '-33.8561,151.1795'];

let app: TestApp;
beforeAll(async () => {
  app = await buildSandboxApp(NOW);
});
afterAll(() => app.close());

const send = (query: Record<string, string>) => app.inject(`/v1/trips?${new URLSearchParams(query)}`);

async function plan(query: Record<string, string>) {
  const response = await send(query);
  expect(response.statusCode, response.body).toBe(200);
  return tripsResponse.parse(response.json());
}

const options = fc.record(
  {
    modes: fc.subarray([...MODES], { minLength: 1 }).map(String),
    wheelchair: fc.constantFrom('true', 'false'),
    max_changes: fc.integer({ min: 0, max: 3 }).map(String),
    arrive_by: fc.constantFrom('true', 'false'),
    time: fc.constantFrom('0830', '2300'),
  },
  { requiredKeys: [] },
);

describe('journey options in the sandbox', () => {
  it('journeys use only the requested modes and make at most `max_changes` changes', async () => {
    const ends = fc.shuffledSubarray(PLACES, { minLength: 2, maxLength: 2 });
    let shown = 0;
    await fc.assert(
      fc.asyncProperty(ends, options, async ([from = '', to = ''], more) => {
        const response = await send({ from, to, ...more, path: 'none' });
        if (response.statusCode !== 200) return expectErrorObject(response);
        const { origin, destination, journeys } = tripsResponse.parse(response.json());
        expect([origin.stop_id, destination.stop_id]).toEqual([from, to]);
        const allowed = ['walk', ...(more.modes?.split(',') ?? MODES)];
        for (const { legs, changes } of journeys) {
          expect(allowed).toEqual(expect.arrayContaining(legs.map(({ mode }) => mode)));
          expect(changes).toBeLessThanOrEqual(Number(more.max_changes ?? 9));
        }
        shown += journeys.length;
      }),
      { seed: 20260415, numRuns: 80 },
    );
    expect(shown).toBeGreaterThan(80);
  });

  it('journeys with `wheelchair=true` use only accessible vehicles', async () => {
    const query = { from: '200070', to: '-33.8561,151.1795', modes: 'bus', time: '0900', date: '20261124' };
    const { journeys } = await plan(query);
    expect(new Set(journeys.flatMap(({ legs }) => legs.flatMap(({ route }) => route ?? [])))).toEqual(new Set(['441']));
    const response = await send({ ...query, wheelchair: 'true' });
    expect(response.statusCode).toBe(404);
    expect(response.json().error.message).toContain('at this time that fits modes and wheelchair.');
  });
});

describe('a position as origin or destination', () => {
  it('a journey between positions begins and ends there with a walk, and repeats the positions as written', async () => {
    const { origin, destination, journeys } = await plan({ from: ' -33.87310, 151.2069', to: '-33.8005,151.284' });
    expect(origin).toEqual({ stop_id: '-33.8731,151.2069', name: '-33.8731,151.2069' });
    expect(destination.stop_id).toBe('-33.8005,151.284');
    for (const { legs } of journeys) {
      expect([legs[0]?.mode, legs.at(-1)?.mode]).toEqual(['walk', 'walk']);
      expect(legs[0]?.origin).toMatchObject({ ...origin, platform: null, lat: -33.8731, lng: 151.2069 });
      expect(legs.at(-1)?.destination).toMatchObject({ ...destination, lat: -33.8005, lng: 151.284 });
    }
    expect(await plan({ from: origin.stop_id, to: destination.stop_id })).toEqual({
      origin,
      destination,
      journeys,
      retrieved_at: expect.any(String),
    });
  });

  it('a position without a stop nearby is a 404', async () => {
    const response = await send({ from: '-30,140', to: '200060' });
    expect(response.statusCode).toBe(404);
    expect(response.json().error.message).toContain('no journey from -30,140 to 200060');
  });
});
