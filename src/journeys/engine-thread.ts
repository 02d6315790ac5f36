import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { SECOND_MS } from '../core/clock.ts';
import { int32At } from '../core/columns.ts';
import { hasLittleMemory, returnFreeMemory } from '../core/memory-limit.ts';
import { LiveTimetable } from '../realtime/live-timetable.ts';
import { Snapshot } from '../realtime/snapshot.ts';
import { Timetable } from '../timetable/timetable.ts';
import type { Choices, Preference } from '../transit/choices.ts';
import { MODES } from '../transit/modes.ts';
import { distanceMetres } from '../transit/position.ts';
import { createAreas, packPolygons } from './area.ts';
import { createChosenFootpaths } from './chosen-footpaths.ts';
import { createDayByDay, type DayByDay, withoutStops } from './day-by-day.ts';
import type { DaySpan } from './day-lines.ts';
import {
  type EngineEnd,
  type EngineJourney,
  type EngineMessage,
  type EngineResult,
  type EngineViaPart,
  type Searches,
  type SearchName,
  type SearchQuery,
  type ThreadMessage,
  TOOK_TOO_LONG,
} from './engine-messages.ts';
import { createPlanners, type PlannedDay, type Planner } from './planners.ts';
import { planPreferred } from './preferences.ts';
import { MAX_RIDES, type Ride } from './raptor/labels.ts';
import { callAt, type Footpaths, lastPosition, NEVER, type SharedLines, tripOf } from './raptor/lines.ts';
import { type Plan, type PlanRequest, type SpreadRequest, type WheelchairAccess, walkOnly } from './raptor/plan.ts';
import { type Destination, SearchEnded, type Walk } from './raptor/query.ts';
import { countRides, listReached, listStations, type Reached, toLastRide } from './reached.ts';
import { listVia, type ViaPart } from './via.ts';
import { chooseChanges, listWalks, walkBetween } from './where-to-change.ts';

/*
 * The program of the threads that plan journeys (see engine.ts).
 */

const CHANGE_MINUTES = 2;
const changeSecondsOf = ({ minChange = CHANGE_MINUTES }: Choices = {}) => minChange * 60;
/** The last second of a minute. */
const LAST_SECOND = 59;
const HOUR_SECONDS = 3600;
/** Most destinations are reached within this time, which makes their search cheap. */
const SOON_SECONDS = 3 * HOUR_SECONDS;
const DAY_SECONDS = 24 * HOUR_SECONDS;

type OneSearch = Omit<SearchQuery<'plan'>, 'avoidedStops'>;

/** A rehearsal that takes longer ends. */
const REHEARSAL_MS = SECOND_MS;

/** Returns the search over one timetable. `share` gets lines for other threads; null if there are none. */
export function openEngine(
  packed: SharedArrayBuffer,
  share: ((day: number, lines: SharedLines) => void) | null = null,
) {
  const timetable = new Timetable(packed);
  const { walkStart: first, walkStop: targets, walkSeconds: seconds } = timetable.sections;
  const usualFootpaths = { first, targets, seconds };
  const chooseFootpaths = createChosenFootpaths(timetable.sections, usualFootpaths);
  /** The walks of the current search. */
  let footpaths: Footpaths = usualFootpaths;
  const access = toAccess(timetable);
  let deadlineAt = Number.POSITIVE_INFINITY;
  let isLate = false;
  let mayBeFar = false;
  const checkDeadline = () => {
    isLate = Date.now() >= deadlineAt;
    if (isLate) throw new SearchEnded(TOOK_TOO_LONG);
  };
  const planners = createPlanners(timetable, usualFootpaths, access, checkDeadline, share);
  let live = new LiveTimetable(timetable);
  const areas = createAreas(timetable);
  const dayByDay = createDayByDay(timetable, access.stops, listWalksFrom);

  function listJourneys<One>(wanted: DayByDay<One>): One[] {
    const { query, ends } = wanted;
    const found = dayByDay.list(wanted);
    mayBeFar = found.length === 0 && !query.isFar && dayByDay.areConnected(ends, query.choices);
    return found;
  }

  function plan({ avoidedStops, ...query }: SearchQuery<'plan'>): EngineJourney[] {
    return listJourneys({
      query: { ...query, avoidedStops },
      ends: [query.from, query.to],
      search: (stops, days) => planOn(days, stops, query),
      hasRides: ({ rides }) => rides.length > 0,
      departsAt: ({ departsAt }) => departsAt,
    });
  }

  function planOn(
    days: { day?: number; span?: DaySpan },
    usableStops: Uint8Array,
    { from, to, at, now, choices, ...query }: OneSearch,
  ) {
    const opened = planners.open({ at, now, ...days });
    const ends = { access: listWalksFrom(from, choices), egress: listWalksFrom(to, choices) };
    // Times are cut to the minute, so a vehicle may arrive within the requested one.
    const extra = query.isArrival ? LAST_SECOND : 0;
    const moment = opened.secondsAt(at) + extra;
    const changeSeconds = changeSecondsOf(choices);
    const request = { ...query, ...ends, footpaths, usableStops, at: moment, changeSeconds };
    const plans = planChanges(opened.planner, request, choices?.prefer).map((one) =>
      one.rides.length > 0 ? one : walkOnly(one.departsAt - extra, one.arrivesAt - extra),
    );
    return plans.map((one) => toJourney(one, opened));
  }

  /** Plans journeys with each change at the best stop. */
  function planChanges(planner: Planner, request: PlanRequest, prefer: Preference | undefined): Plan[] {
    const { lines, plan } = planner;
    const { changeSeconds, isWheelchair, withoutBooking = false, usableStops = access.stops } = request;
    const options = { changeSeconds, usableStops: isWheelchair ? usableStops : null, withoutBooking };
    const planOne = (wanted: PlanRequest) =>
      plan(wanted).map((one) => ({ ...one, rides: chooseChanges(lines, footpaths, one.rides, options) }));
    if (!prefer) return planOne(request);
    return planPreferred(prefer, planOne, { ...request, footpaths }, (one) => secondsOnFoot(one, planner));
  }

  function secondsOnFoot({ rides, access: first, egress: last }: Plan, planner: Planner): number {
    const changes = rides.slice(1).map((ride, index) => walkToRide(rides[index] as Ride, ride, planner));
    return changes.reduce((sum, seconds) => sum + seconds, first.seconds + last.seconds);
  }

  function reach({ from, walks, without, at, now, choices, until, limit, areaAround, ...query }: SearchQuery<'reach'>) {
    const usableStops = withoutStops(access.stops, query.avoidedStops);
    const { base, planner, secondsAt } = planners.open({ at, now });
    const { lines, refOf, isLive } = planner;
    const times = { at: secondsAt(at), latest: secondsAt(until) };
    const ways = { access: listWalksFrom(from, choices), footpaths, changeSeconds: changeSecondsOf(choices) };
    const labels = planner.spread({ ...query, usableStops, ...times, ...ways });
    const reached = listReached(lines, footpaths, labels, { ...times, rides: query.maxRides, walks, isLive });
    const ridesOf = ({ alightedAt }: Reached) =>
      countRides(labels, alightedAt, { stopCount: lines.stopCount, rides: query.maxRides });
    const listed = areaAround ? 0 : limit;
    const { stations, total } = listStations(reached, { timetable, limit: listed, without, ridesOf });
    const read = { live, lines, refOf, isLive, labels, base };
    return {
      stations: stations.map((station) => {
        const { stop, arrivesAt } = station;
        const rides = ridesOf(station);
        return { stop, arrivesAt: base + arrivesAt * SECOND_MS, rides, ride: toLastRide(station, rides, read) };
      }),
      total,
      area: areaAround && packPolygons(areas.draw(areaAround, reached, { ...times, choices })),
    };
  }

  /**
   * The journey with the first arrival at each destination; among equals, the one that leaves last, unless that costs changes that
   * are not worth it. Null if there is none within a day.
   */
  function times({ from, to, at, now, choices, ...query }: SearchQuery<'times'>): (EngineJourney | null)[] {
    const opened = planners.open({ at, now });
    const start = opened.secondsAt(at);
    const ways = { access: listWalksFrom(from, choices), footpaths, changeSeconds: changeSecondsOf(choices) };
    const request = { ...query, usableStops: withoutStops(access.stops, query.avoidedStops), ...ways, at: start };
    const ends = to.map(({ to: end, walkSeconds }) => ({
      egress: listWalksFrom(end, choices),
      walked: walkSeconds === null ? NEVER : start + walkSeconds,
    }));
    const found = new Map<Destination, Plan | null>();
    const searchUntil = (latest: number, some: readonly Destination[]) => {
      const left = some.filter((end) => !found.has(end));
      if (left.length > 0) searchWithin({ ...request, latest, ends: left }, opened.planner, found);
    };
    searchUntil(start + SOON_SECONDS, ends);
    // Most others are reached with one more ride. A search up to that arrival is cheaper than one of the whole day.
    const until = start + DAY_SECONDS;
    const later = ends
      .filter((end) => !found.has(end))
      .map((end) => ({ end, bound: Math.min(end.walked, opened.planner.boundArrival(end.egress, until) ?? NEVER) }))
      .filter(({ bound }) => bound <= until);
    const known = later.filter(({ bound }) => bound < until);
    searchUntil(
      Math.max(...known.map(({ bound }) => bound)),
      known.map(({ end }) => end),
    );
    searchUntil(
      until,
      later.map(({ end }) => end),
    );
    return ends.map((end) => {
      const plan = found.get(end);
      return plan ? toJourney(plan, opened) : null;
    });
  }

  /** Adds to `found` the journey to each destination that is reached by `request.latest`. */
  function searchWithin(
    request: SpreadRequest & { ends: readonly Destination[] },
    planner: Planner,
    found: Map<Destination, Plan | null>,
  ): void {
    const { arrived } = planner.spread(request);
    const row = request.maxRides * timetable.stopCount;
    for (const end of request.ends) {
      const { egress, walked } = end;
      const ridden = Math.min(NEVER, ...egress.map(({ stop, seconds }) => int32At(arrived, row + stop) + seconds));
      if (Math.min(ridden, walked) > request.latest) continue;
      found.set(end, walked <= ridden ? walkOnly(request.at, walked) : planner.leaveLast(request, egress, ridden));
    }
  }

  /** Journeys with `via`, by departure; with `isArrival` by arrival, latest first. */
  function via({ ends, avoidedStops, ...query }: SearchQuery<'via'>): EngineViaPart[][] {
    return listJourneys({
      query: { ...query, avoidedStops },
      ends,
      search: (stops, days) => viaOn(days, stops, { ends, ...query }),
      hasRides: (parts) => parts.some(({ journey }) => journey.rides.length > 0),
      departsAt: ([first]) => first?.journey.departsAt ?? Number.POSITIVE_INFINITY,
    });
  }

  function viaOn(
    days: { day?: number; span?: DaySpan },
    usableStops: Uint8Array,
    { ends, at, now, choices, ...query }: Omit<SearchQuery<'via'>, 'avoidedStops'>,
  ): EngineViaPart[][] {
    const opened = planners.open({ at, now, ...days });
    const { planner } = opened;
    const waypoints = ends.map((end) => {
      const stops = new Set(end.stops.map(({ stop }) => stop));
      return { ...end, stops, walks: listWalksFrom(end, choices) };
    });
    const extra = query.isArrival ? LAST_SECOND : 0;
    const { lines, mirrored } = planner;
    const found = listVia({ lines, mirrored, footpaths }, (part) => planChanges(planner, part, undefined), waypoints, {
      ...query,
      usableStops,
      at: opened.secondsAt(at) + extra,
      changeSeconds: changeSecondsOf(choices),
      prefer: choices?.prefer,
    });
    return found.map(({ parts, rides }) => toViaParts(rides.length > 0 ? parts : walkEarlier(parts, extra), opened));
  }

  function walkEarlier(parts: readonly ViaPart[], seconds: number): ViaPart[] {
    return parts.map(({ plan: one, ...part }) => ({
      ...part,
      plan: walkOnly(one.departsAt - seconds, one.arrivesAt - seconds),
    }));
  }

  function toViaParts(parts: readonly ViaPart[], opened: PlannedDay) {
    return parts.map(({ from, to, plan }, index) => {
      const [before, next] = [parts[index - 1]?.plan.rides.at(-1), parts[index + 1]?.plan.rides[0]];
      const isRide = plan.rides.length > 0;
      const access = before && isRide ? { ...plan.access, seconds: 0 } : plan.access;
      const egress = next && isRide ? { ...plan.egress, seconds: 0 } : plan.egress;
      return { from, to, journey: toJourney({ ...plan, access, egress }, opened, next) };
    });
  }

  /** The walk to each stop of an end. The straight line from the end itself, which a leg shows, is limited by `maxWalk` too. */
  function listWalksFrom({ stops, withAround, position }: EngineEnd, choices: Choices | undefined): Walk[] {
    const maxWalk = choices?.maxWalk ?? Number.POSITIVE_INFINITY;
    const least = new Map<number, number>();
    for (const { stop, seconds } of stops) {
      for (const [target, way] of withAround ? listWalks(footpaths, stop) : [[stop, 0] as const]) {
        if (way > 0 && position && distanceMetres(position, timetable.positionOf(target)) > maxWalk) continue;
        least.set(target, Math.min(seconds + way, least.get(target) ?? Number.POSITIVE_INFINITY));
      }
    }
    return [...least].map(([stop, seconds]) => ({ stop, seconds }));
  }

  /** `onward` is the ride that follows the journey, if there is one. */
  function toJourney({ rides, ...plan }: Plan, { base, ...opened }: PlannedDay, onward?: Ride): EngineJourney {
    return {
      departsAt: base + plan.departsAt * SECOND_MS,
      arrivesAt: base + plan.arrivesAt * SECOND_MS,
      access: plan.access,
      egress: plan.egress,
      rides: rides.map((ride, index) => {
        const next = rides[index + 1] ?? onward;
        return { parts: toParts(ride, opened), walkSeconds: next ? walkToRide(ride, next, opened.planner) : 0 };
      }),
    };
  }

  function walkToRide({ alightRun, alight }: Ride, { run, board }: Ride, { lines }: Planner): number {
    return walkBetween(footpaths, callAt(lines, alightRun, alight).stop, callAt(lines, run, board).stop);
  }

  /** A ride has more than one part if the vehicle continues as another run. */
  function toParts({ run, board, alightRun, alight }: Ride, { day, planner }: { day: number; planner: Planner }) {
    const { lines, refOf } = planner;
    const ridden = [run];
    for (let one = run; one !== alightRun; ridden.push(one)) one = int32At(lines.nextRuns, one);
    return ridden.map((one) => {
      const ref = refOf(one);
      const { trip, day: daysAfter } = tripOf(lines, one);
      return {
        trip,
        day: day + daysAfter,
        first: one === run ? board : 0,
        last: one === alightRun ? alight : lastPosition(lines, one),
        live: ref && { source: ref.snapshot.source, run: ref.run },
      };
    });
  }

  const searches: Searches = { plan, reach, times, via };

  return {
    /**
     * Runs a search up to the deadline `until`, in milliseconds since 1970, and returns what it has found by then. Throws
     * `SearchEnded` if that is nothing.
     */
    search<Name extends SearchName>(
      name: Name,
      query: SearchQuery<Name>,
      until = Number.POSITIVE_INFINITY,
    ): EngineResult<Name> {
      deadlineAt = until;
      mayBeFar = false;
      checkDeadline();
      footpaths = chooseFootpaths(query.choices);
      return (searches[name] as (query: SearchQuery<Name>) => EngineResult<Name>)(query);
    },
    /** Whether the last search ended at its deadline. */
    isPartial: () => isLate,
    /** Whether the last search found nothing, not even a walk, while a far search may find journeys. */
    mayBeFar: () => mayBeFar,
    warm: planners.warm,
    /** Searches along line number `one` of today, if it still runs, so that V8 compiles what all searches run. */
    rehearse(one: number, now: number): void {
      const { planner, secondsAt } = planners.open({ at: now, now });
      const { lineCount, firstCall, firstRun, starts, stops } = planner.lines;
      const line = one % lineCount;
      if (lineCount === 0 || (starts[(firstRun[line + 1] as number) - 1] as number) < secondsAt(now)) return;
      const endAt = (call: number) => ({ stops: [{ stop: stops[call] as number, seconds: 0 }], withAround: true });
      deadlineAt = Date.now() + REHEARSAL_MS;
      footpaths = usualFootpaths;
      planOn({}, access.stops, {
        from: endAt(firstCall[line] as number),
        to: endAt((firstCall[line + 1] as number) - 1),
        at: now,
        now,
        isArrival: false,
        walkSeconds: null,
        modes: (1 << MODES.length) - 1,
        isWheelchair: false,
        maxRides: MAX_RIDES,
        limit: 6,
      });
    },
    free: planners.free,
    closeOthers: planners.closeOthers,
    adopt: planners.adopt,
    /** Searches from now on use these snapshots. */
    use(snapshots: readonly Snapshot[]): void {
      live = new LiveTimetable(timetable, snapshots);
      planners.use(live);
    },
  };
}

/** A platform without its own information uses its station's. */
function toAccess({ sections, stopCount }: Timetable): WheelchairAccess {
  const { stopFlags, stopParent, tripFlags } = sections;
  const own = (stop: number) => stopFlags.valueAt(stop) & 3;
  return {
    trips: tripFlags.map((flags) => ((flags & 3) === 2 ? 0 : 1)),
    stops: new Uint8Array(stopCount).map((_, stop) => {
      const parent = stopParent.valueAt(stop);
      return (own(stop) || (parent >= 0 ? own(parent) : 0)) === 2 ? 0 : 1;
    }),
  };
}

/** The nice value of all threads but the last. They run the longest searches, so the last thread and the main one go first. */
const LOW_PRIORITY = 10;
// On other systems this would change the priority of the whole process.
if (parentPort && process.platform === 'linux' && workerData && !workerData.isLast) setPriority(LOW_PRIORITY);

/** A new thread rehearses at most this many searches, for at most this long. It stops as soon as a real search arrives. */
const REHEARSALS = 20;
const REHEARSED_MS = 3 * SECOND_MS;
/** The step from one rehearsed line to the next, large enough that the lines come from the whole network. */
const LINES_APART = 7919;

let engine: ReturnType<typeof openEngine> | null = null;
let isAsked = false;

parentPort?.on('message', (message: EngineMessage) => {
  if (message.kind === 'timetable') {
    if (engine) {
      engine.free();
      engine = null;
      // Otherwise the new timetable would need its memory beside the garbage of the old one.
      returnFreeMemory();
    }
    // With little memory this is the only thread.
    engine = openEngine(message.packed, hasLittleMemory() ? null : (day, lines) => reply({ day, lines }));
  } else if (message.kind === 'lines') {
    engine?.adopt(message.day, message.lines);
  } else if (message.kind === 'warm') {
    engine?.warm(message.now);
    reply('ready');
    isAsked = false;
    rehearse(message.now);
  } else if (message.kind === 'keep') {
    engine?.closeOthers(message.day);
    // Shared memory is only freed once each thread has collected its garbage.
    returnFreeMemory();
  } else if (message.kind === 'snapshots') {
    engine?.use(message.packed.map((packed) => new Snapshot(packed)));
  } else {
    const { id, name, query, deadlineAt } = message;
    isAsked = true;
    try {
      if (!engine) return;
      const found = engine.search(name, query, deadlineAt);
      reply({ id, found, isPartial: engine.isPartial(), mayBeFar: engine.mayBeFar() });
    } catch (error) {
      reply({ id, problem: describeProblem(error) });
    }
  }
});

/** Runs searches so that V8 compiles them: in a new thread they take many times as long. A real search waits for at most one. */
function rehearse(now: number): void {
  const startedAt = Date.now();
  let count = 0;
  const next = () => {
    if (isAsked || count === REHEARSALS || Date.now() - startedAt > REHEARSED_MS) {
      reply('warm');
      return;
    }
    try {
      engine?.rehearse(count++ * LINES_APART, now);
    } catch {
      // The rehearsal reached its deadline, or failed as a real search would.
    }
    setImmediate(next);
  };
  setImmediate(next);
}

function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === TOOK_TOO_LONG ? TOOK_TOO_LONG : (error.stack ?? error.message);
}

function reply(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}
