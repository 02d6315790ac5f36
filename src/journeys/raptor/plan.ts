import type { MapCells } from '../../timetable/map-cells.ts';
import type { CellBounds } from './cell-bounds.ts';
import { type Found, type FromUntil, type Labels, MAX_RIDES, type Ride } from './labels.ts';
import {
  callAt,
  type Footpaths,
  type Lines,
  lastPosition,
  mirrorLines,
  mirrorRun,
  NEVER,
  withoutBooked,
} from './lines.ts';
import { type Destination, type Search, type SearchedWalks, searchUntilEnded, type Walk } from './query.ts';
import { createSearcher, latestBeside } from './search.ts';

/** Times are seconds since the base of the lines. */
export interface PlanRequest extends SearchedWalks {
  maxRides: number;
  /** Journeys leave at this time or later; with `isArrival` they arrive at this time or earlier. */
  at: number;
  isArrival: boolean;
  /** The walk from end to end; null if it is too far. */
  walkSeconds: number | null;
  /** One bit for each requested mode. */
  modes: number;
  isWheelchair: boolean;
  /** Leaves out rides that must be booked. */
  withoutBooking?: boolean;
  /** Replaces the accessible stops of the planner. */
  usableStops?: Uint8Array;
  limit: number;
  /** Journeys that arrive later are left out; with `isArrival`, those that leave earlier. */
  bound?: number;
  /** Whether journeys may end days after `at`, if the lines have runs of these days. Otherwise they end within a day. */
  isFar?: boolean;
  /** Whether only the best journey is needed, by arrival plus the cost of changes. Others may then be missing. */
  isBrief?: boolean;
}

/** A search for the first arrival at every stop, up to `latest`. */
export interface SpreadRequest
  extends Omit<PlanRequest, 'egress' | 'isArrival' | 'walkSeconds' | 'limit' | 'bound' | 'isBrief'> {
  latest: number;
  /** If given, the search only needs the first arrivals at these destinations, and the labels that lead there. */
  ends?: readonly Destination[];
}

/** A journey, with the walks to its first ride and from its last one. One without rides is a walk. */
export interface Plan extends Found {
  access: Walk;
  egress: Walk;
}

/** By trip and by stop: 0 where wheelchairs are known not to be taken, else 1. */
export interface WheelchairAccess {
  trips: Uint8Array;
  stops: Uint8Array;
}

/** A far search covers this many days from its time. */
export const FAR_DAYS = 3;
const DAY_SECONDS = 86_400;
const FAR_SECONDS = FAR_DAYS * DAY_SECONDS;
/** The usual maximum of rides. Journeys may have more if that saves enough time. */
const USUAL_RIDES = 4;
/** The first search allows this many rides. Its arrival bounds the later searches, which makes them cheap. */
const FEW_RIDES = 3;
/** If the first arrival is more than this away, `RIDES_OF_LONG` rides are always tried. */
const LONG_SECONDS = 80 * 60;
const RIDES_OF_LONG = 6;
/** Most first arrivals are found within this time, which makes their search cheap. */
const SOON_SECONDS = 3 * 60 * 60;
/** A pass looks for the next arrival up to these times after the pass before. */
const NEXT_SECONDS = [2 * 60 * 60, 6 * 60 * 60, Number.POSITIVE_INFINITY];
/** One pass finds all journeys that arrive within this many seconds of the first. */
const PASS_SECONDS = 60 * 60;
/** Where a single journey is chosen, one more change must save this many seconds. */
export const CHANGE_IS_WORTH_SECONDS = 600;
/** The most by which an arrival can be later than another one that is shown with the same minute. */
const SAME_MINUTE_SECONDS = 59;
/** The search stops after this many results, even if most were dropped, for instance because walking is faster. */
const MAX_FOUND = 40;
/** A search is aimed at its destinations if it has at most this many. */
const MOST_AIMED = 3;
/** In a list, one more change must save this many seconds. */
export const LEAST_SAVED_SECONDS = 60;

/**
 * Returns a planner for these lines. `labels` are those of forward and of backward searches; other planners may use the same ones.
 */
export function createPlanner(
  lines: Lines,
  footpaths: Footpaths,
  access: WheelchairAccess,
  labels: readonly [Labels, Labels],
  checkDeadline: () => void = () => {},
  /** Opens the mirrored lines, for the first backward search. */
  openMirrored: () => Lines = () => mirrorLines(lines),
  /** The cells of the map, which bound the searches; null if there are none. */
  cells: MapCells | null = null,
) {
  const open = (one: Lines, own: Labels, isMirrored: boolean) =>
    createDirection(one, footpaths, access, own, checkDeadline, cells && { ...cells, isMirrored });
  const forward = open(lines, labels[0], false);
  let mirroredLines: Lines | null = null;
  const mirrored = () => {
    mirroredLines ??= openMirrored();
    return mirroredLines;
  };
  let backward: typeof forward | null = null;
  const openBackward = () => {
    backward ??= open(mirrored(), labels[1], true);
    return backward;
  };

  /**
   * Finds the journeys after `at`, by arrival, until `add` returns true. Passes alternate between the two directions: a forward
   * search finds the earliest arrival, a backward search from this and later arrivals finds the latest departures. With `isArrival`
   * the directions are swapped. A last search adds slower journeys with fewer changes.
   */
  function find(request: PlanRequest, add: (found: Found) => boolean): void {
    const { at, isArrival, access: ways, egress, changeSeconds, bound } = request;
    if (ways.length === 0 || egress.length === 0) return;
    const maxRides = Math.min(request.maxRides, MAX_RIDES);
    const [ahead, back] = isArrival ? [openBackward(), forward] : [forward, openBackward()];
    const [near, far] = isArrival ? [egress, ways] : [ways, egress];
    const begin = isArrival ? -at : at;
    const end = begin + (request.isFar ? FAR_SECONDS : DAY_SECONDS);
    const latest = bound === undefined ? end : Math.min(end, isArrival ? -bound : bound);
    const startBack = () => back.begin(request, { changeSeconds, access: far, egress: near, latest: -begin });
    /** As `back` finds them, in mirrored time: `departsAt` is minus the arrival in the direction of `ahead`. */
    const plans: Found[] = [];
    /** Adds a journey. Returns whether no more are needed. */
    const addPlan = (plan: Found) => {
      plans.push(plan);
      return add(isArrival ? plan : mirrorFound(lines, plan));
    };
    let start = begin;
    let limit = begin;
    let rides = Math.min(maxRides, USUAL_RIDES);
    /** The least arrival with the cost of the rides added. */
    let leastCost = NEVER;
    /** Returns the first arrival by number of rides. */
    const reach = (rideLimit: number, until: number, slack: number) => {
      ahead.begin(request, { changeSeconds, access: near, egress: far, latest: until });
      return Array.from(ahead.reach(start, rideLimit, slack).subarray(0, rideLimit + 1));
    };
    /** Updates `leastCost` and returns the first of these arrivals. */
    const recordArrivals = (arrivals: readonly number[]) => {
      leastCost = Math.min(
        leastCost,
        ...arrivals.map((arrivesAt, round) => arrivesAt + round * CHANGE_IS_WORTH_SECONDS),
      );
      return Math.min(...arrivals);
    };
    /** Returns the first arrivals with more than the usual rides, where there is none with fewer. */
    const reachWithMore = (soon: number) => {
      const found = soon < latest ? reach(Math.min(maxRides, RIDES_OF_LONG), soon, 0) : [];
      // If there is nothing with these rides, there is seldom anything with one more: try the maximum at once.
      return Math.min(NEVER, ...found) < NEVER ? found : reach(maxRides, latest, 0);
    };
    /**
     * The first arrival up to `end`, with at least `fewest` rides allowed. `rides` grows to the number of rides that it takes. More
     * than the usual rides are only tried where an arrival with fewer is known, or there is none up to `latest`.
     */
    const findFirst = (end: number, soon: number, fewest: number) => {
      let first = NEVER;
      /** The arrivals of the last search, by number of rides. */
      let found: readonly number[] = [];
      // If the last ride helped, one more may help too. On a long journey, two more may help where one does not.
      for (let allowedRides = fewest; allowedRides <= maxRides; allowedRides++) {
        const isUsual = allowedRides <= USUAL_RIDES;
        if (!isUsual && first === NEVER && end < latest) break;
        if (allowedRides >= found.length) {
          const most = isUsual ? allowedRides : Math.min(maxRides, Math.max(allowedRides, RIDES_OF_LONG));
          if (!isUsual && first === NEVER) found = reachWithMore(soon);
          else found = reach(most, Math.min(end, first - LEAST_SAVED_SECONDS), 0);
        }
        const arrivals = found.slice(0, allowedRides + 1);
        if (Math.min(...arrivals) <= first - LEAST_SAVED_SECONDS) {
          first = recordArrivals(arrivals);
          rides = Math.max(rides, allowedRides);
        } else if (first < NEVER && (allowedRides >= RIDES_OF_LONG || first - start < LONG_SECONDS)) break;
        if (plans.length > 0 && first < NEVER) break;
      }
      return first;
    };
    /** Like `findFirst`, but looks only `SOON_SECONDS` ahead at first, which is nearly always enough. */
    const findEarliest = () => {
      const soon = Math.min(latest, start + SOON_SECONDS);
      const fewest = Math.min(maxRides, FEW_RIDES);
      const first = findFirst(soon, soon, fewest);
      return first === NEVER && soon < latest ? findFirst(latest, soon, fewest) : first;
    };
    /** The first arrivals after the last pass, with as many rides as before. The next one is usually soon. */
    const reachNext = () => {
      for (const seconds of NEXT_SECONDS) {
        const until = Math.min(latest, limit + seconds);
        const arrivals = reach(rides, until, PASS_SECONDS);
        if (until === latest || Math.min(...arrivals) < NEVER) return { arrivals, until };
      }
      return { arrivals: [NEVER], until: latest };
    };
    /** Adds the journeys of one pass. Returns whether there may be more. */
    const pass = (): boolean => {
      let seconds = PASS_SECONDS;
      let first = NEVER;
      let searched = limit;
      if (plans.length > 0) {
        const next = reachNext();
        first = recordArrivals(next.arrivals);
        searched = next.until;
      }
      if (first === NEVER || searched < Math.min(latest, first + seconds)) {
        let earliest = first;
        if (first === NEVER) earliest = plans.length > 0 ? findFirst(latest, latest, rides + 1) : findEarliest();
        if (earliest === NEVER) return false;
        const useful = leastCost - CHANGE_IS_WORTH_SECONDS - earliest + 1;
        if (request.isBrief) seconds = Math.min(seconds, Math.max(1, useful));
        first = recordArrivals(reach(rides, Math.min(latest, earliest + seconds), seconds));
      }
      const until = 1 - Math.max(first, limit + 1);
      limit = Math.min(latest, first + seconds - 1);
      for (const plan of back.range({ from: -limit, until, maxRides: rides, bounds: ahead.labels })) {
        if (addPlan(plan)) return false;
      }
      const left = Math.max(...plans.map(({ arrivesAt }) => -arrivesAt));
      if (left < start) return false;
      start = left + 1;
      return limit < latest;
    };
    // If there is no journey at all, the searches with fewer rides below would each go through the whole network in vain.
    if (request.isFar && Math.min(...reach(maxRides, latest, 0)) === NEVER) return;
    startBack();
    const hasMore = pass();
    // A journey that leaves earlier and arrives later than these saves a change at best, which is not worth it.
    if (request.isBrief && plans.length > 0) return;
    const covered = hasMore ? limit : Math.max(...plans.map(({ departsAt }) => -departsAt));
    if (hasMore) while (pass());
    addSimpler();

    /**
     * Finds journeys with fewer rides than all in `plans`. The passes miss those that arrive after the times that they covered,
     * and those that faster journeys hid.
     */
    function addSimpler(): void {
      const known = [...plans];
      const fewer = Math.min(...known.map(({ rides: own }) => own.length)) - 1;
      if (known.length === 0 || fewer < 1) return;
      const spans = listSpans(known, { after: covered, until: latest });
      if (spans.length === 0) return;
      start = begin;
      reach(fewer, (spans.at(-1) as Span)[1], FAR_SECONDS);
      startBack();
      for (const [from, to] of spans) {
        const range = { from: -to, until: -from, maxRides: fewer, bounds: ahead.labels, known };
        for (const plan of back.range(range)) addPlan(plan);
      }
    }
  }

  function plan(request: PlanRequest): Plan[] {
    const { isArrival, walkSeconds, limit } = request;
    const longest = walkSeconds ?? Number.POSITIVE_INFINITY;
    const choose = (all: readonly Plan[]) => chooseBest(all, request.isBrief ? undefined : toShownTimes);
    let plans: Plan[] = [];
    let count = 0;
    const add = (plan: Found) => {
      if (plan.arrivesAt - plan.departsAt < longest) plans = choose([...plans, withEnds(plan, request)]);
      return plans.length >= limit || ++count >= MAX_FOUND;
    };
    searchUntilEnded(
      () => find(request, add),
      () => plans.length > 0,
    );
    plans.sort(isArrival ? (a, b) => b.arrivesAt - a.arrivesAt : (a, b) => a.departsAt - b.departsAt);
    const chosenPlans = plans.slice(0, limit);
    // The journey that arrives first may leave after others with fewer changes.
    const [first] = plans.toSorted((a, b) => (isArrival ? b.departsAt - a.departsAt : a.arrivesAt - b.arrivesAt));
    if (first && !chosenPlans.includes(first)) chosenPlans[limit - 1] = first;
    if (walkSeconds === null) return chosenPlans;
    const departsAt = isArrival ? request.at - walkSeconds : request.at;
    return [walkOnly(departsAt, departsAt + walkSeconds), ...chosenPlans];
  }

  /** Returns labels with the first arrival at each stop, by number of rides. They are valid until the next forward search. */
  function spread(request: SpreadRequest): Labels {
    const { access: ways, ends, latest, changeSeconds } = request;
    // With more destinations, finding the time left to the nearest one takes longer than it saves.
    const egress = ends && ends.length <= MOST_AIMED ? ends.flatMap((end) => end.egress) : [];
    forward.begin(request, { access: ways, egress, ...(ends && { ends }), latest, changeSeconds });
    forward.reach(request.at, Math.min(request.maxRides, MAX_RIDES), SAME_MINUTE_SECONDS);
    return forward.labels;
  }

  /**
   * After `spread`: finds the best journey to `egress` that arrives at `arrivesAt`, the first arrival there, or within the same
   * shown minute. The best one leaves last, but one more ride must save `CHANGE_IS_WORTH_SECONDS`.
   */
  function leaveLast(request: SpreadRequest, egress: readonly Walk[], arrivesAt: number): Plan | null {
    const ends = { access: egress, egress: request.access, latest: -request.at };
    const back = openBackward();
    back.begin(request, { ...ends, changeSeconds: request.changeSeconds });
    const maxRides = Math.min(request.maxRides, MAX_RIDES);
    const from = -arrivesAt - SAME_MINUTE_SECONDS;
    const plans = [...back.range({ from, until: 1 - arrivesAt, maxRides, bounds: forward.labels })].map((found) =>
      withEnds(mirrorFound(lines, found), { ...request, egress }),
    );
    const first = Math.min(...plans.map(shownArrival));
    const cost = ({ departsAt, rides }: Plan) => rides.length * CHANGE_IS_WORTH_SECONDS - departsAt;
    const [best] = plans.filter((plan) => shownArrival(plan) === first).sort((a, b) => cost(a) - cost(b));
    return best ?? null;
  }

  /** Only planned times are cut to the minute. */
  function shownArrival(plan: Plan): number {
    const { alightRun } = plan.rides.at(-1) as Ride;
    return alightRun < lines.plannedRuns ? toShownTimes(plan).arrivesAt : plan.arrivesAt;
  }

  /** Drops what was read from the lines, because they have changed. */
  function refresh(): void {
    forward.refresh();
    backward?.refresh();
  }

  return { plan, spread, boundArrival: forward.boundArrival, leaveLast, refresh, mirrored };

  function withEnds(found: Found, { access: ways, egress }: SearchedWalks): Plan {
    const [first, last] = [found.rides[0] as Ride, found.rides.at(-1) as Ride];
    return {
      ...found,
      access: shortest(ways, callAt(lines, first.run, first.board).stop),
      egress: shortest(egress, callAt(lines, last.alightRun, last.alight).stop),
    };
  }
}

/** Converts a journey of mirrored lines to one of the real lines, or the other way. `lines` are those of the result. */
export function mirrorFound(lines: Lines, { departsAt, arrivesAt, rides }: Found): Found {
  const back = (mirrored: number, position: number) => {
    const run = mirrorRun(lines, mirrored);
    return [run, lastPosition(lines, run) - position] as const;
  };
  return {
    // Not `-arrivesAt`, which is -0 at the start of the day.
    departsAt: 0 - arrivesAt,
    arrivesAt: 0 - departsAt,
    rides: rides
      .map(({ run, board, alightRun, alight }) => {
        const [first, last] = [back(alightRun, alight), back(run, board)];
        return { run: first[0], board: first[1], alightRun: last[0], alight: last[1] };
      })
      .reverse(),
  };
}

function createDirection(
  lines: Lines,
  footpaths: Footpaths,
  access: WheelchairAccess,
  labels: Labels,
  checkDeadline: () => void,
  cells: CellBounds | null,
) {
  const searcher = createSearcher(lines, footpaths, labels, checkDeadline, cells);
  let accessibleRuns: Uint8Array | null = null;
  let freeFlags: Uint8Array | null = null;
  let chosen: { modes: number; lines: Uint8Array } | null = null;

  function linesOf(modes: number): Uint8Array {
    if (chosen?.modes !== modes) chosen = { modes, lines: lines.modes.map((mode) => (modes >> mode) & 1) };
    return chosen.lines;
  }

  function begin(
    {
      modes,
      isWheelchair,
      withoutBooking,
      footpaths: chosenFootpaths,
      usableStops = access.stops,
    }: PlanRequest | SpreadRequest,
    search: Omit<Search, 'allowed' | 'footpaths'>,
  ): void {
    if (isWheelchair) {
      accessibleRuns ??= Uint8Array.from(
        lines.trips,
        (trip, run) => (lines.usable?.[run] ?? 1) & (access.trips[trip] ?? 1),
      );
    }
    if (withoutBooking) freeFlags ??= withoutBooked(lines.flags);
    searcher.begin({
      ...search,
      footpaths: chosenFootpaths,
      allowed: {
        lines: linesOf(modes),
        runs: isWheelchair ? accessibleRuns : lines.usable,
        stops: isWheelchair ? usableStops : null,
        flags: withoutBooking ? freeFlags : null,
      },
    });
  }

  /** Drops what was read from the lines, because they have changed. */
  function refresh(): void {
    accessibleRuns = freeFlags = chosen = null;
    searcher.refresh();
  }

  return { ...searcher, labels, begin, refresh };
}

/**
 * Drops each journey if another one leaves no earlier, arrives no later, and has no more changes or takes less than half as long.
 * One more change must save a minute. `timesOf` are the times that are compared.
 */
export function chooseBest<One extends Found>(
  plans: readonly One[],
  timesOf: (plan: One) => FromUntil = (plan) => plan,
): One[] {
  const isBetter = (a: One, b: One) => {
    const extraRides = a.rides.length - b.rides.length;
    const [times, other] = [timesOf(a), timesOf(b)];
    const isAhead = (seconds: number) => (extraRides < 0 ? seconds > -LEAST_SAVED_SECONDS : seconds >= 0);
    return (
      isAhead(times.departsAt - other.departsAt) &&
      isAhead(other.arrivesAt - times.arrivesAt) &&
      (extraRides <= 0 || other.arrivesAt > latestBeside(times, other.departsAt))
    );
  };
  return plans.filter((plan, index) =>
    plans.every((other, at) => at === index || !isBetter(other, plan) || (isBetter(plan, other) && index < at)),
  );
}

/** When a journey is shown to begin and end: planned times of rides are cut to the minute. */
export function toShownTimes({ departsAt, arrivesAt, access, egress }: Omit<Plan, 'rides'>): FromUntil {
  const cut = (at: number) => Math.floor(at / 60) * 60;
  return {
    departsAt: cut(departsAt + access.seconds) - access.seconds,
    arrivesAt: cut(arrivesAt - egress.seconds) + egress.seconds,
  };
}

/** The arrivals after `after` and not after `until`. */
type Span = [after: number, until: number];

/**
 * Lists the spans after `after` in which a journey with fewer rides may arrive and still be listed beside these. The journeys are
 * those of the backward search: `departsAt` is minus the arrival.
 */
function listSpans(plans: readonly Found[], { after, until }: { after: number; until: number }): Span[] {
  const spans: Span[] = [];
  const all = plans.map(({ departsAt, arrivesAt, rides }): Span => {
    const last = rides.length > 1 ? latestBeside({ departsAt, arrivesAt }, -arrivesAt) : Number.NEGATIVE_INFINITY;
    return [Math.max(-departsAt, after), Math.min(last, until)];
  });
  for (const [from, to] of all.toSorted(([one], [other]) => one - other)) {
    if (from >= to) continue;
    const before = spans.at(-1);
    if (before && from <= before[1]) before[1] = Math.max(before[1], to);
    else spans.push([from, to]);
  }
  return spans;
}

/** A plan without rides: a walk from end to end. */
export function walkOnly(departsAt: number, arrivesAt: number): Plan {
  return {
    departsAt,
    arrivesAt,
    rides: [],
    access: { stop: -1, seconds: arrivesAt - departsAt },
    egress: { stop: -1, seconds: 0 },
  };
}

function shortest(walks: readonly Walk[], stop: number): Walk {
  const seconds = Math.min(...walks.flatMap((walk) => (walk.stop === stop ? walk.seconds : [])));
  return { stop, seconds };
}
