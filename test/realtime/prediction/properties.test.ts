import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TRIP } from '#src/realtime/feed/packed-feed.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { CALL } from '#src/realtime/prediction/run-columns.ts';
import { RUN, type Snapshot } from '#src/realtime/snapshot.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { feedOf, type StopSpec, type TripSpec } from '../feed-bytes.ts';
import { NOW, predict, calls as textOf, timetable } from './predicted.ts';
import { type RandomNetwork, randomNetwork } from './random-network.ts';

const SOURCES = ['buses', 'sydneytrains'] as const;
const network = fc.record({ source: fc.constantFrom(...SOURCES), network: randomNetwork });
const SHORT_RIDE_SECONDS = 120;

function predicted({
  source,
  network: { runs, trips, vehicles },
}: {
  source: (typeof SOURCES)[number];
  network: RandomNetwork;
}) {
  const planned = timetable(runs, source);
  return { planned, snapshot: predict(planned, trips, { source, vehicles }) };
}

/** The calls of a run in the columns, read one by one. */
function callsOf(snapshot: Snapshot, run: number) {
  const { sections } = snapshot;
  const first = sections.firstCall[run] as number;
  return Array.from({ length: sections.callCount[run] as number }, (_, index) => {
    const at = (
      name: 'arrival' | 'departure' | 'plannedArrival' | 'plannedDeparture' | 'state' | 'flags' | 'stop' | 'position',
    ) => sections[name][first + index] as number;
    const is = (bit: number) => (at('state') & bit) !== 0;
    return {
      call: first + index,
      stop: at('stop'),
      position: at('position'),
      flags: at('flags'),
      arrival: at('arrival'),
      departure: at('departure'),
      plannedArrival: at('plannedArrival'),
      plannedDeparture: at('plannedDeparture'),
      isOwn: is(CALL.own),
      isLive: is(CALL.live),
      isListed: is(CALL.listed),
      isShown: !is(CALL.skipped) && !is(CALL.left),
    };
  });
}

/** Whether a trip has anything that a rider would see. Trains without passengers have none. */
function saysAnything({ routeId, scheduleRelationship = 0, delay, stops = [] }: TripSpec): boolean {
  if (routeId === 'RTTA_REV') return false;
  const [skipped, noData, unscheduled] = [1, 2, 3];
  const listsNoCalls = [0, 3, 7, 42];
  const isListEmpty = stops.length === 0 && !listsNoCalls.includes(scheduleRelationship);
  const isTimed = ({ arrival, departure }: StopSpec) => Object.keys({ ...arrival, ...departure }).length > 0;
  return (
    (scheduleRelationship !== 0 && !isListEmpty) ||
    delay !== undefined ||
    stops.some((stop) => {
      const { scheduleRelationship: of = 0 } = stop;
      return of === skipped || of === noData || (of !== unscheduled && isTimed(stop));
    })
  );
}

/** Fails with the run in words. */
function check(planned: Timetable, snapshot: Snapshot, run: number, isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`${what}: ${textOf(planned, snapshot, run).join(', ')}`);
}

function eachRun(
  hold: (
    calls: ReturnType<typeof callsOf>,
    check: (isRight: boolean, what: string) => void,
    of: { snapshot: Snapshot; run: number },
  ) => void,
) {
  fc.assert(
    fc.property(network, (drawn) => {
      const { planned, snapshot } = predicted(drawn);
      for (let run = 0; run < snapshot.runCount; run++) {
        hold(callsOf(snapshot, run), (isRight, what) => check(planned, snapshot, run, isRight, what), {
          snapshot,
          run,
        });
      }
    }),
    { numRuns: 400 },
  );
}

describe('the predicted runs of any feed', () => {
  it('no call is earlier than the previous one, and no departure is earlier than its arrival', () => {
    eachRun((calls, check) => {
      let latest = Number.NEGATIVE_INFINITY;
      for (const [index, { arrival, departure }] of calls.entries()) {
        check(arrival >= latest && departure >= arrival, `call ${index}`);
        latest = departure;
      }
    });
  });

  it('no ride of two minutes or more takes less than a sixth of its plan unless both ends have their own estimate', () => {
    eachRun((calls, check) => {
      const shown = calls.filter(({ isShown }) => isShown);
      for (const [index, from] of shown.entries()) {
        for (const to of shown.slice(index + 1)) {
          const takes = to.plannedArrival - from.plannedDeparture;
          if (takes < SHORT_RIDE_SECONDS || (from.isOwn && to.isOwn)) continue;
          check((to.arrival - from.departure) * 6 >= takes, `${from.call} to ${to.call}`);
        }
      }
    });
  });

  it('riders can do nothing where the vehicle does not stop or has left, and such a call is not live', () => {
    eachRun((calls, check) => {
      for (const { isShown, flags, isLive, call } of calls) if (!isShown) check(flags === 0 && !isLive, `call ${call}`);
    });
  });

  it('a call without a live time has its planned one', () => {
    eachRun((calls, check, { snapshot, run }) => {
      if (snapshot.isCancelled(run)) return;
      for (const one of calls) {
        if (!one.isShown || one.isLive) continue;
        check(one.arrival === one.plannedArrival && one.departure === one.plannedDeparture, `call ${one.call}`);
      }
    });
  });

  it('a run with updates is shown somewhere unless it is cancelled or skips all further stops', () => {
    eachRun((calls, check, { snapshot, run }) => {
      if (snapshot.isCancelled(run)) return;
      const { runTrip, runUpdate, runFlags, state } = snapshot.sections;
      const isCopy = (runTrip[run] as number) < 0;
      check(
        isCopy || (runUpdate[run] as number) < 0 || calls.some(({ isListed, isLive }) => isListed || isLive),
        'says nothing',
      );
      const isSkipped = (call: number) => ((state[call] as number) & CALL.skipped) !== 0;
      check(
        calls.some(({ isShown }) => isShown) || calls.every(({ call, isListed }) => isSkipped(call) || !isListed),
        'hidden',
      );
      const isLive = calls.some((one) => one.isLive);
      check((((runFlags[run] as number) & RUN.live) !== 0) === isLive, 'live');
    });
  });

  it('each trip of the feed that says anything is a run, or is counted as left out', () => {
    fc.assert(
      fc.property(network, (drawn) => {
        const { snapshot } = predicted(drawn);
        const { leftOut } = snapshot.about;
        const examples = Object.values(leftOut).flatMap((one) => one.examples);
        const counted = new Set(examples.map((example) => example.split(' ')[0]));
        const rows = new Set(snapshot.sections.runUpdate);
        for (const [index, trip] of drawn.network.trips.entries()) {
          const ids = [trip.tripId, trip.copy?.tripId];
          const isCounted = ids.some((id) => counted.has(id));
          if (saysAnything(trip) && !rows.has(index * TRIP.words) && !isCounted) {
            throw new Error(`${ids} is silent: ${JSON.stringify(leftOut)}`);
          }
        }
      }),
      { numRuns: 400 },
    );
  });

  it('lookups find what a scan of the columns finds', () => {
    eachRun((calls, check, { snapshot, run }) => {
      const { runTrip, runDay, visitRun, visits } = snapshot.sections;
      const [trip, day] = [runTrip[run] as number, runDay[run] as number];
      if (trip >= 0) check(snapshot.findRun(trip, day) === run, 'findRun');
      else check(snapshot.listAdded(snapshot.addedId(run)).includes(run), 'findAdded');
      for (const { call, stop } of calls) {
        if (stop < 0) continue;
        const [first, end] = snapshot.visitsAt(stop);
        const found = Array.from(visits.subarray(first, end).entries()).filter(
          ([at, one]) => one === call && visitRun[first + at] === run,
        );
        check(found.length === 1, 'visitsAt');
      }
    });
  });

  it('the same feed and timetable give the same snapshot, whatever was predicted before', () => {
    fc.assert(
      fc.property(network, network, ({ source, network: { runs, trips, vehicles } }, other) => {
        const planned = createPlannedRuns(timetable(runs, source));
        const feed = feedOf({ timestamp: NOW / 1000, trips });
        const positions = feedOf({ timestamp: NOW / 1000, vehicles });
        const first = predictFeed(planned, { source, feed, positions });
        const between = feedOf({ timestamp: NOW / 1000 + 86_400, trips: other.network.trips });
        predictFeed(planned, { source, feed: between });
        expect(Buffer.from(predictFeed(planned, { source, feed, positions })).equals(Buffer.from(first))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
