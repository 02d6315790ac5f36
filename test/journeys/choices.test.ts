import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createChosenFootpaths } from '#src/journeys/chosen-footpaths.ts';
import { BEFORE_DAY_SECONDS } from '#src/journeys/day-lines.ts';
import type { EngineJourney } from '#src/journeys/engine-messages.ts';
import { openEngine } from '#src/journeys/engine-thread.ts';
import { MAX_RIDES as MOST_RIDES } from '#src/journeys/raptor/labels.ts';
import { CHANGE_IS_WORTH_SECONDS } from '#src/journeys/raptor/plan.ts';
import { timetableReach } from '#src/journeys/reach.ts';
import { type JourneyQuery, needsTimetable } from '#src/journeys/source.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { type Choices, listChosen, PREFERENCES, toChoices } from '#src/transit/choices.ts';
import { countChanges, destinationOf, type Journey, originOf } from '#src/transit/journey.ts';
import { MODES } from '#src/transit/mode.ts';
import { distanceMetres, type Position } from '#src/transit/place.ts';
import { PACES, type Pace } from '#src/transit/walking.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import { type ScannedCall, scanRuns } from '../support/random-network.ts';
import { type MadeTrip, scheduleFile } from '../support/schedule-file.ts';
import { currentOf, timetableOf } from '../support/timetable.ts';

/** Midnight in Sydney on Thursday 26 November 2026. */
const MIDNIGHT = Date.UTC(2026, 10, 25, 13);
const STOPS = 8;
const TARGET = STOPS - 1;
const MAX_RIDES = 3;

/** Eight stops within a kilometre, and runs between them on one day. */
const townArbitrary = fc.record({
  places: fc.array(fc.tuple(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 900 })), {
    minLength: STOPS,
    maxLength: STOPS,
  }),
  runs: fc.array(
    fc.record({
      start: fc.integer({ min: 6 * 60, max: 10 * 60 }),
      stops: fc.uniqueArray(fc.integer({ min: 0, max: STOPS - 1 }), { minLength: 2, maxLength: 5 }),
      minutes: fc.integer({ min: 1, max: 4 }),
    }),
    { minLength: 1, maxLength: 25 },
  ),
});
type Town = typeof townArbitrary extends fc.Arbitrary<infer T> ? T : never;

const choicesArbitrary: fc.Arbitrary<Choices> = fc.record(
  {
    pace: fc.constantFrom<Pace>('slow', 'normal', 'fast'),
    maxWalk: fc.integer({ min: 0, max: 1000 }),
    minChange: fc.integer({ min: 0, max: 12 }),
  },
  { requiredKeys: [] },
);
const hourArbitrary = fc.integer({ min: 5 * 4, max: 11 * 4 }).map((quarter) => quarter * 900);

function build({ places, runs }: Town) {
  const positions = places.map(([north, east]): Position => [-33 + north / 111_195, 151 + east / 93_200]);
  const calls = runs.map(({ start, stops, minutes }) =>
    stops.map((stop, index): ScannedCall => {
      const at = (start + index * minutes) * 60;
      return { stop, arrival: at, departure: at, flags: 3 };
    }),
  );
  const trips = calls.map(
    (ofRun, index): MadeTrip => ({
      id: `T${index}`,
      days: ['20261126'],
      calls: ofRun.map(({ stop, arrival }) => [`S${stop}`, arrival]),
    }),
  );
  const stops = positions.map(([lat, lng], stop) => ({ id: `S${stop}`, lat, lng }));
  // A stop without departures is not served.
  const all = stops.map(
    ({ id }, stop): MadeTrip => ({
      id: `A${stop}`,
      days: ['20261120'],
      calls: [
        [id, 0],
        [`S${(stop + 1) % STOPS}`, 60],
      ],
    }),
  );
  const timetable = timetableOf(
    scheduleFile('buses', { stops, trips: [...trips, ...all], firstDay: '20261110', lastDay: '20261210' }),
  );
  return { timetable, positions, calls };
}

/** The walks by these choices, by another calculation than the service's: an error of a second comes from rounding. */
function walksOf(positions: readonly Position[], { pace = 'normal', maxWalk = 1000 }: Choices, longest: number) {
  return positions.flatMap((from, one) =>
    positions.flatMap((to, other): [number, number, number][] => {
      const metres = distanceMetres(from, to);
      if (one === other || metres > Math.min(maxWalk, longest)) return [];
      return [[one, other, Math.round(Math.round((metres * 1.3) / 1.2) * (1.2 / PACES[pace])) / 60]];
    }),
  );
}

/** The earliest arrival with rides and walks between stops, and on foot alone, by a scan of all connections. */
function scanTown(
  { positions, calls }: ReturnType<typeof build>,
  choices: Choices,
  from: number,
  maxRides = MAX_RIDES,
) {
  const walks = walksOf(positions, choices, 500);
  const { minChange = 2, pace = 'normal' } = choices;
  const between = (one: number, other: number) =>
    one === other
      ? 0
      : Math.round((walks.find(([a, b]) => a === one && b === other)?.[2] ?? Number.POSITIVE_INFINITY) * 60);
  const ready = positions.map((_, stop) => from + between(0, stop));
  const arrived = scanRuns(calls, walks, { ready, maxRides, changeSeconds: minChange * 60 }).at(-1) as number[];
  const ridden = Math.min(...arrived.map((at, stop) => at + between(stop, TARGET)));
  const direct = walksOf(positions, choices, 1000).some(([one, other]) => one === 0 && other === TARGET);
  const metres = distanceMetres(positions[0] as Position, positions[TARGET] as Position);
  const walked = direct ? from + Math.max(60, Math.round((metres * 1.3) / PACES[pace])) : Number.POSITIVE_INFINITY;
  return { ridden, walked };
}

const seconds = (moment: number) => (moment - MIDNIGHT) / 1000;

function open(town: ReturnType<typeof build>, now = MIDNIGHT) {
  const { timetable } = town;
  const engine = createInlineEngine(timetable);
  const options = { timetable: currentOf(timetable), engines: engine, feeds: null, now: () => now };
  const base = { at: null, modes: MODES, isAccessible: false };
  return {
    reach: timetableReach(options),
    base,
    plan: async (query: Partial<JourneyQuery>): Promise<Journey[]> => {
      const request = {
        ...base,
        from: 'S0',
        to: `S${TARGET}`,
        isArrival: false,
        mayBeNone: true,
        cancelled: 'exclude' as const,
        maxChanges: 2,
      };
      return (await timetableJourneys(options).fetch({ ...request, ...query })).journeys;
    },
  };
}

describe('a rider chooses', () => {
  it('journeys with chosen walks and changes arrive as early as a scan of all connections with the same choices', async () => {
    await fc.assert(
      fc.asyncProperty(townArbitrary, choicesArbitrary, hourArbitrary, async (made, choices, from) => {
        const town = build(made);
        const journeys = await open(town, MIDNIGHT + from * 1000).plan({ choices });
        const { ridden, walked } = scanTown(town, choices, from);
        const earliest = Math.min(...journeys.map(({ legs }) => seconds(legs.at(-1)?.destination.plannedAt as number)));
        const expected = Math.min(ridden, walked);
        if (expected === Number.POSITIVE_INFINITY) expect(journeys).toEqual([]);
        else {
          expect(earliest).toBeGreaterThanOrEqual(expected - 1);
          // A journey may arrive later to save changes, by a minute for each.
          expect(earliest).toBeLessThanOrEqual(expected + 121);
        }
        expectAsChosen(journeys, choices);
      }),
      { numRuns: 150 },
    );
  });

  it('journeys by arrival with chosen walks and changes leave as late as a scan of all connections with the same choices', async () => {
    await fc.assert(
      fc.asyncProperty(townArbitrary, choicesArbitrary, hourArbitrary, async (made, choices, at) => {
        const town = build(made);
        const { timetable } = town;
        const { search } = openEngine(timetable.packed);
        const end = (stop: number) => ({
          stops: [{ stop: timetable.findStop(`S${stop}`) as number, seconds: 0 }],
          withAround: true,
          position: town.positions[stop] as Position,
        });
        const found: EngineJourney[] = search('plan', {
          from: end(0),
          to: end(TARGET),
          at: MIDNIGHT + at * 1000,
          now: MIDNIGHT,
          choices,
          modes: 127,
          isWheelchair: false,
          maxRides: MAX_RIDES,
          limit: 6,
          isArrival: true,
          walkSeconds: null,
          avoidedStops: [],
        });
        for (const { arrivesAt } of found) expect(seconds(arrivesAt)).toBeLessThanOrEqual(at + 59);
        const [last] = found.toSorted((one, other) => other.departsAt - one.departsAt);
        if (!last || seconds(last.departsAt) < -BEFORE_DAY_SECONDS) return;
        const rides = last.rides.length;
        for (let maxRides = rides; maxRides <= MAX_RIDES; maxRides++) {
          const from = seconds(last.departsAt) + 2 + (maxRides - rides) * CHANGE_IS_WORTH_SECONDS;
          expect(scanTown(town, choices, from, maxRides).ridden).toBeGreaterThan(at);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('stops within reach and travel times equal those of a scan of all connections with the chosen walks', async () => {
    await fc.assert(
      fc.asyncProperty(
        townArbitrary,
        choicesArbitrary,
        hourArbitrary,
        async (made, { minChange: _, ...choices }, from) => {
          const town = build(made);
          const { reach, base } = open(town, MIDNIGHT + from * 1000);
          // These allow more rides than the journeys above.
          const { ridden, walked } = scanTown(town, choices, from, MOST_RIDES);
          const expected = Math.min(ridden, walked);
          const query = { ...base, from: 'S0', choices };
          const { stations } = await reach.search({ ...query, minutes: 90, limit: 100, isArea: false });
          const reached = stations.find(({ stopId }) => stopId === `S${TARGET}`);
          if (expected > from + 90 * 60 + 1) expect(reached).toBeUndefined();
          else if (expected < from + 90 * 60) expect(near(seconds(reached?.arrivesAt ?? 0), expected)).toBe(true);
          const { destinations } = await reach.times({ ...query, to: [`S${TARGET}`] });
          const journey = destinations[0]?.journey;
          if (expected === Number.POSITIVE_INFINITY) expect(journey).toBeNull();
          else expect(near(seconds(journey?.legs.at(-1)?.destination.plannedAt ?? 0), expected)).toBe(true);
          if (journey) expectAsChosen([journey], choices);
        },
      ),
      { numRuns: 100 },
    );
  });

  const near = (one: number, other: number) => Math.abs(one - other) <= 1;

  it('walks between stops take as long as the chosen pace makes them, and no longer than the chosen maximum', () => {
    fc.assert(
      fc.property(townArbitrary, choicesArbitrary, (made, choices) => {
        const { timetable, positions } = build(made);
        const { walkStart, walkStop, walkSeconds } = timetable.sections;
        const usual = { first: walkStart, targets: walkStop, seconds: walkSeconds };
        const footpaths = createChosenFootpaths(timetable.sections, usual)(choices);
        const numberOf = (stop: number) => timetable.findStop(`S${stop}`) as number;
        const found = positions.flatMap((_, stop) => {
          const [start, end] = [footpaths.first[numberOf(stop)] as number, footpaths.first[numberOf(stop) + 1]];
          return [...footpaths.targets.slice(start, end)].map((target, index) => [
            stop,
            positions.findIndex((_, other) => numberOf(other) === target),
            footpaths.seconds[start + index] as number,
          ]);
        });
        const expected = walksOf(positions, choices, 500);
        expect(found.map(([one, other]) => [one, other]).sort()).toEqual(expected.map(([a, b]) => [a, b]).sort());
        for (const [one, other, took] of found) {
          const minutes = expected.find(([a, b]) => a === one && b === other)?.[2] as number;
          expect(Math.abs((took as number) - minutes * 60)).toBeLessThan(1.1);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('a position without a stop within the chosen walk has no journeys, but is not reported as unknown', async () => {
    const places = Array.from({ length: STOPS }, (_, stop): [number, number] => [stop * 1500, 0]);
    const town = build({ places, runs: [{ start: 8 * 60, stops: [0, TARGET], minutes: 10 }] });
    const { plan } = open(town, MIDNIGHT + 7 * 3_600_000);
    const from: Position = [-33 - 300 / 111_195, 151];
    expect(await plan({ from, choices: { maxWalk: 200 } })).toEqual([]);
    expect(await plan({ to: from, from: `S${TARGET}`, choices: { maxWalk: 200 } })).toEqual([]);
    const [journey] = await plan({ from, choices: { maxWalk: 310, pace: 'slow' } });
    expectAsChosen([journey as Journey], { maxWalk: 310, pace: 'slow' });
    expect(journey?.legs.map(({ mode }) => mode)).toEqual(['walk', 'bus']);
  });

  it('only a value other than the default is a choice that needs the timetable', () => {
    expect(toChoices({ pace: 'normal' })).toBeUndefined();
    expect(needsTimetable({ choices: toChoices({ pace: 'normal' }) })).toBe(false);
    const choices = toChoices({ pace: 'slow', max_walk: 0, min_change: 2, prefer: 'less_walking' });
    expect(listChosen(choices)).toEqual(['pace', 'max_walk', 'min_change', 'prefer']);
    expect(needsTimetable({ choices })).toBe(true);
  });
});

/** A is 50 km from B and C; D is 400 m from C. */
const TOWNS = {
  stops: [
    { id: 'A', lat: -33, lng: 150 },
    { id: 'B', lat: -33.5, lng: 150 },
    { id: 'C', lat: -34, lng: 150 },
    { id: 'D', lat: -34.0036, lng: 150 },
    { id: 'E', lat: -34.5, lng: 150 },
  ],
  firstDay: '20261110',
  lastDay: '20261210',
};
const run = (id: string, ...calls: [stop: string, time: string][]): MadeTrip => ({ id, days: ['20261126'], calls });

/** The runs of each journey at eight, by preference. */
async function planTowns(trips: readonly MadeTrip[], query: Partial<JourneyQuery> & Pick<JourneyQuery, 'from' | 'to'>) {
  const timetable = timetableOf(
    scheduleFile('buses', { ...TOWNS, trips: [...trips, run('elsewhere', ['D', '03:00'], ['E', '04:00'])] }),
  );
  const { plan } = open({ timetable, positions: [], calls: [] }, MIDNIGHT + 8 * 3_600_000);
  const runsOf = async (choices?: Choices) =>
    (await plan({ ...query, choices })).map(({ legs }) => legs.flatMap(({ runId }) => runId ?? []).join(' '));
  return {
    usual: await runsOf(),
    fewer: await runsOf({ prefer: 'fewer_changes' }),
    less: await runsOf({ prefer: 'less_walking' }),
  };
}

describe('a rider prefers', () => {
  const changing = [run('fast', ['A', '08:10'], ['B', '08:20']), run('on', ['B', '08:25'], ['C', '08:40'])];
  const query = { from: 'A', to: 'C' };

  it('a rider who prefers fewer changes gets a journey with a further change only if it saves 20 minutes', async () => {
    const within = [...changing, run('direct', ['A', '08:02'], ['C', '08:51'])];
    expect(await planTowns(within, query)).toMatchObject({ fewer: ['direct'] });
    const beyond = [...changing, run('direct', ['A', '08:02'], ['C', '08:53'])];
    expect((await planTowns(beyond, query)).fewer).toEqual(['fast on']);
  });

  it('for a rider who prefers less walking, a minute on foot counts as two', async () => {
    // The walk from C to D takes 7 minutes and 14 seconds.
    const near = run('near', ['A', '08:10'], ['C', '08:40']);
    const there = (time: string) => [near, run('there', ['A', '08:10'], ['D', time])];
    expect(await planTowns(there('08:54'), { from: 'A', to: 'D' })).toMatchObject({ usual: ['near'], less: ['there'] });
    expect((await planTowns(there('08:55'), { from: 'A', to: 'D' })).less).toEqual(['near']);
  });

  it('for a rider who prefers less walking, a walk to a change counts even if the rider then waits', async () => {
    const trips = [
      run('in', ['A', '08:10'], ['C', '08:40']),
      run('walked', ['D', '09:30'], ['E', '10:00']),
      run('near', ['C', '09:31'], ['E', '10:02']),
    ];
    expect(await planTowns(trips, { from: 'A', to: 'E' })).toMatchObject({ usual: ['in walked'], less: ['in near'] });
  });

  it('a preference never hides the only journey', async () => {
    expect(await planTowns(changing, { from: 'A', to: 'D' })).toEqual({
      usual: ['fast on'],
      fewer: ['fast on'],
      less: ['fast on'],
    });
    await fc.assert(
      fc.asyncProperty(
        townArbitrary,
        hourArbitrary,
        fc.constantFrom(...PREFERENCES),
        fc.boolean(),
        async (made, at, prefer, isArrival) => {
          const { plan } = open(build(made), MIDNIGHT + at * 1000);
          const query = { isArrival, choices: { maxWalk: 600 } };
          const [usual, preferred] = [await plan(query), await plan({ ...query, choices: { maxWalk: 600, prefer } })];
          expect(preferred.length > 0).toBe(usual.length > 0);
          expectAsChosen(preferred, { maxWalk: 600 });
          if (prefer === 'fewer_changes') expectFewer(preferred);
        },
      ),
      { numRuns: 150 },
    );
  });
});

/** No journey has another one beside it with fewer changes and less than 20 minutes of loss for each. */
function expectFewer(journeys: readonly Journey[]): void {
  const rated = journeys.flatMap((journey) => {
    if (journey.legs.every(({ mode }) => mode === 'walk')) return [];
    const ends = [originOf(journey), destinationOf(journey)].map(({ plannedAt }) => plannedAt / 1000);
    return { changes: countChanges(journey), departs: ends[0] as number, arrives: ends[1] as number };
  });
  for (const one of rated) {
    for (const other of rated) {
      if (other.changes >= one.changes) continue;
      const lost = Math.max(0, one.departs - other.departs) + Math.max(0, other.arrives - one.arrives);
      expect(lost).toBeGreaterThanOrEqual(1200 * (one.changes - other.changes));
    }
  }
}

/** Walks have the chosen pace and length, and changes the chosen time. */
function expectAsChosen(journeys: readonly Journey[], { pace = 'normal', maxWalk = 1000, minChange = 2 }: Choices) {
  for (const { legs } of journeys) {
    for (const { mode, distanceMetres: metres, durationMs } of legs) {
      if (mode !== 'walk') continue;
      expect(metres).toBeLessThanOrEqual(maxWalk);
      // Lengths are rounded up, and seconds at the usual pace before they are scaled.
      const most = ((metres as number) * 1.3) / PACES[pace];
      expect(durationMs / 1000).toBeLessThanOrEqual(Math.max(60, most + 2));
      expect(durationMs / 1000).toBeGreaterThanOrEqual(most - 4);
    }
    const rides = legs.filter(({ mode }) => mode !== 'walk');
    for (const [index, ride] of rides.slice(1).entries()) {
      const before = rides[index]?.destination.plannedAt as number;
      expect(ride.origin.plannedAt - before).toBeGreaterThanOrEqual(minChange * 60_000);
    }
  }
}
