import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNearbyOperation } from '#src/operations/nearby/operation.ts';
import type { FindContext } from '#src/operations/operation.ts';
import type { NearbyStop } from '#src/stops/around.ts';
import { type PlannerStops, plannerStops } from '#src/stops/named-stops.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops, type StopRecord, tableOf } from '#src/stops/table.ts';
import { upstreamMetres } from '#src/stops/upstream-metres.ts';
import type { Mode } from '#src/transit/mode.ts';
import { buildTestApp } from '#test/support/app.ts';
import { noUpstream } from '#test/support/no-upstream.ts';
import { datesFrom, type MadeSchedule, scheduleFile } from '#test/support/schedule-file.ts';
import { currentOf, timetableOf } from '#test/support/timetable.ts';

/** Noon in Sydney. */
const NOW = '2026-11-26T01:00:00Z';
const CONTEXT = { queryUpstream: noUpstream, now: () => Date.parse(NOW) } as unknown as FindContext;
const WEEK = datesFrom('20261126', '20261202');
const [LAT, LNG] = [-33.8827, 151.2065];

function registerOf(schedule: MadeSchedule, planner?: PlannerStops): StopRegister {
  const timetable = timetableOf(scheduleFile('buses', { ...schedule, firstDay: '20261120', lastDay: '20270131' }));
  return new StopRegister(noStops, { timetable: currentOf(timetable), ...(planner && { planner }) });
}

async function openNearby(schedule: MadeSchedule, planner?: PlannerStops, now = NOW) {
  const app = await buildTestApp({ upstream: noUpstream, now, stops: registerOf(schedule, planner) });
  const get = (query = 'modes=all') => app.inject(`/v1/nearby?lat=${LAT}&lng=${LNG}&include=ids&${query}`);
  return {
    get,
    find: async (): Promise<NearbyStop[]> => (await get()).json().stops,
    close: () => app.close(),
  };
}

describe('nearby stops from the timetable', () => {
  it('nearby lists the same stops as a scan of all stops for a requested mode within a week, nearest first', async () => {
    const modes = ['bus', 'train', 'ferry'] as const;
    const days = ['20261126', '20261202', '20261203', '20261204'];
    const made = fc.array(
      fc.record({
        lat: fc.integer({ min: -90, max: 90 }).map((step) => LAT + step / 10_000),
        lng: fc.integer({ min: -90, max: 90 }).map((step) => LNG + step / 10_000),
        trips: fc.array(
          fc.record({
            mode: fc.constantFrom(...modes),
            day: fc.constantFrom(...days),
            // Before and after the time of day of the request.
            time: fc.constantFrom('10:00', '14:00'),
            isLast: fc.boolean(),
          }),
          { maxLength: 3 },
        ),
      }),
      { minLength: 1, maxLength: 12 },
    );
    const wanted = fc.record({
      modes: fc.subarray([...modes], { minLength: 1 }),
      radius: fc.constantFrom(100, 500, 2000),
      limit: fc.constantFrom(1, 3, 50),
    });
    const from = Date.parse(NOW);
    await fc.assert(
      fc.asyncProperty(made, wanted, async (places, query) => {
        const stops = places.map(({ lat, lng }, index) => ({
          id: String(100 + index),
          name: `Stop ${index}`,
          lat,
          lng,
        }));
        const trips = places.flatMap((place, index) =>
          place.trips.map(({ mode, day, time, isLast }, nth) => ({
            id: `${index}-${nth}`,
            route: mode,
            days: [day],
            calls: isLast
              ? [['9', '09:00'] as const, [String(100 + index), time] as const]
              : [[String(100 + index), time] as const, ['9', '15:00'] as const],
          })),
        );
        const register = registerOf({
          stops: [...stops, { id: '9', name: 'Far', lat: -33.0, lng: LNG }],
          routes: modes.map((id) => ({ id, mode: id })),
          trips,
        });
        const { body } = await createNearbyOperation({ stops: register }).handle(
          { lat: LAT, lng: LNG, ...query },
          CONTEXT,
        );
        const found = body.stops;
        const expected = places
          .map((place, index) => ({
            stop_id: String(100 + index),
            metres: upstreamMetres([LAT, LNG], [place.lat, place.lng]),
            modes: place.trips
              .filter(({ day, time, isLast }) => {
                const at = Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${time}:00+11:00`);
                return !isLast && at >= from && at < from + 7 * 86_400_000;
              })
              .map(({ mode }) => mode as Mode),
          }))
          .filter(
            (stop) => stop.metres <= query.radius && stop.modes.some((mode) => query.modes.includes(mode as never)),
          )
          .sort((one, other) => one.metres - other.metres || one.stop_id.localeCompare(other.stop_id))
          .slice(0, query.limit);
        expect(found.map(({ stop_id }) => stop_id).sort()).toEqual(expected.map(({ stop_id }) => stop_id).sort());
        for (const { stop_id, distance_metres, modes: served } of found) {
          const one = expected.find((other) => other.stop_id === stop_id);
          expect(distance_metres).toBe(Math.round(one?.metres ?? -1));
          expect(new Set(served)).toEqual(new Set(one?.modes));
        }
        const distances = found.map(({ distance_metres }) => distance_metres);
        expect(distances).toEqual(distances.toSorted((one, other) => one - other));
      }),
      { numRuns: 200, seed: 20261126 },
    );
  });

  const runs = (id: string, stopId: string, days = WEEK, route = 'R') => ({
    id,
    route,
    days,
    calls: [[stopId, '14:00'] as const, ['9', '14:30'] as const],
  });
  const FAR = { id: '9', name: 'Far', lat: -33, lng: LNG };

  it('nearby lists a station once, at its own position and as far away as its nearest platform, with the platforms within the radius', async () => {
    const platform = (id: string, metresNorth: number) => ({
      id,
      name: `Central Station Platform ${id.slice(-1)}`,
      parentId: '200060',
      lat: LAT + metresNorth / 111_195,
      lng: LNG,
    });
    const nearby = await openNearby({
      stops: [
        { id: '200060', name: 'Central Station', isStation: true, lat: LAT + 150 / 111_195, lng: LNG },
        platform('2000321', 300),
        platform('2000322', 100),
        platform('2000323', 600),
        FAR,
      ],
      routes: [{ id: 'R', mode: 'train' }],
      trips: [runs('1', '2000323')],
    });
    expect(await nearby.find()).toEqual([
      {
        stop_id: '200060',
        name: 'Central Station',
        distance_metres: expect.closeTo(100, -1),
        lat: expect.closeTo(LAT + 150 / 111_195, 5),
        lng: LNG,
        modes: ['train'],
        routes: [],
        children: ['2000322', '2000321'],
      },
    ]);
    await nearby.close();
  });

  it('nearby adds suburbs and groups poles like the trip planner once both are known', async () => {
    const record = (stop_id: string, more: Partial<StopRecord>): StopRecord => ({
      stop_id,
      name: 'Foveaux St at Elizabeth St',
      suburb: 'Surry Hills',
      lat: LAT,
      lng: LNG,
      modes: [],
      parent_id: null,
      is_platform: false,
      ...more,
    });
    const pole = { parent_id: 'G201081', is_platform: true };
    const records = [record('G201081', {}), record('201081', pole), record('201082', pole)];
    const planner = plannerStops(tableOf(records));
    const poles = {
      stops: [
        { id: '201081', name: 'Foveaux St at Elizabeth St', lat: LAT, lng: LNG },
        { id: '201082', name: 'Foveaux St at Elizabeth St', lat: LAT, lng: LNG + 0.0005 },
        FAR,
      ],
      trips: [runs('1', '201082')],
    };
    const [before, after] = [await openNearby(poles), await openNearby(poles, planner)];
    expect(await before.find()).toMatchObject([{ stop_id: '201082', name: 'Foveaux St at Elizabeth St' }]);
    expect(await after.find()).toMatchObject([
      {
        stop_id: 'G201081',
        name: 'Foveaux St at Elizabeth St, Surry Hills',
        distance_metres: 0,
        modes: ['bus'],
        children: ['201081', '201082'],
      },
    ]);
    await Promise.all([before.close(), after.close()]);
  });

  it('nearby lists a stop whose timetable file has expired', async () => {
    const stops = [{ id: '1', name: 'Stop', lat: LAT, lng: LNG }, FAR];
    const nearby = await openNearby({ stops, trips: [runs('1', '1')] }, undefined, '2027-02-10T01:00:00Z');
    expect(await nearby.find()).toMatchObject([{ stop_id: '1', modes: ['bus'] }]);
    await nearby.close();
  });

  it('nearby explains an empty list and gives the age of the timetable', async () => {
    const stops = [{ id: '1', name: 'Stop', lat: LAT, lng: LNG }, FAR];
    const nearby = await openNearby({ stops, trips: [runs('1', '1')] });
    const response = await nearby.get('modes=train');
    expect([response.statusCode, response.json().stops]).toEqual([200, []]);
    expect((await nearby.get('radius=100')).headers).toMatchObject({ age: '3600' });
    await nearby.close();
  });
});
