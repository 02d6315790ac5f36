import { expect, it } from 'vitest';
import { type JourneyShape, type Leg, sandboxAt, send, trip } from '../requests.ts';

const WEDNESDAY_8AM = '2026-11-17T21:00:00Z';
const AT_8AM = { itdDate: '20261118', itdTime: '0800' };
const STOPS = ['200100', '200200', '200300', 'G200400', 'G200500', '200800'];

const classesOf = (journey: JourneyShape | undefined) => journey?.legs.map((leg) => leg.transportation.product.class);
const departureOf = (journey: JourneyShape | undefined) => journey?.legs[0]?.origin.departureTimePlanned;
const arrivalOf = (journey: JourneyShape | undefined) => journey?.legs.at(-1)?.destination.arrivalTimePlanned;
const isOnFoot = (leg: Leg) => leg.transportation.product.class >= 99;

it('a direct sandbox ride has its stops, geometry and times', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { journeys = [] } = await trip(sandbox, '200100', '200300', { ...AT_8AM, TfNSWTR: 'false' });
  expect(journeys.map(departureOf)).toEqual(
    ['00', '15', '30', '45']
      .map((minute) => `2026-11-17T21:${minute}:00Z`)
      .concat(['2026-11-17T22:00:00Z', '2026-11-17T22:15:00Z']),
  );
  const leg = journeys[0]?.legs[0];
  expect(journeys[0]).toMatchObject({ rating: 0, isAdditional: false, interchanges: 0, fare: { tickets: [] } });
  expect(leg).toMatchObject({
    duration: 780,
    origin: {
      id: '2001001',
      disassembledName: 'Alder Station, Platform 1',
      parent: { id: '200100', type: 'stop', coord: [-33.8, 151], parent: { name: 'Alder', type: 'locality' } },
      properties: { platform: 'ALD1', platformName: 'Platform 1', WheelchairAccess: 'true' },
      departureTimePlanned: '2026-11-17T21:00:00Z',
      departureTimeEstimated: '2026-11-17T21:00:00Z',
      departureTimeBaseTimetable: '2026-11-17T21:00:00Z',
    },
    destination: {
      id: '2003001',
      arrivalTimePlanned: '2026-11-17T21:13:00Z',
      arrivalTimeEstimated: '2026-11-17T21:13:00Z',
    },
    coords: [
      [-33.8, 151],
      [-33.801, 151.02],
      [-33.8, 151.05],
      [-33.799, 151.08],
      [-33.8, 151.1],
    ],
  });
  expect(leg?.stopSequence?.map((call) => call.arrivalTimePlanned ?? call.departureTimePlanned)).toEqual([
    '2026-11-17T21:00:00Z',
    '2026-11-17T21:06:30Z',
    '2026-11-17T21:13:00Z',
  ]);
});

it('a change between two stops in a sandbox journey is a walk leg', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { journeys = [] } = await trip(sandbox, '200100', 'G200500', AT_8AM);
  expect(classesOf(journeys[0])).toEqual([1, 100, 5]);
  expect(journeys[0]?.interchanges).toBe(1);
  expect(journeys[0]?.legs[1]).toMatchObject({ duration: 360, distance: 300 });
});

it('a change of platforms in a sandbox journey is footPathInfo of the previous leg, not a leg', async () => {
  const sandbox = await sandboxAt('2026-11-17T20:00:00Z');
  const { journeys = [] } = await trip(sandbox, '200100', '200800', { itdDate: '20261118', itdTime: '0830' });
  expect(classesOf(journeys[0])).toEqual([1, 7]);
  const [first, second] = journeys[0]?.legs ?? [];
  expect(first?.footPathInfo).toEqual([{ position: 'AFTER', duration: 180 }]);
  if (first?.interchange !== undefined) expect(first.interchange).toMatchObject({ desc: 'Fussweg', type: 100 });
  expect(second?.transportation).not.toHaveProperty('disassembledName');
  expect(second).not.toHaveProperty('footPathInfo');
});

it('a sandbox journey to a platform ends with a walk of class 99 within the stop', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { journeys = [] } = await trip(sandbox, '200100', '2003002', AT_8AM);
  expect(classesOf(journeys[0])).toEqual([1, 99]);
  expect(journeys[0]?.legs[1]?.footPathInfo).toEqual([{ position: 'IDEST', duration: 120 }]);
});

it('sandbox journeys with an arrival time are in time, latest first', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const query = { depArrMacro: 'arr', itdDate: '20261118', itdTime: '1000' };
  const { journeys = [] } = await trip(sandbox, '200100', 'G200500', query);
  const arrivals = journeys.map((journey) => arrivalOf(journey) ?? '');
  expect(arrivals).toHaveLength(6);
  expect(arrivals).toEqual(arrivals.toSorted().toReversed());
  expect(arrivals[0]).toBe('2026-11-17T22:59:00Z');
});

it('each leg of a sandbox journey begins by planned times where and when the previous one ended, or later', async () => {
  let count = 0;
  for (const now of [WEDNESDAY_8AM, '2026-11-18T12:30:00Z', '2026-04-04T14:40:00Z', '2026-10-03T14:40:00Z']) {
    const sandbox = await sandboxAt(now);
    for (const from of STOPS) {
      for (const to of STOPS.filter((stop) => stop !== from)) {
        for (const depArrMacro of ['dep', 'arr']) {
          const { journeys = [] } = await trip(sandbox, from, to, { depArrMacro });
          for (const { legs } of journeys) expectContinuous(legs);
          count += journeys.length;
        }
      }
    }
  }
  expect(count).toBeGreaterThan(100);
});

function expectContinuous(legs: Leg[]): void {
  for (const [i, leg] of legs.entries()) {
    const { departureTimePlanned = '', departureTimeEstimated = '' } = leg.origin;
    const { arrivalTimePlanned = '', arrivalTimeEstimated = '' } = leg.destination;
    expect(arrivalTimePlanned > departureTimePlanned).toBe(true);
    expect(leg.duration * 1000).toBe(Date.parse(arrivalTimeEstimated) - Date.parse(departureTimeEstimated));
    const next = legs[i + 1];
    if (next === undefined) continue;
    expect((next.origin.departureTimePlanned ?? '') >= arrivalTimePlanned).toBe(true);
    if (isOnFoot(leg) || isOnFoot(next)) expect(next.origin.id).toBe(leg.destination.id);
    expect(isOnFoot(leg) && isOnFoot(next)).toBe(false);
  }
}

it('a sandbox ride over part of a line has that part of its geometry', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { journeys = [] } = await trip(sandbox, '200200', '200300', AT_8AM);
  expect(journeys[0]?.legs[0]?.coords).toEqual([
    [-33.8, 151.05],
    [-33.799, 151.08],
    [-33.8, 151.1],
  ]);
});

it('the first sandbox journey between two near stops is a walk', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const { journeys = [] } = await trip(sandbox, '200300', 'G200400', AT_8AM);
  expect(classesOf(journeys[0])).toEqual([100]);
  expect(journeys[0]).toMatchObject({ interchanges: 0, isAdditional: false });
  expect(journeys[0]).not.toHaveProperty('rating');
});

it('a sandbox journey does not use excluded modes', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const query = { ...AT_8AM, excludedMeans: 'checkbox', exclMOT_5: '1' };
  expect((await trip(sandbox, '200100', 'G200500', query)).systemMessages).toMatchObject([{ code: -4000 }]);
  expect((await trip(sandbox, '200100', '200300', query)).journeys).toHaveLength(6);
});

it('a sandbox journey with wheelchair=on uses accessible vehicles only', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const usual = await trip(sandbox, '200300', 'G200500', AT_8AM);
  expect(usual.journeys?.flatMap(({ legs }) => legs).some((leg) => leg.transportation.product.class === 5)).toBe(true);
  const { journeys = [] } = await trip(sandbox, '200300', 'G200500', { ...AT_8AM, wheelchair: 'on' });
  expect(journeys.flatMap(({ legs }) => legs).some((leg) => leg.transportation.product.class === 5)).toBe(false);
});

it('a sandbox journey from an address or a coordinate begins with a walk', async () => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  for (const place of ['streetID:1::Birch St', '151.003:-33.8:EPSG:4326']) {
    const { journeys = [] } = await trip(sandbox, place, '200300', AT_8AM);
    expect(classesOf(journeys[0])).toEqual([100, 1]);
  }
  const between = await trip(sandbox, '151.003:-33.8:EPSG:4326', 'poiID:2:Birch Park', AT_8AM);
  expect(classesOf(between.journeys?.[0])).toEqual([100, 1, 100]);
});

it.each([
  ['an unknown origin', '999999', '200100', {}, -8020, 'origin: no matches'],
  ['an unknown destination', '200100', '999999', {}, -8020, 'destination: no matches'],
  ['an island', '200100', '200700', {}, -4000, 'no connection'],
  ['the same place twice', '200100', '10100001', {}, -4007, 'origin equals destination'],
  ['a date far ahead', '200100', '200300', { itdDate: '20261203', itdTime: '0800' }, -4001, 'date invalid'],
  ['a date long ago', '200100', '200300', { itdDate: '20261101', itdTime: '0800' }, -4001, 'date invalid'],
])('a sandbox trip request with %s returns 200, no journeys and the reason', async (_, from, to, query, code, text) => {
  const sandbox = await sandboxAt(WEDNESDAY_8AM);
  const response = await trip(sandbox, from, to, query);
  expect(response.systemMessages).toMatchObject([{ type: 'error', module: 'BROKER', code, text }]);
  expect(response).not.toHaveProperty('journeys');
});

it('sandbox journeys continue from the last of the evening to the first of the morning', async () => {
  const sandbox = await sandboxAt('2026-11-18T13:45:00Z');
  const { journeys = [] } = await trip(sandbox, 'G200400', 'G200500');
  expect(journeys.map(departureOf).slice(0, 4)).toEqual([
    '2026-11-18T13:50:00Z',
    '2026-11-18T14:10:00Z',
    '2026-11-18T18:10:00Z',
    '2026-11-18T18:30:00Z',
  ]);
});

it('the sandbox journeys of the same request in the same minute are identical byte for byte', async () => {
  const query = {
    type_origin: 'any',
    name_origin: '200100',
    type_destination: 'any',
    name_destination: 'G200500',
    TfNSWTR: 'true',
  };
  const early = await sandboxAt('2026-11-17T21:00:01Z');
  const late = await sandboxAt('2026-11-17T21:00:58Z');
  const [first, second] = await Promise.all(
    [early, late].map(async (sandbox) => (await send(sandbox, 'trip', query)).text()),
  );
  expect(first).toBe(second);
});
