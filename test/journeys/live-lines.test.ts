import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '#src/core/clock.ts';
import { BEFORE_DAY_SECONDS, createLines } from '#src/journeys/day-lines.ts';
import { createDayLines } from '#src/journeys/live-lines.ts';
import { createPlanners, type Planner } from '#src/journeys/planners.ts';
import { callAt, type Lines, lastPosition } from '#src/journeys/raptor/lines.ts';
import { FEED_HORIZON_MS, type LiveRun, LiveTimetable } from '#src/realtime/live-timetable.ts';
import { MAY_ALIGHT, MAY_BOARD } from '#src/timetable/call-flags.ts';
import { calendarDayAt, serviceDayStart } from '#src/timetable/service-day.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import type { TripSpec } from '../realtime/feed-bytes.ts';
import { NOW, STOPS, TODAY, TRIP } from '../realtime/prediction/predicted.ts';
import { type RandomNetwork, randomNetwork } from '../realtime/prediction/random-network.ts';
import { CHANGE, DAY_SECONDS, type ScannedCall, scanRuns } from '../support/random-network.ts';
import { scheduleFile } from '../support/schedule-file.ts';
import { snapshotOf } from '../support/snapshots.ts';
import { timetableOf } from '../support/timetable.ts';

const DAY = calendarDayAt(NOW);
const MAX_RIDES = 3;
const NO_WALKS: [number, number, number][] = [];
const OFFSETS = [-1, 0, 1] as const;

/** Buses and ferries with the feeds that are published one after the other. In each, some trips of the first one are missing. */
const publications = fc.record({
  buses: randomNetwork,
  ferries: randomNetwork,
  steps: fc.array(
    fc.record({ buses: fc.nat(63), ferries: fc.nat(63), day: fc.constantFrom(...OFFSETS), isPlanned: fc.boolean() }),
    { minLength: 1, maxLength: 6 },
  ),
});
type Publications = typeof publications extends fc.Arbitrary<infer Drawn> ? Drawn : never;

function timetableFor({ buses, ferries }: Pick<Publications, 'buses' | 'ferries'>): Timetable {
  const file = (id: 'buses' | 'sydneyferries', mode: 'bus' | 'ferry', trips: RandomNetwork['runs']) =>
    scheduleFile(id, { stops: STOPS, routes: [{ id: 'R', mode }], trips });
  return timetableOf(file('buses', 'bus', buses.runs), file('sydneyferries', 'ferry', ferries.runs));
}

/** Some trips of each feed. A feed without trips has vanished. */
function liveWith(timetable: Timetable, { buses, ferries }: Publications, some: { buses: number; ferries: number }) {
  const chosen = (trips: readonly TripSpec[], bits: number) => trips.filter((_, index) => (bits >> index) & 1);
  const snapshots = (
    [
      ['buses', chosen(buses.trips, some.buses)],
      ['sydneyferries', chosen(ferries.trips, some.ferries)],
    ] as const
  ).flatMap(([source, trips]) =>
    trips.length > 0 ? [snapshotOf(timetable, { timestamp: NOW / 1000, trips }, source)] : [],
  );
  return new LiveTimetable(timetable, snapshots);
}

function openDayLines(timetable: Timetable, day: number) {
  const lines = createLines(timetable.sections, {
    day,
    servicesOn: (on) => timetable.servicesOn(on),
    nextTrip: (trip, on) => timetable.nextTrip(trip, on),
  });
  return createDayLines(lines, { day, tripCount: timetable.tripCount });
}

/** All that a search reads of the lines. */
function contentOf(lines: Lines) {
  const { lineCount, runCount, firstCall, firstRun, live } = lines;
  const calls = firstCall[lineCount] as number;
  const upTo = (column: ArrayLike<number> & { slice(from: number, to: number): ArrayLike<number> }, end: number) =>
    Array.from(column.slice(0, end));
  return {
    modes: upTo(lines.modes, lineCount),
    firstCall: upTo(firstCall, lineCount + 1),
    firstRun: upTo(firstRun, lineCount + 1),
    stops: upTo(lines.stops, calls),
    flags: upTo(lines.flags, calls),
    trips: upTo(lines.trips, runCount),
    days: upTo(lines.days, runCount),
    nextRuns: upTo(lines.nextRuns, runCount),
    usable: lines.usable && upTo(lines.usable, runCount),
    visits: [Array.from(lines.firstVisit), Array.from(lines.visits)],
    liveVisits: live && [Array.from(live.firstVisit), Array.from(live.visits)],
    times: Array.from({ length: runCount }, (_, run) =>
      Array.from({ length: lastPosition(lines, run) + 1 }, (_, position) => {
        const { arrivesAt, departsAt } = callAt(lines, run, position);
        return [arrivesAt, departsAt];
      }),
    ),
  };
}

/** The runs of the days around one, by their best times, in seconds since the beginning of the day. */
function listRuns(live: LiveTimetable, day: number): LiveRun[] {
  const { timetable, snapshots } = live;
  const known = OFFSETS.flatMap((offset) =>
    Array.from({ length: timetable.tripCount }, (_, trip) => trip)
      .filter((trip) => timetable.runsOn(trip, day + offset))
      .map((trip) => live.run(trip, day + offset)),
  );
  const added = snapshots.flatMap((snapshot) =>
    Array.from({ length: snapshot.runCount - snapshot.tripCount }, (_, at) =>
      live.open({ snapshot, run: snapshot.tripCount + at }),
    ),
  );
  return [...known, ...added].filter(({ isCancelled }) => !isCancelled);
}

function callsOf({ calls }: LiveRun, base: number): ScannedCall[] {
  return calls.map(({ stop, arrivesAt, departsAt, mayBoard, mayAlight }) => ({
    stop,
    arrival: (arrivesAt - base) / 1000,
    departure: (departsAt - base) / 1000,
    flags: (mayBoard ? MAY_BOARD : 0) + (mayAlight ? MAY_ALIGHT : 0),
  }));
}

/** Whether a run ends early enough that the lines of the day need not have it, or belongs to a day after. */
const isElsewhere = (calls: readonly ScannedCall[]) =>
  (calls.at(-1)?.arrival ?? 0) < -BEFORE_DAY_SECONDS || (calls[0]?.departure ?? 0) >= 2 * DAY_SECONDS;

/** Runs and the runs as which their vehicles continue, as one. */
function joinAll(live: LiveTimetable, runs: readonly LiveRun[], base: number): ScannedCall[][] {
  return runs.map((first) => {
    const calls = callsOf(first, base);
    let run = first;
    for (let count = 0; count < 10 && run.trip >= 0; count++) {
      const next = live.timetable.nextTrip(run.trip, run.day);
      const following = next !== null && runs.find(({ trip, day }) => trip === next && day === run.day);
      if (!following) break;
      calls.push(...callsOf(following, base).map((call) => ({ ...call, flags: call.flags & MAY_ALIGHT })));
      run = following;
    }
    return calls;
  });
}

function openPlanners(timetable: Timetable) {
  const access = {
    trips: new Uint8Array(timetable.tripCount).fill(1),
    stops: new Uint8Array(timetable.stopCount).fill(1),
  };
  const footpaths = {
    first: new Int32Array(timetable.stopCount + 1),
    targets: new Int32Array(0),
    seconds: new Int32Array(0),
  };
  return createPlanners(timetable, footpaths, access);
}

const REQUEST = { modes: 127, isWheelchair: false, maxRides: MAX_RIDES, changeSeconds: CHANGE };

/** The first arrival at each stop from the first one, for each number of rides. */
function spread({ spread, lines }: Planner, from: number, at: number): number[][] {
  const { arrived } = spread({ ...REQUEST, access: [{ stop: from, seconds: 0 }], at, latest: at + DAY_SECONDS });
  return [1, 2, 3].map((rides) =>
    Array.from(arrived.subarray(rides * lines.stopCount, (rides + 1) * lines.stopCount), (time) =>
      time <= at + DAY_SECONDS ? time : Number.POSITIVE_INFINITY,
    ),
  );
}

/** Journeys between the first stops in both directions of time. */
function planAll({ plan }: Planner, stops: readonly number[], at: number) {
  const options = { ...REQUEST, walkSeconds: null, limit: 6 };
  const end = (stop: number) => [{ stop, seconds: 0 }];
  return [false, true].flatMap((isArrival) =>
    stops.slice(1).map((to) => {
      const time = isArrival ? at + 4 * 3600 : at;
      return plan({ ...options, access: end(stops[0] as number), egress: end(to), at: time, isArrival });
    }),
  );
}

describe('lines with the runs of snapshots', () => {
  it('lines that adopt one snapshot after another equal those that a new thread builds from the last ones, in both directions', () => {
    fc.assert(
      fc.property(publications, fc.nat(5), (drawn, mirroredFrom) => {
        const timetable = timetableFor(drawn);
        const days = OFFSETS.map((offset) => openDayLines(timetable, DAY + offset));
        const planned = days.map((day) => contentOf(day.planned()));
        for (const [index, step] of drawn.steps.entries()) {
          const live = liveWith(timetable, drawn, step);
          const kept = days[step.day + 1] as ReturnType<typeof openDayLines>;
          const fresh = openDayLines(timetable, DAY + step.day);
          for (const lines of [kept, fresh]) lines.adopt(live);
          expect(contentOf(kept.live())).toEqual(contentOf(fresh.live()));
          if (index >= mirroredFrom) expect(contentOf(kept.mirroredLive())).toEqual(contentOf(fresh.mirroredLive()));
          expect(contentOf(kept.planned())).toEqual(planned[step.day + 1]);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('lines have every run of the snapshots and of the timetable once, at its best times and with what riders may do', () => {
    fc.assert(
      fc.property(publications, (drawn) => {
        const timetable = timetableFor(drawn);
        for (const { day: offset, ...some } of drawn.steps) {
          const live = liveWith(timetable, drawn, some);
          const base = serviceDayStart(DAY + offset);
          const lines = openDayLines(timetable, DAY + offset);
          lines.adopt(live);
          const written = (calls: readonly ScannedCall[]) =>
            calls.map(({ stop, arrival, departure, flags }) => `${stop} ${arrival} ${departure} ${flags}`).join(', ');
          const { runCount, usable } = lines.live();
          const ours = Array.from({ length: runCount }, (_, run) => run)
            .filter((run) => !usable || usable[run])
            .map((run) =>
              Array.from({ length: lastPosition(lines.live(), run) + 1 }, (_, position) => {
                const { stop, arrivesAt, departsAt, flags } = callAt(lines.live(), run, position);
                return { stop, arrival: arrivesAt, departure: departsAt, flags };
              }),
            );
          const theirs = listRuns(live, DAY + offset).map((run) => callsOf(run, base));
          const listed = (runs: ScannedCall[][]) =>
            runs
              .filter((calls) => !isElsewhere(calls))
              .map(written)
              .sort();
          expect(listed(ours)).toEqual(listed(theirs));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('a thread that has adopted snapshots, and has also planned without them, finds the same journeys as a new thread', () => {
    fc.assert(
      fc.property(publications, (drawn) => {
        const timetable = timetableFor(drawn);
        const stops = STOPS.slice(0, 5).flatMap(({ id }) => timetable.findStop(id) ?? []);
        const kept = openPlanners(timetable);
        const planOn = (planners: ReturnType<typeof openPlanners>, day: number, plannedFrom: number | null) => {
          const at = plannedFrom ?? NOW - HOUR_MS;
          const { planner } = planners.open({ at, now: NOW, day });
          return planAll(planner, stops, (NOW - HOUR_MS - serviceDayStart(day)) / 1000);
        };
        for (const { day: offset, isPlanned, ...some } of drawn.steps) {
          const live = liveWith(timetable, drawn, some);
          const fresh = openPlanners(timetable);
          for (const planners of [kept, fresh]) planners.use(live);
          const lastLiveAt = Math.max(NOW, ...live.snapshots.map((snapshot) => snapshot.lastArrivalAt()));
          const plannedFrom = isPlanned ? lastLiveAt + FEED_HORIZON_MS : null;
          const found = planOn(kept, DAY + offset, plannedFrom);
          expect(found).toEqual(planOn(isPlanned ? openPlanners(timetable) : fresh, DAY + offset, plannedFrom));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('journeys with snapshots arrive as early as a scan of all runs by their best times', () => {
    fc.assert(
      fc.property(publications, fc.integer({ min: -90, max: 120 }), (drawn, minute) => {
        const timetable = timetableFor(drawn);
        const planners = openPlanners(timetable);
        const stops = STOPS.slice(0, 5).flatMap(({ id }) => timetable.findStop(id) ?? []);
        const from = stops[0] as number;
        for (const some of drawn.steps) {
          const live = liveWith(timetable, drawn, some);
          planners.use(live);
          const { planner, base } = planners.open({ at: NOW, now: NOW });
          const at = (NOW - base) / 1000 + minute * 60;
          const runs = listRuns(live, DAY);
          const ready = Array.from({ length: timetable.stopCount }, (_, stop) =>
            stop === from ? at : Number.POSITIVE_INFINITY,
          );
          const scan = (scanned: ScannedCall[][]) =>
            scanRuns(scanned, NO_WALKS, { ready, maxRides: MAX_RIDES }).map((round) =>
              round.map((time) => (time <= at + DAY_SECONDS ? time : Number.POSITIVE_INFINITY)),
            );
          const alone = scan(runs.map((run) => callsOf(run, base)));
          const found = spread(planner, from, at);
          if ([...drawn.buses.runs, ...drawn.ferries.runs].every(({ blockId }) => blockId === null)) {
            expect(found).toEqual(alone);
          }
          // A rider may stay in the vehicle, in the runs that can be made in time.
          const joined = scan(joinAll(live, runs, base));
          for (const [rides, round] of found.entries()) {
            for (const [stop, time] of round.entries()) {
              expect(time).toBeLessThanOrEqual(alone[rides]?.[stop] as number);
              expect(time).toBeGreaterThanOrEqual(joined[rides]?.[stop] as number);
            }
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('journeys with snapshots are feasible by the best times, and those by arrival leave as late as possible', () => {
    fc.assert(
      fc.property(publications, fc.integer({ min: -60, max: 200 }), fc.boolean(), (drawn, minute, isArrival) => {
        const timetable = timetableFor(drawn);
        const planners = openPlanners(timetable);
        const stops = STOPS.slice(0, 5).flatMap(({ id }) => timetable.findStop(id) ?? []);
        const from = stops[0] as number;
        for (const some of drawn.steps) {
          const live = liveWith(timetable, drawn, some);
          planners.use(live);
          const { planner, base } = planners.open({ at: NOW, now: NOW });
          const runs = joinAll(live, listRuns(live, DAY), base);
          const scan = (at: number, maxRides: number, to: number) => {
            const ready = Array.from({ length: timetable.stopCount }, (_, stop) =>
              stop === from ? at : Number.POSITIVE_INFINITY,
            );
            return scanRuns(runs, NO_WALKS, { ready, maxRides }).at(-1)?.[to] as number;
          };
          const hasBlocks = [...drawn.buses.runs, ...drawn.ferries.runs].some(({ blockId }) => blockId !== null);
          const at = (NOW - base) / 1000 + minute * 60;
          for (const to of stops.slice(1)) {
            const ends = { access: [{ stop: from, seconds: 0 }], egress: [{ stop: to, seconds: 0 }] };
            const plans = planner.plan({ ...REQUEST, ...ends, at, isArrival, walkSeconds: null, limit: 6 });
            for (const { departsAt, arrivesAt, rides } of plans) {
              expect(scan(departsAt, rides.length, to)).toBeLessThanOrEqual(arrivesAt);
              expect(isArrival ? arrivesAt <= at : departsAt >= at).toBe(true);
            }
            const [last] = plans.toSorted((one, other) => other.departsAt - one.departsAt);
            if (!isArrival || hasBlocks || !last || last.departsAt < -BEFORE_DAY_SECONDS) continue;
            for (let maxRides = last.rides.length; maxRides <= MAX_RIDES; maxRides++) {
              const later = last.departsAt + 1 + (maxRides - last.rides.length) * 60;
              expect(scan(later, maxRides, to)).toBeGreaterThan(at);
            }
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  /** The numbers of runs in the feeds of a day. The mirrored lines are opened at the second one. */
  function expectSame(timetable: Timetable, feeds: readonly TripSpec[][]): void {
    const kept = openDayLines(timetable, DAY);
    for (const [index, trips] of feeds.entries()) {
      const fresh = openDayLines(timetable, DAY);
      const live = new LiveTimetable(timetable, [snapshotOf(timetable, { timestamp: NOW / 1000, trips })]);
      for (const lines of [kept, fresh]) lines.adopt(live);
      expect(contentOf(kept.live())).toEqual(contentOf(fresh.live()));
      if (index > 0) expect(contentOf(kept.mirroredLive())).toEqual(contentOf(fresh.mirroredLive()));
    }
  }

  it('lines adopt more changed runs than they have room for, and then fewer again, in both directions', () => {
    const two = (number: number) => String(number).padStart(2, '0');
    const clock = (minute: number) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
    const trips = Array.from({ length: 4000 }, (_, index) => ({
      id: `T${index}`,
      days: [TODAY],
      calls: ['A', 'B', 'C'].map((stop, at) => [stop, clock(600 + (index % 300) + at * 5)] as const),
    }));
    const late = trips.map(({ id }, index): TripSpec => {
      const time = { delay: index % 7 === 0 ? 3600 : 60 + index };
      return { tripId: id, startDate: TODAY, stops: [{ stopId: 'A', arrival: time, departure: time }] };
    });
    const timetable = timetableOf(scheduleFile('buses', { stops: STOPS, trips }));
    expectSame(
      timetable,
      [10, 1, 2500, 5, 4000, 1].map((count) => late.slice(0, count)),
    );
  });

  it('lines adopt many runs that the timetable lacks, even if the feed before had few', () => {
    const [first, last] = [NOW / 1000, NOW / 1000 + 600];
    const added = Array.from({ length: 3000 }, (_, index): TripSpec => {
      const at = (time: number) => ({ departure: { time: time + index }, arrival: { time: time + index } });
      const stops = [
        { stopId: 'A', ...at(first) },
        { stopId: 'B', ...at(last) },
      ];
      return { tripId: `added${index}`, routeId: 'R', scheduleRelationship: TRIP.added, stops };
    });
    const trips = [
      {
        id: 'only',
        days: [TODAY],
        calls: [
          ['A', '09:00'],
          ['B', '09:10'],
        ] as const,
      },
    ];
    const timetable = timetableOf(scheduleFile('buses', { stops: STOPS, trips }));
    expectSame(
      timetable,
      [3000, 2, 3000].map((count) => added.slice(0, count)),
    );
  });

  it('the memory of lines with former snapshots is freed when they adopt the next ones, even if the lines are too small', () => {
    const trips = [
      {
        id: 'only',
        days: [TODAY],
        calls: [
          ['A', '09:00'],
          ['B', '09:10'],
        ] as const,
      },
    ];
    const timetable = timetableOf(scheduleFile('buses', { stops: STOPS, trips }));
    const lines = openDayLines(timetable, DAY);
    const publish = (count: number) => {
      const added = Array.from({ length: count }, (_, index): TripSpec => {
        const stops = ['A', 'B'].map((stopId, at) => ({ stopId, departure: { time: NOW / 1000 + index + at * 600 } }));
        return { tripId: `added${index}`, routeId: 'R', scheduleRelationship: TRIP.added, stops };
      });
      lines.adopt(new LiveTimetable(timetable, [snapshotOf(timetable, { timestamp: NOW / 1000, trips: added })]));
      return [lines.live(), lines.mirroredLive()];
    };
    const before = publish(1);
    const ofFormer = before.map(({ live }) => live);
    publish(2);
    expect(ofFormer.map((live) => [live?.visits.length, live?.offsets.length, live?.firstVisit.length])).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
    const after = publish(3000);
    expect(before.map(({ starts, stops }) => [starts.length, stops.length])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(after.every(({ runCount, starts }) => runCount === 3001 && starts.length >= runCount)).toBe(true);
    expect(lines.planned().starts.length).toBe(1);
    expect(lines.mirroredPlanned().visits.length).toBeGreaterThan(0);
    // Without a run of the snapshots there is no copy.
    expect(publish(0)).toEqual([lines.planned(), lines.mirroredPlanned()]);
    expect(publish(0)[0]).toBe(lines.planned());
    expect(after.map(({ starts }) => starts.length)).toEqual([0, 0]);
    expect(publish(2).map(({ runCount }) => runCount)).toEqual([3, 3]);
  });

  it('a day that nobody searches holds no snapshots of the past', () => {
    const trips = [
      {
        id: 'only',
        days: [TODAY],
        calls: [
          ['A', '09:00'],
          ['B', '09:10'],
        ] as const,
      },
    ];
    const timetable = timetableOf(scheduleFile('buses', { stops: STOPS, trips }));
    const planners = openPlanners(timetable);
    const time = { delay: 60 };
    const update = { tripId: 'only', startDate: TODAY, stops: [{ stopId: 'A', arrival: time, departure: time }] };
    const publish = () =>
      new LiveTimetable(timetable, [snapshotOf(timetable, { timestamp: NOW / 1000, trips: [update] })]);
    planners.use(publish());
    const { planner } = planners.open({ at: NOW, now: NOW });
    expect(planner.refOf(1)).toMatchObject({ run: 0 });
    planners.use(publish());
    expect(planner.refOf(1)).toBeNull();
  });
});
