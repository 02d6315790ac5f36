import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Runs } from '#src/boards/runs.ts';
import { plannerJourneys } from '#src/journeys/planner/planner.ts';
import { createFollowOperation } from '#src/operations/follow/operation.ts';
import { noLines } from '#src/operations/sources.ts';
import { parseJourneyId } from '#src/operations/trips/journey-id.ts';
import { MODES } from '#src/transit/mode.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { ids } from '#test/support/ids.ts';
import { startUpstream, type TestUpstream } from '#test/support/upstream.ts';
import { openStream } from '../../extensions/streams/reading.ts';

/** Town Hall 06:30 to Central 06:33, a walk of two minutes, from there 06:40 to Seven Hills 07:15. */
const PAIR = JSON.parse(readFileSync('test/fixtures/trips/identifiers-of-runs-and-stops-on-request.json', 'utf8')) as {
  request: string;
  upstream: { trip: Trips };
};
interface Trips {
  journeys: { legs: Leg[] }[];
}
interface Leg {
  isRealtimeControlled?: boolean;
  isCancelled?: boolean;
  origin: { departureTimePlanned: string };
  destination: { arrivalTimeEstimated: string };
  transportation: { properties: { RealtimeTripId?: string } };
}
const PLANNED_AT = '2026-04-15T06:25:30Z';

let upstream: TestUpstream;
let app: TestApp;
let now = new Date(PLANNED_AT);
let journeyId: string;

beforeAll(async () => {
  upstream = await startUpstream(() => {});
  app = await buildTestApp({ upstream: upstream.url, now: () => now });
  answerWith(PAIR.upstream.trip);
  const [journey] = (await app.inject(PAIR.request)).json().journeys;
  journeyId = journey.journey_id;
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

/** Each test runs at a later time, when cached responses of the previous one have expired. */
let minutes = 0;
beforeEach(() => {
  minutes += 4;
  now = new Date(Date.parse('2026-04-15T06:25:30Z') - 600_000 + minutes * 60_000);
  upstream.requests.length = 0;
});

function answerWith(trip: Trips, next: Trips = PAIR.upstream.trip, notices: object | null = null): void {
  upstream.respondWith(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, upstream.url);
    const isNext = searchParams.get('name_origin') !== '200070';
    const body = pathname.endsWith('trip') ? (isNext ? next : trip) : notices;
    response.writeHead(body ? 200 : 500, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
  });
}

/** The journey of the fixture with its legs changed. */
function withLegs(change: (first: Leg, second: Leg) => void): Trips {
  const trip = structuredClone(PAIR.upstream.trip);
  const [first, second] = (trip.journeys[0] as Trips['journeys'][0]).legs as [Leg, Leg];
  change(first, second);
  return trip;
}

async function follow(more = '') {
  const response = await app.inject(`/v1/trips/${journeyId}${more}`);
  expect(response.statusCode, response.body).toBe(200);
  return {
    ...createFollowOperation({ journeys: plannerJourneys({ get: () => null }), listAlerts: async () => [] }).body.parse(
      response.json(),
    ),
    notice: response.headers['x-notice'],
  };
}

const lateBy = (minute: number) =>
  withLegs((first) => {
    first.isRealtimeControlled = true;
    first.destination.arrivalTimeEstimated = `2026-04-15T06:${33 + minute}:00Z`;
  });

function laterBy(minutes: number, legs: Leg[]): Leg[] {
  const later = (moment: string) => new Date(Date.parse(moment) + minutes * 60_000).toISOString().replace('.000', '');
  return JSON.parse(JSON.stringify(legs).replace(/2026-04-15T[\d:]{8}Z/g, later));
}

describe('a followed journey', () => {
  it('a followed journey takes one upstream call, from its planned start', async () => {
    answerWith(PAIR.upstream.trip);
    const { status, changes, journey, next_journeys: next, notice } = await follow();
    expect({ status, next, notice }).toEqual({ status: 'possible', next: null, notice: undefined });
    expect(changes).toMatchObject([
      { leg: 0, next_leg: 2, stop_id: '2000339', status: 'possible', spare_minutes: 5, spare_seconds: 300 },
    ]);
    expect(journey.legs.map(({ mode, found }) => [mode, found])).toEqual([
      ['train', true],
      ['walk', true],
      ['train', true],
    ]);
    const sent = upstream.requests.map((url) => new URL(url, upstream.url).searchParams);
    const names = ['name_origin', 'name_destination', 'itdDate', 'itdTime'];
    expect(sent.map((one) => names.map((name) => one.get(name)))).toEqual([['200070', '214710', '20260415', '1630']]);
  });

  it.each([
    [0, 'possible', 'on_time', 300],
    [1, 'possible', 'tight', 240],
    [3, 'possible', 'tight', 120],
    [4, 'at_risk', 'at_risk', 60],
    [5, 'at_risk', 'at_risk', 0],
    [6, 'missed', 'at_risk', -60],
  ])(
    'a followed journey %i minutes late has a change that is `%s`, and both it and the planned one rate it `%s`',
    async (late, status, rating, spare) => {
      answerWith(lateBy(late));
      const found = await follow();
      expect(found.status).toBe(status);
      expect(found.changes).toMatchObject([{ status, rating, spare_seconds: spare, spare_minutes: spare / 60 }]);
      const planned = (await app.inject(`${PAIR.request},changes`)).json();
      expect(planned.journeys[0].change_ratings).toEqual(found.changes.map(({ status: _, ...change }) => change));
      expect(found.journey.legs[0]?.duration_minutes, 'by the best-known times').toBe(3 + late);
      expect(found.journey.legs[1]?.destination.arrives_at_realtime).toBe(`2026-04-15T06:${35 + late}:00Z`);
    },
  );

  it('a followed journey with a missed change lists journeys onward that can be caught and followed', async () => {
    const next = withLegs(() => {});
    // Upstream plans from the station, so it also lists departures that the rider misses during the two-minute walk.
    next.journeys = [0, 15, 20].flatMap((late) =>
      next.journeys.map(({ legs }) => ({ legs: laterBy(late, legs.slice(1)) })),
    );
    answerWith(lateBy(20), next);
    const { next_journeys: journeys } = await follow();
    const [, second] = upstream.requests.map((url) => new URL(url, upstream.url).searchParams);
    expect([second?.get('name_origin'), second?.get('name_destination')]).toEqual(['200060', '214710']);
    expect(upstream.requests).toHaveLength(2);
    // From platform 19, where the late ride ends, to platform 18: the two-minute walk of the missed change.
    expect(journeys?.map(({ departs_at }) => departs_at)).toEqual(['2026-04-15T06:53:00Z', '2026-04-15T06:58:00Z']);
    expect(journeys?.[0]?.legs.map(({ mode, duration_minutes: minutes }) => [mode, minutes])).toEqual([
      ['walk', 2],
      ['train', 35],
    ]);
    expect(journeys?.[0]?.legs[0]).toMatchObject({
      origin: { stop_id: '2000339', departs_at: '2026-04-15T06:53:00Z' },
      destination: { stop_id: '2000338', arrives_at: '2026-04-15T06:55:00Z' },
    });
    expect(parseJourneyId(journeys?.[0]?.journey_id ?? '')).toMatchObject({
      from: '200060',
      to: '214710',
      legs: [{ mode: 'walk', origin: { stopId: '2000339' } }, { mode: 'train' }],
    });
  });

  it('a followed journey continues from the platform of its last ride, with a walk sized for each onward platform', async () => {
    const next = withLegs(() => {});
    const [journey] = next.journeys as [Trips['journeys'][0]];
    const from = (late: number, stopId: string, lat: number) => {
      const [ride] = structuredClone(laterBy(late, journey.legs.slice(1))) as [Leg];
      Object.assign(ride.origin, { id: stopId, coord: [lat, 151.206] });
      return { legs: [ride] };
    };
    // The ride arrives at 06:53. Four minutes are too short to walk 300 metres; a change on the same platform needs no walk.
    next.journeys = [from(13, '2000339', -33.8834), from(17, '2000301', -33.8861), from(22, '2000301', -33.8861)];
    answerWith(lateBy(20), next);
    const { next_journeys: journeys } = await follow();
    expect(journeys?.map(({ legs }) => legs.map((leg) => [leg.mode, leg.origin.departs_at]))).toEqual([
      [['train', '2026-04-15T06:53:00Z']],
      [
        ['walk', '2026-04-15T06:56:52Z'],
        ['train', '2026-04-15T07:02:00Z'],
      ],
    ]);
  });

  it('a followed journey reports that onward journeys are unavailable while upstream fails', async () => {
    answerWith(lateBy(20), {} as Trips);
    const { next_journeys: journeys, status } = await follow();
    expect({ journeys, status }).toEqual({ journeys: [], status: 'missed' });
  });

  it('a followed journey whose first ride is cancelled is cancelled, and continues from its start', async () => {
    answerWith(
      withLegs((first) => {
        first.isCancelled = true;
      }),
    );
    const { status, journey, changes, next_journeys: journeys } = await follow();
    expect({ status, changes }).toMatchObject({ status: 'cancelled', changes: [{ status: 'missed' }] });
    expect(journey.legs.map(({ cancelled }) => cancelled)).toEqual([true, false, false]);
    expect(journeys).not.toBeNull();
  });

  it('a followed journey keeps a ride that upstream no longer lists, and marks it', async () => {
    now = new Date('2026-04-15T06:20:30Z');
    const trip = structuredClone(PAIR.upstream.trip);
    const second = trip.journeys[0]?.legs[1] as Leg;
    second.origin.departureTimePlanned = '2026-04-15T06:50:00Z';
    answerWith(trip);
    const { journey, notice, changes } = await follow();
    expect(journey.legs.map(({ mode, found }) => [mode, found])).toEqual([
      ['train', true],
      ['walk', true],
      ['train', false],
    ]);
    expect(journey.legs[2]).toMatchObject({
      route: 'T1',
      line_name: 'T1 North Shore & Western Line',
      direction: 'Emu Plains',
      origin: { departs_at: '2026-04-15T06:40:00Z', platform: 'Platform 18', name: 'Central Station' },
      is_live: false,
    });
    expect(changes).toMatchObject([{ status: 'possible' }]);
    expect(notice).toMatch(/found=false .*Alerts are currently unavailable/i);
  });

  it('a followed journey is 404 ten minutes after its arrival, and needs no upstream call hours later', async () => {
    answerWith(PAIR.upstream.trip);
    for (const [moment, status, calls] of [
      ['2026-04-15T07:24:00Z', 200, 1],
      ['2026-04-15T07:26:00Z', 404, 2],
      ['2026-04-16T07:26:00Z', 404, 2],
    ] as const) {
      now = new Date(moment);
      const response = await app.inject(`/v1/trips/${journeyId}`);
      expect([response.statusCode, upstream.requests.length]).toEqual([status, calls]);
      if (status === 404)
        expect(response.json().error).toMatchObject({
          code: 'JOURNEY_NOT_FOUND',
          message: 'journey_id: this journey ended at 2026-04-15T07:15:00Z.',
        });
      else expect(response.json().status).toBe('ended');
    }
  });
});

it('a journey stream begins with the current journey', async () => {
  answerWith(lateBy(20));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const stream = await openStream(app, `/v1/trips/${journeyId}/stream`);
  expect(await stream.next('journey')).toEqual((await app.inject(`/v1/trips/${journeyId}`)).json());
  stream.close();
});

it.each([
  ['planner', 'no', 300],
  ['timetable', 'no', 60],
  ['timetable', 'one', 20],
] as const)(
  'a followed journey that begins in hours, planned again by the %s, with %s ride in a feed, is fresh for %i seconds',
  async (source, count, seconds) => {
    const moment = Date.parse(PLANNED_AT) - 2 * 3_600_000;
    const times = { retrievedAt: moment, freshUntil: moment + 20_000, staleUntil: moment + 60_000 };
    const freshness = { ...times, source: 'cache', shortage: null } as const;
    const found = { journeys: [], leftOut: {}, freshness, origin: { source } };
    const operation = createFollowOperation({
      listAlerts: async () => [],
      journeys: { fetch: async () => found },
    });
    const seen = new Set<string>();
    const findRide: Runs['findRide'] = ({ stopId }, calls) => {
      if (count === 'no' || seen.size > 0) return null;
      seen.add(stopId);
      return { calls: [...calls], isByFeed: true, isCancelled: false, freshness, runCalls: null } as never;
    };
    const context = {
      runs: { findRide },
      lines: noLines,
      now: () => moment,
      ids: { ...ids, isSigned: () => true },
    };
    const response = await operation.handle({ journey_id: journeyId, include: undefined }, context as never);
    expect(response.freshness.freshUntil).toBe(moment + seconds * 1000);
  },
);

describe('journey IDs', () => {
  it('a journey ID contains the journey and its parameters', () => {
    expect(parseJourneyId(journeyId)).toMatchObject({
      from: '200070',
      to: '214710',
      modes: MODES,
      wheelchair: false,
      legs: [
        { mode: 'train', runId: '513A.1402.121.60.T.8.84719430', route: 'T2', origin: { stopId: '2000391' } },
        { mode: 'walk', durationMs: 120_000 },
        { mode: 'train', runId: null, route: 'T1', destination: { stopId: '2147424', parentId: '214710' } },
      ],
    });
  });

  const signed = (bytes: Buffer) => ids.sign('journey', bytes.toString('base64url'));
  const packed = (written: unknown) => signed(brotliCompressSync(JSON.stringify(written)));
  const place = ['200060', null, 'Central', null, -33.9, 151.2];
  const ride = [0, 60, 0, 60, 0, 'run', 'T1', null, null];
  const written = [1, '200060', '200070', 1, 0, 1_790_000_000, [place, place], [ride]];
  it.each([
    ['nothing', '%20'],
    ['no base64url', 'a+b'],
    ['more characters than any has', 'A'.repeat(10_000)],
    ['nothing that was packed', 'abcdef'],
    ['no JSON', signed(brotliCompressSync('no JSON'))],
    ['a megabyte', signed(brotliCompressSync('a'.repeat(1_000_000)))],
    ['another form', packed([2, ...written.slice(1)])],
    ['a place too few', packed(written.with(6, [place]))],
    ['no ride', packed(written.with(7, [[-1, 60, 0, 60, null]]))],
    ['a mode that there is not', packed(written.with(7, [ride.with(0, 99)]))],
    ['an end that is no place', packed(written.with(1, 'a b'))],
    ['a time out of all reason', packed(written.with(5, 1e15))],
    ['a ride out of all reason', packed(written.with(7, [ride.with(3, 1e9)]))],
    ['a line break in a name', packed(written.with(7, [ride.with(6, 'T1\n')]))],
    ['legs out of all number', packed(written.with(6, Array(30).fill(place)).with(7, Array(29).fill(ride)))],
  ])('a journey ID with %s is refused', async (_, id) => {
    expect(parseJourneyId(packed(written))).not.toBeNull();
    for (const end of ['', '/stream']) {
      const response = await app.inject(`/v1/trips/${id}${end}`);
      expect(response.statusCode).toBe(400);
      expect(response.json().error).toMatchObject({
        code: 'INVALID_PARAMETER',
        message: expect.stringMatching(/^`journey_id` must be a journey ID from \/v1\/trips/),
      });
    }
    expect(upstream.requests).toEqual([]);
  });
});
