import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { timetableReach } from '#src/journeys/reach.ts';
import { chooseJourneys, type JourneyQuery } from '#src/journeys/source.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { parseJourneyId } from '#src/operations/trips/journey-id.ts';
import { buildTestApp, type TestApp } from '../../support/app.ts';
import { createInlineEngine } from '../../support/inline-engine.ts';
import { importSandbox } from '../../support/sandbox-timetable.ts';
import { currentOf } from '../../support/timetable.ts';

/** A Thursday, 11:00 in Sydney. */
const NOW = '2026-11-26T00:00:00Z';
/** Central to Circular Quay, and a position by St James. */
const TRIPS = '/v1/trips?from=200060&to=200020&time=0830&date=20261127';
const POSITION = '-33.8700,151.2100';

let app: TestApp;
let now = new Date(NOW);
/** The searches of the timetable and of the trip planner. */
const asked: { timetable: JourneyQuery[]; planner: JourneyQuery[] } = { timetable: [], planner: [] };

beforeAll(async () => {
  const timetable = await importSandbox(indexNetwork(loadNetwork()), now.getTime());
  const options = {
    timetable: currentOf(timetable),
    engines: createInlineEngine(timetable),
    feeds: null,
    now: () => now.getTime(),
  };
  const byTimetable = timetableJourneys(options);
  const find = (query: JourneyQuery, turn: Parameters<typeof byTimetable.fetch>[1]) => {
    asked.timetable.push(query);
    return byTimetable.fetch(query, turn);
  };
  app = await buildTestApp({
    now: () => now,
    upstream: async () => ({ payload: {}, retrievedAt: now.getTime() }) as never,
    journeys: chooseJourneys({
      mode: 'auto',
      planner: {
        async fetch(query, { turn }) {
          asked.planner.push(query);
          return { ...(await byTimetable.fetch(query, turn)), origin: { source: 'planner' } };
        },
      },
      timetable: { ...byTimetable, fetch: find },
      isScarce: () => false,
      clock: { now: () => now.getTime(), after: () => () => {} },
    }),
    reach: timetableReach(options),
  });
});
beforeEach(() => {
  asked.timetable = [];
  asked.planner = [];
});
afterAll(() => app.close());

const get = async (path: string) => {
  const response = await app.inject(path);
  expect(response.statusCode, response.body).toBe(200);
  const next = /<([^>]*)>; rel="next"/.exec(String(response.headers.link))?.[1];
  return { body: response.json(), notice: response.headers['x-notice'], next };
};
interface Leg {
  mode: string;
  duration_minutes: number;
  distance_metres: number | null;
  origin: { departs_at: string };
  destination: { arrives_at: string };
}
const walksOf = (body: { journeys: { legs: Leg[] }[] }) =>
  body.journeys.flatMap(({ legs }) => legs.filter(({ mode }) => mode === 'walk'));

describe("a rider's choices", () => {
  it('journeys with a choice come from the timetable, and others from the trip planner', async () => {
    for (const [more, isChosen] of [
      ['', false],
      ['&pace=normal', false],
      ['&pace=slow', true],
      ['&min_change=2', true],
      ['&max_walk=1000', true],
      ['&prefer=less_walking', true],
    ] as const) {
      asked.timetable = [];
      const { notice } = await get(`${TRIPS}${more}&limit=2&path=none`);
      expect(asked.timetable.length > 0, more).toBe(isChosen);
      expect(String(notice).includes('Planned from the timetable'), more).toBe(isChosen);
    }
  });

  it('the walks of an answer have the chosen pace and length', async () => {
    const lengths = async (more: string) =>
      walksOf((await get(`/v1/trips?from=${POSITION}&to=200020&time=0830&date=20261127&max_walk=900${more}`)).body).map(
        ({ distance_metres: metres, duration_minutes: minutes }) => [metres ?? 0, minutes] as const,
      );
    for (const [pace, speed] of [
      ['slow', 0.8],
      ['normal', 1.2],
      ['fast', 1.6],
    ] as const) {
      const found = await lengths(`&pace=${pace}`);
      expect(found.length).toBeGreaterThan(0);
      expect(Math.max(...found.map(([metres]) => metres))).toBeLessThanOrEqual(900);
      for (const [metres, minutes] of found) expect(minutes).toBe(Math.max(1, Math.round((metres * 1.3) / speed / 60)));
    }
  });

  it('further pages keep the choices', async () => {
    let page = `${TRIPS}&pace=fast&min_change=7&max_walk=600&prefer=fewer_changes&limit=2&path=none`;
    for (let count = 0; count < 3; count++) {
      const { body, next } = await get(page);
      expect(asked.timetable.at(-1)?.choices).toEqual({
        pace: 'fast',
        minChange: 7,
        maxWalk: 600,
        prefer: 'fewer_changes',
      });
      for (const { legs } of body.journeys as { legs: Leg[] }[]) {
        const rides = legs.filter(({ mode }) => mode !== 'walk');
        for (const [index, ride] of rides.slice(1).entries()) {
          const before = Date.parse((rides[index] as Leg).destination.arrives_at);
          expect(Date.parse(ride.origin.departs_at) - before).toBeGreaterThanOrEqual(7 * 60_000);
        }
      }
      page = next as string;
      expect(page).toMatch(/pace=fast.*min_change=7|min_change=7.*pace=fast/);
    }
    expect(asked.planner).toEqual([]);
  });

  it('a journey ID keeps the choices, and is as before without any', async () => {
    const idOf = async (more: string) =>
      (await get(`${TRIPS}&include=ids&limit=1&path=none${more}`)).body.journeys[0].journey_id;
    const choices = { pace: 'slow', minChange: 4, maxWalk: 300, prefer: 'less_walking' };
    const chosen = await idOf('&pace=slow&min_change=4&max_walk=300&prefer=less_walking');
    expect(parseJourneyId(chosen)?.choices).toEqual(choices);
    expect(await idOf('&pace=normal')).toBe(await idOf(''));
    // A ride that no feed has is looked up as it was found.
    asked.timetable = [];
    now = new Date('2026-11-26T21:00:00Z');
    await get(`/v1/trips/${chosen}`);
    now = new Date(NOW);
    expect(asked.timetable.map((query) => query.choices)).toEqual([choices]);
  });

  it('a journey ID keeps the stops on the way, and following the journey plans with them', async () => {
    const [{ journey_id: direct, legs }] = (await get(`${TRIPS}&include=ids&limit=1&path=none`)).body.journeys;
    expect(parseJourneyId(direct)?.via).toBeUndefined();
    const ride = (legs as { mode: string; destination: { stop_id: string } }[]).find(({ mode }) => mode !== 'walk');
    const stopId = ride?.destination.stop_id as string;
    const [journey] = (await get(`${TRIPS}&via=${stopId}@3&include=ids&limit=1&path=none`)).body.journeys;
    const via = [{ stopId, stayMinutes: 3 }];
    expect(parseJourneyId(journey.journey_id)?.via).toEqual(via);
    asked.timetable = [];
    now = new Date('2026-11-26T21:00:00Z');
    await get(`/v1/trips/${journey.journey_id}`);
    now = new Date(NOW);
    expect(asked.timetable.map((query) => query.via)).toEqual([via]);
  });

  it('a journey ID keeps whether rides may have to be booked', async () => {
    const idOf = async (more: string) =>
      (await get(`${TRIPS}&include=ids&limit=1&path=none${more}`)).body.journeys[0].journey_id;
    const excluding = await idOf('&booking=exclude');
    expect([parseJourneyId(excluding)?.booking, parseJourneyId(await idOf(''))?.booking]).toEqual([
      'exclude',
      'include',
    ]);
    asked.timetable = [];
    now = new Date('2026-11-26T21:00:00Z');
    await get(`/v1/trips/${excluding}`);
    now = new Date(NOW);
    expect(asked.timetable.map((query) => query.withoutBooking)).toEqual([true]);
  });

  it('without a journey, the message names the choices that limit it', async () => {
    const response = await app.inject(
      `/v1/trips?from=${POSITION}&to=200020&time=0830&date=20261127&max_walk=0&min_change=5`,
    );
    expect([response.statusCode, response.json().error.code]).toEqual([404, 'NO_JOURNEYS_FOUND']);
    expect(response.json().error.message).toContain('that fits max_walk and min_change');
  });

  it('the area within reach and the stops grow with the pace and with the longest walk', async () => {
    const REACHABLE = `/v1/reachable?from=${POSITION}&time=0830&date=20261127&minutes=25`;
    const totals = [];
    const sizes = [];
    for (const more of ['&pace=slow&max_walk=200', '&pace=slow', '', '&pace=fast']) {
      totals.push((await get(`${REACHABLE}${more}`)).body.total);
      const { coordinates } = (await get(`${REACHABLE}${more}&format=geojson`)).body.features[0].geometry;
      sizes.push(
        (coordinates as [number, number][][][]).map(([ring]) => sizeOf(ring ?? [])).reduce((a, b) => a + b, 0),
      );
    }
    for (const list of [totals, sizes]) expect(list).toEqual(list.toSorted((one, other) => one - other));
    expect(new Set(totals).size).toBeGreaterThan(2);
    expect(new Set(sizes).size).toBe(4);
    const { best } = (await get(`/v1/travel-times?from=${POSITION}&to=200060&time=0830&date=20261127&max_walk=0`)).body
      .destinations[0];
    expect(best).toBeNull();
  });
});

function sizeOf(ring: readonly [number, number][]): number {
  return Math.abs(
    ring.reduce((sum, [x, y], index) => {
      const [nextX, nextY] = ring[(index + 1) % ring.length] as [number, number];
      return sum + x * nextY - nextX * y;
    }, 0),
  );
}
