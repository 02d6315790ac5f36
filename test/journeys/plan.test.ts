import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BEFORE_DAY_SECONDS } from '#src/journeys/day-lines.ts';
import { callAt, mirrorLines } from '#src/journeys/raptor/lines.ts';
import { createPlanner, type PlanRequest } from '#src/journeys/raptor/plan.ts';
import { chooseChanges } from '#src/journeys/where-to-change.ts';
import {
  CHANGE,
  DAY_SECONDS,
  expectFeasible,
  listDepartures,
  networkArbitrary,
  openNetwork,
  STOPS,
  scanConnections,
  type Trip,
  walksArbitrary,
} from '../support/random-network.ts';

type Network = ReturnType<typeof openNetwork>;

function plan(
  { timetable, lines, footpaths, labels, cells }: Network,
  from: number,
  to: number,
  request: Partial<PlanRequest>,
  off: { trips?: readonly number[]; stops?: readonly number[] } = {},
  usedCells: Network['cells'] | null = cells,
) {
  const usable = (count: number, without: readonly number[] = []) =>
    Uint8Array.from({ length: count }, (_, index) => (without.includes(index) ? 0 : 1));
  const access = { trips: usable(timetable.tripCount, off.trips), stops: usable(timetable.stopCount, off.stops) };
  const stopOf = (stop: number) => timetable.findStop(`S${stop}`) as number;
  const open = () => mirrorLines(lines);
  const plans = createPlanner(lines, footpaths, access, labels, () => {}, open, usedCells).plan({
    access: [{ stop: stopOf(from), seconds: 0 }],
    egress: [{ stop: stopOf(to), seconds: 0 }],
    at: 0,
    isArrival: false,
    walkSeconds: null,
    modes: 127,
    isWheelchair: false,
    limit: 6,
    maxRides: 3,
    changeSeconds: CHANGE,
    ...request,
  });
  const changes = { changeSeconds: CHANGE, usableStops: request.isWheelchair ? access.stops : null };
  return plans.map((one) => ({ ...one, rides: chooseChanges(lines, footpaths, one.rides, changes) }));
}

/** All trips on one day, each begins within two hours, so that riders have a choice. */
function withinTwoHours(trips: readonly Trip[]): Trip[] {
  return trips.map(({ calls, ...trip }) => {
    const earlier = Math.floor((calls[0] as Trip['calls'][0])[1] / 7200) * 7200;
    const moved = calls.map(([stop, arrival, { departure, flags }]): Trip['calls'][0] => [
      stop,
      arrival - earlier,
      { departure: departure - earlier, flags },
    ]);
    return { ...trip, days: ['20261126'], calls: moved };
  });
}

describe('plans on random networks', () => {
  const trip = (id: string, ...calls: [stop: number, at: number][]): Trip => ({
    id,
    days: ['20261126'],
    calls: calls.map(([stop, at]) => [`S${stop}`, at, { departure: at, flags: 3 }]),
  });

  it('planned journeys are feasible and arrive as early as a scan of all connections', () => {
    fc.assert(
      fc.property(networkArbitrary, walksArbitrary, fc.integer({ min: 0, max: 23 }), (trips, walks, hour) => {
        const network = openNetwork(trips, walks);
        const from = hour * 3600;
        const scanned = scanConnections(trips, walks, { from, maxRides: 3 }).at(-1) as number[];
        for (let to = 1; to < STOPS; to++) {
          const plans = plan(network, 0, to, { at: from });
          for (const one of plans) expectFeasible(network, one, walks);
          const earliest = Math.min(...plans.map(({ arrivesAt }) => arrivesAt));
          const expected = scanned[to] as number;
          // A plan may arrive later to save changes, by less than a minute for each.
          if (expected > from + DAY_SECONDS) expect(plans).toEqual([]);
          else {
            expect(earliest).toBeGreaterThanOrEqual(expected);
            expect(earliest).toBeLessThan(expected + 120);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('journeys planned to arrive by a time are in time and leave as late as possible', () => {
    fc.assert(
      fc.property(networkArbitrary, walksArbitrary, fc.integer({ min: 1, max: 30 }), (trips, walks, hour) => {
        const network = openNetwork(trips, walks);
        const at = hour * 3600;
        for (let to = 1; to < STOPS; to++) {
          const plans = plan(network, 0, to, { at, isArrival: true });
          for (const one of plans) {
            expectFeasible(network, one, walks);
            expect(one.arrivesAt).toBeLessThanOrEqual(at);
          }
          const [last] = plans.toSorted((one, other) => other.departsAt - one.departsAt);
          if (!last || last.departsAt < -BEFORE_DAY_SECONDS) continue;
          // Leaving later means arriving too late, except with more changes that save less than a minute each.
          for (let maxRides = last.rides.length; maxRides <= 3; maxRides++) {
            const from = last.departsAt + Math.max(1, (maxRides - last.rides.length) * 60);
            const later = scanConnections(trips, walks, { from, maxRides }).at(-1) as number[];
            expect(later[to]).toBeGreaterThan(at);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('a list has the journey with the fewest changes of its time if it takes at most twice as long as the fastest one', () => {
    fc.assert(
      fc.property(networkArbitrary.map(withinTwoHours), walksArbitrary, fc.boolean(), (trips, walks, isArrival) => {
        const network = openNetwork(trips, walks);
        const at = isArrival ? 3 * 3600 : 0;
        const departures = listDepartures(trips);
        const scans = departures.map((from) => ({
          from,
          rounds: scanConnections(trips, walks, { from, maxRides: 3 }),
        }));
        for (let to = 1; to < STOPS; to++) {
          const plans = plan(network, 0, to, { at, isArrival });
          if (plans.length === 0) continue;
          const times = plans.map(({ departsAt, arrivesAt }) => (isArrival ? arrivesAt : departsAt));
          const [first, last] = isArrival ? [Math.min(...times), at] : [at, Math.max(...times)];
          const shortest = Math.min(...plans.map(({ departsAt, arrivesAt }) => arrivesAt - departsAt));
          const all = scans.flatMap(({ from, rounds }) =>
            rounds.map((round, index) => ({ departsAt: from, arrivesAt: round[to] as number, rides: index + 1 })),
          );
          const listable = all.filter(({ departsAt, arrivesAt }) => {
            const time = isArrival ? arrivesAt : departsAt;
            const isNear = isArrival ? departsAt >= at - DAY_SECONDS : arrivesAt <= at + DAY_SECONDS;
            return isNear && time >= first && time <= last && arrivesAt - departsAt <= 2 * shortest;
          });
          const fewest = Math.min(...listable.map(({ rides }) => rides));
          expect(Math.min(...plans.map(({ rides }) => rides.length))).toBeLessThanOrEqual(fewest);
        }
      }),
      { numRuns: 150 },
    );
  });

  it.each([false, true])('the times between cells of the map change no journey (arrival %s)', (isArrival) => {
    const blocks = fc.array(fc.constantFrom(null, 'X', 'Y'), { minLength: 25, maxLength: 25 });
    fc.assert(
      fc.property(
        networkArbitrary.map(withinTwoHours),
        walksArbitrary,
        blocks,
        fc.constantFrom(CHANGE, 300),
        (trips, walks, blockIds, changeSeconds) => {
          const network = openNetwork(
            trips.map((trip, index) => ({ ...trip, blockId: blockIds[index] ?? null })),
            walks,
          );
          const request = { at: isArrival ? 4 * 3600 : 0, isArrival, maxRides: 7, changeSeconds };
          for (let to = 1; to < STOPS; to++) {
            const found = plan(network, 0, to, request);
            expect(found).toEqual(plan(network, 0, to, request, {}, null));
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('riders who change faster than the cells of the map assume still get the fastest journey', () => {
    const network = openNetwork(
      [
        trip('slow', [0, 0], [3, 9000]),
        trip('one', [0, 60], [1, 600]),
        trip('two', [1, 600], [2, 1200]),
        trip('three', [2, 1200], [3, 1800]),
      ],
      [],
    );
    const [first] = plan(network, 0, 3, { changeSeconds: 0, limit: 1 });
    expect(first?.arrivesAt).toBe(1800);
  });

  it('a search that ends at its deadline leaves nothing behind for the next one', () => {
    fc.assert(
      fc.property(networkArbitrary, walksArbitrary, fc.integer({ min: 1, max: 40 }), (trips, walks, checks) => {
        const { timetable, lines, footpaths, labels } = openNetwork(trips, walks);
        const all = (count: number) => new Uint8Array(count).fill(1);
        const access = { trips: all(timetable.tripCount), stops: all(timetable.stopCount) };
        const endOf = (stop: number) => [{ stop: timetable.findStop(`S${stop}`) as number, seconds: 0 }];
        const options = { walkSeconds: null, modes: 127, isWheelchair: false, limit: 6, maxRides: 3 };
        const request = { ...options, access: endOf(0), egress: endOf(STOPS - 1), at: 0, changeSeconds: CHANGE };
        let left = 0;
        const planner = createPlanner(lines, footpaths, access, labels, () => {
          if (--left === 0) throw new Error('late');
        });
        for (const isArrival of [false, true]) {
          const wanted = { ...request, at: isArrival ? DAY_SECONDS : 0, isArrival };
          left = checks;
          try {
            planner.plan(wanted);
          } catch {}
          left = 0;
          expect(planner.plan(wanted)).toEqual(createPlanner(lines, footpaths, access, labels).plan(wanted));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('journeys planned for a wheelchair use no trip or stop known to be inaccessible', () => {
    fc.assert(
      fc.property(networkArbitrary, walksArbitrary, fc.integer({ min: 1, max: STOPS - 2 }), (trips, walks, closed) => {
        const network = openNetwork(trips, walks);
        const stop = network.timetable.findStop(`S${closed}`) as number;
        const request = { isWheelchair: true };
        for (const { rides } of plan(network, 0, STOPS - 1, request, { trips: [0, 1], stops: [stop] })) {
          for (const { run, board, alightRun, alight } of rides) {
            expect([0, 1]).not.toContain(network.lines.trips[run]);
            expect([0, 1]).not.toContain(network.lines.trips[alightRun]);
            expect(callAt(network.lines, run, board).stop).not.toBe(stop);
            expect(callAt(network.lines, alightRun, alight).stop).not.toBe(stop);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    [60, 2],
    [59, 1],
  ])('one more change that saves %i seconds leaves %i journeys in the list', (saved, listed) => {
    const direct = trip('direct', [0, 3600], [1, 4200], [2, 7259]);
    const quick = openNetwork([direct, trip('quick', [1, 4800], [2, 7259 - saved])], []);
    expect(plan(quick, 0, 2, {})).toHaveLength(listed);
    const late = openNetwork(
      [direct, trip('late', [0, 3600 + saved], [3, 3900]), trip('on', [3, 4100], [2, 7259])],
      [],
    );
    expect(plan(late, 0, 2, { isArrival: true, at: 7259 })).toHaveLength(listed);
  });

  it.each([false, true])(
    'no journey is listed beside one that is shown to leave later and to arrive in the same minute (arrival %s)',
    (isArrival) => {
      const request = { isArrival, at: isArrival ? 7259 : 0 };
      const leavesAt = (arrives: number) =>
        plan(
          openNetwork([trip('slow', [0, 3600], [2, arrives]), trip('fast', [0, 5400], [2, 7259])], []),
          0,
          2,
          request,
        )
          .map(({ departsAt }) => departsAt)
          .sort((one, other) => one - other);
      expect(leavesAt(7200)).toEqual([5400]);
      expect(leavesAt(7199)).toEqual([3600, 5400]);
    },
  );

  it('no journey is planned when no vehicle has a requested mode', () => {
    const [trips = []] = fc.sample(networkArbitrary, 1);
    const network = openNetwork(trips, []);
    expect(plan(network, 0, 1, { modes: 1 })).toEqual([]);
  });
});
