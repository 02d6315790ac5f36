import type { Footpaths } from './footpaths.ts';
import { type Lines, mirrorLines } from './lines.ts';
import { createSearcher, type Found, type Labels, type Ride, type Search, type Walk } from './search.ts';
import { callAt, lastPosition, tidyChanges } from './tidy.ts';

/** Times are seconds since the base of the lines. */
export interface PlanRequest extends Pick<Search, 'access' | 'egress' | 'maxRides' | 'changeSeconds'> {
  /** Journeys leave at this time or later; with `isArrival` they arrive at this time or earlier. */
  at: number;
  isArrival: boolean;
  /** The way on foot from end to end; null where it is too far. */
  walkSeconds: number | null;
  /** A bit for each wanted mode. */
  modes: number;
  isWheelchair: boolean;
  /** How many journeys are wanted. */
  most: number;
}

/** A journey, with the walks to its first ride and from its last one. One without rides is a walk. */
export interface Plan extends Found {
  access: Walk;
  egress: Walk;
}

/** What is not known to take no wheelchair, by trip and by stop. */
export interface WheelchairAccess {
  trips: Uint8Array;
  stops: Uint8Array;
}

const DAY_SECONDS = 86_400;
/** First all journeys that leave within so many seconds are looked for, then one after the other. */
const WINDOWS = [20 * 60, 60 * 60];
/** A rider takes one change more to arrive so many seconds earlier, and one less to arrive so many later. */
const CHANGE_IS_WORTH_SECONDS = 600;
const NO_CHANGE_IS_WORTH_SECONDS = 60;

/** Plans journeys on these lines. */
export function createPlanner(lines: Lines, footpaths: Footpaths, access: WheelchairAccess, labels: Labels) {
  const forward = createDirection(lines, footpaths, access, labels);
  let backward: ReturnType<typeof createDirection> | null = null;

  /**
   * The best journeys that leave from `at` on, within so many seconds; with `isArrival` those that arrive up to then. With 0
   * seconds those that are there first, however long one waits for them.
   */
  function find(request: PlanRequest, isArrival: boolean, at: number, seconds: number, maxRides: number): Found[] {
    const { access: ways, egress, changeSeconds } = request;
    const common = { isOpen: seconds < DAY_SECONDS, maxRides, changeSeconds };
    // No journey leaves before the time asked for, arrives after it, or takes longer than a day from there.
    const [earliest, latest] = request.isArrival
      ? [request.at - DAY_SECONDS, request.at]
      : [request.at, request.at + DAY_SECONDS];
    if (!isArrival) {
      return forward(request, { ...common, access: ways, egress, from: at, until: at + seconds, latest });
    }
    backward ??= createDirection(mirrorLines(lines), footpaths, access, labels);
    const mirrored = { access: egress, egress: ways, from: -at, until: seconds - at, latest: -earliest };
    return backward(request, { ...common, ...mirrored }).map(mapBack);
  }

  function mapBack({ departsAt, arrivesAt, rides }: Found): Found {
    const last = lines.lineOfRun.length - 1;
    const back = (run: number, position: number) => [last - run, lastPosition(lines, last - run) - position] as const;
    return {
      departsAt: -arrivesAt,
      arrivesAt: -departsAt,
      rides: rides
        .map(({ run, board, alightRun, alight }) => {
          const [first, last] = [back(alightRun, alight), back(run, board)];
          return { run: first[0], board: first[1], alightRun: last[0], alight: last[1] };
        })
        .reverse(),
    };
  }

  return function plan(request: PlanRequest): Plan[] {
    const { at, isArrival, walkSeconds, most, maxRides } = request;
    const sign = isArrival ? -1 : 1;
    let plans: Plan[] = [];
    const add = (found: readonly Found[]) => {
      const journeys = found.map((one) => withEnds(one, request));
      const longest = walkSeconds ?? Number.POSITIVE_INFINITY;
      plans = keepBest([...plans, ...journeys.filter((one) => one.arrivesAt - one.departsAt < longest)]);
    };
    let passed = 0;
    for (const seconds of WINDOWS) {
      if (plans.length < most) {
        add(find(request, isArrival, at + sign * passed, seconds - passed, maxRides));
        passed = seconds;
      }
    }
    while (plans.length < most && passed < DAY_SECONDS) {
      const first = keepBest(find(request, isArrival, at + sign * passed, 0, maxRides));
      // A rider who waits is there as early if he leaves as late as he can.
      const tight = first.flatMap(({ departsAt, arrivesAt, rides }) =>
        find(request, !isArrival, isArrival ? departsAt : arrivesAt, 0, rides.length).slice(-1),
      );
      if (tight.length === 0) break;
      add(tight);
      passed = Math.min(...tight.map((one) => (isArrival ? at - one.arrivesAt : one.departsAt - at))) + 1;
    }
    plans.sort(
      isArrival ? (one, other) => other.arrivesAt - one.arrivesAt : (one, other) => one.departsAt - other.departsAt,
    );
    const chosen = plans.slice(0, most);
    // The one that is there first may leave after others with fewer changes.
    const [first] = plans.toSorted((one, other) =>
      isArrival ? other.departsAt - one.departsAt : one.arrivesAt - other.arrivesAt,
    );
    if (first && !chosen.includes(first)) chosen[most - 1] = first;
    return walkSeconds === null ? chosen : [walkOnly(request, walkSeconds), ...chosen];
  };

  function withEnds(found: Found, { access: ways, egress, changeSeconds, isWheelchair }: PlanRequest): Plan {
    const usableStops = isWheelchair ? access.stops : null;
    const rides = tidyChanges(lines, footpaths, found.rides, { changeSeconds, usableStops });
    const [first, last] = [rides[0] as Ride, rides.at(-1) as Ride];
    return {
      ...found,
      rides,
      access: shortest(ways, callAt(lines, first.run, first.board).stop),
      egress: shortest(egress, callAt(lines, last.alightRun, last.alight).stop),
    };
  }
}

function createDirection(lines: Lines, footpaths: Footpaths, access: WheelchairAccess, labels: Labels) {
  const searcher = createSearcher(lines, footpaths, labels);
  let accessibleRuns: Uint8Array | null = null;
  return function search({ modes, isWheelchair }: PlanRequest, wanted: Omit<Search, 'allowed'>): Found[] {
    if (isWheelchair) {
      accessibleRuns ??= Uint8Array.from(
        lines.trips,
        (trip, run) => (lines.usable?.[run] ?? 1) & (access.trips[trip] ?? 1),
      );
    }
    return searcher({
      ...wanted,
      allowed: {
        lines: lines.modes.map((mode) => (modes >> mode) & 1),
        runs: isWheelchair ? accessibleRuns : lines.usable,
        stops: isWheelchair ? access.stops : null,
      },
    });
  };
}

/** Leaves out a journey for which another one is better: it leaves no earlier, and is there as early for what its changes are worth. */
function keepBest<One extends Found>(plans: readonly One[]): One[] {
  const isBetter = (one: One, other: One) => {
    const more = one.rides.length - other.rides.length;
    if (more > 0)
      return one.departsAt >= other.departsAt && one.arrivesAt + more * CHANGE_IS_WORTH_SECONDS <= other.arrivesAt;
    const slack = more < 0 ? NO_CHANGE_IS_WORTH_SECONDS : 0;
    return one.departsAt >= other.departsAt - slack && one.arrivesAt <= other.arrivesAt + slack;
  };
  return plans.filter((plan, index) =>
    plans.every((other, at) => at === index || !isBetter(other, plan) || (isBetter(plan, other) && index < at)),
  );
}

function walkOnly({ at, isArrival }: PlanRequest, seconds: number): Plan {
  const departsAt = isArrival ? at - seconds : at;
  return {
    departsAt,
    arrivesAt: departsAt + seconds,
    rides: [],
    access: { stop: -1, seconds },
    egress: { stop: -1, seconds: 0 },
  };
}

function shortest(walks: readonly Walk[], stop: number): Walk {
  const seconds = Math.min(...walks.flatMap((walk) => (walk.stop === stop ? walk.seconds : [])));
  return { stop, seconds };
}
