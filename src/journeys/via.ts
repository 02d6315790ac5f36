import { int32At } from '../core/columns.ts';
import { MAY_BOARD } from '../timetable/call-flags.ts';
import type { Preference } from '../transit/choices.ts';
import { listPreferred, WALK_FACTORS, WORTH } from './preferences.ts';
import { type Found, type FromUntil, MAX_RIDES, type Ride } from './raptor/labels.ts';
import { callAt, type Footpaths, type Lines } from './raptor/lines.ts';
import {
  CHANGE_IS_WORTH_SECONDS,
  chooseBest,
  LEAST_SAVED_SECONDS,
  mirrorFound,
  type Plan,
  type PlanRequest,
  toShownTimes,
  walkOnly,
} from './raptor/plan.ts';
import { searchUntilEnded, type Walk } from './raptor/query.ts';
import { listWalks, walkBetween } from './where-to-change.ts';

/** The origin, a place on the way, or the destination. Times are in seconds. */
export interface Waypoint {
  /** Its own stops. */
  stops: ReadonlySet<number>;
  /** Its own stops and those around it, with the walk to each. */
  walks: readonly Walk[];
  /** The minimum time between arrival and departure; 0 at the origin and the destination. */
  staySeconds: number;
  /** The walk from the waypoint before; null if it is too far, and at the origin. */
  walkSeconds: number | null;
}

/** A part of a journey, between two waypoints by their indices. */
export interface ViaPart {
  from: number;
  to: number;
  plan: Plan;
}

/** A journey via the waypoints: its parts, with all of its rides. */
export interface ViaJourney extends Found {
  parts: ViaPart[];
}

interface Network {
  lines: Lines;
  /** The same lines with time reversed. */
  mirrored: () => Lines;
  footpaths: Footpaths;
}

/** The request of a part. Fields that it lacks are those of the whole journey. */
interface PartRequest extends Partial<PlanRequest> {
  access: readonly Walk[];
  egress: readonly Walk[];
  at: number;
  maxRides: number;
}

/** What remains to be done at a waypoint: the walks to the next one, and the rides that may be used. */
interface Remaining {
  egress: readonly Walk[];
  ridesLeft: number;
  isLast: boolean;
}

type PlanPart = (request: PlanRequest) => Plan[];

/** The request of a whole journey. The walks depend on the waypoints. */
interface ViaRequest extends Omit<PlanRequest, 'access' | 'egress' | 'footpaths' | 'walkSeconds' | 'isBrief'> {
  /** The limit for the whole journey. */
  maxRides: number;
  prefer?: Preference | undefined;
}

/** A search between two waypoints compares this many plans. */
const MAX_COMPARED = 3;
/** The number of journeys searched for one that continues in the rider's vehicle. */
const MAX_ONWARD = 6;
/** At most this many ways to a waypoint are continued. */
const MAX_CHAINS = 3;
/** The number of departures searched for each journey of a list, because some journeys are not listed in the end. */
const STARTS_PER_JOURNEY = 2;

interface SearchOptions {
  /** The number of departures to search. */
  most: number;
  enough?: () => boolean;
  adapt?: (one: ViaJourney) => ViaJourney[];
}

/**
 * Returns journeys via the waypoints, by departure; with `isArrival` by arrival, latest first. They are chosen by the same rules as
 * journeys without waypoints. Further searches with fewer rides find slower journeys with fewer changes.
 */
export function listVia(
  network: Network,
  plan: PlanPart,
  waypoints: readonly Waypoint[],
  request: ViaRequest,
): ViaJourney[] {
  const { isArrival, limit, prefer } = request;
  const found: ViaJourney[] = [];
  const secondsOnFoot = (one: ViaJourney) => countSecondsOnFoot(network, waypoints, one);
  const choose = () => (prefer ? listPreferred(found, WORTH[prefer], secondsOnFoot) : chooseBest(found, shownTimesOf));
  const search = (
    groups: Iterable<readonly ViaJourney[]>,
    { most, enough = () => false, adapt = (one) => [one] }: SearchOptions,
  ) =>
    searchUntilEnded(
      () => {
        let starts = 0;
        for (const group of groups) {
          found.push(...group.flatMap(adapt));
          if (++starts >= most || enough()) return;
        }
      },
      () => found.length > 0,
    );
  const plans = (more: Partial<ViaRequest> = {}, walked = { network, waypoints }) =>
    planEither(walked.network, plan, walked.waypoints, { ...request, ...more });
  search(plans(), { most: STARTS_PER_JOURNEY * limit, enough: () => choose().length >= limit });
  if (found.length === 0) return [];
  if (prefer === 'less_walking') {
    for (const factor of WALK_FACTORS) {
      const slow = plans({}, walkSlowly(network, waypoints, factor));
      search(slow, { most: limit, adapt: (one) => withOwnWalks(one, factor) });
    }
  } else {
    const changeSeconds = prefer ? WORTH[prefer].changeSeconds : 0;
    for (let fewest = countFewest(found); fewest > 1; ) {
      const before = found.length;
      const simpler = plans({ maxRides: fewest - 1, bound: boundAfter(found, isArrival, changeSeconds) });
      search(simpler, { most: prefer ? limit : 1 });
      if (found.length === before) break;
      fewest = countFewest(found);
    }
  }
  return choose().sort(isArrival ? (a, b) => b.arrivesAt - a.arrivesAt : (a, b) => a.departsAt - b.departsAt);
}

/** The fewest rides of these journeys; those on foot do not count. */
function countFewest(journeys: readonly ViaJourney[]): number {
  return Math.min(...journeys.map(({ rides }) => rides.length || Number.POSITIVE_INFINITY), MAX_RIDES);
}

/** How late a journey with fewer rides may arrive (with `isArrival`: how early it may leave) and still be listed beside these. */
function boundAfter(journeys: readonly ViaJourney[], isArrival: boolean, changeSeconds: number): number {
  const slack = ({ departsAt, arrivesAt, rides }: ViaJourney) =>
    Math.max(arrivesAt - departsAt, rides.length * changeSeconds);
  return isArrival
    ? Math.min(...journeys.map((one) => one.departsAt - slack(one)))
    : Math.max(...journeys.map((one) => one.arrivesAt + slack(one)));
}

/** Plans by departure. With `isArrival` it does the same in reversed time: from the destination, in mirrored lines. */
function* planEither(
  network: Network,
  plan: PlanPart,
  waypoints: readonly Waypoint[],
  request: ViaRequest,
): Generator<ViaJourney[]> {
  if (!request.isArrival) {
    yield* planVia(network, plan, waypoints, request);
    return;
  }
  const { lines, mirrored, footpaths } = network;
  const last = waypoints.length - 1;
  const reversed = waypoints.map((_, index): Waypoint => {
    const walkSeconds = index === 0 ? null : (waypoints[last - index + 1] as Waypoint).walkSeconds;
    return { ...(waypoints[last - index] as Waypoint), walkSeconds };
  });
  const reverseTime = <Times extends { at: number; bound?: number }>(times: Times): Times => ({
    ...times,
    at: 0 - times.at,
    ...(times.bound !== undefined && { bound: 0 - times.bound }),
  });
  const planReversed: PlanPart = ({ access, egress, isArrival, ...part }) =>
    plan({ ...reverseTime(part), access: egress, egress: access, isArrival: !isArrival }).map((one) =>
      mirrorPlan(mirrored(), one),
    );
  const journeys = planVia(
    { lines: mirrored(), mirrored: () => lines, footpaths },
    planReversed,
    reversed,
    reverseTime(request),
  );
  for (const group of journeys) {
    yield group.map(({ parts }) =>
      toViaJourney(
        parts
          .map(({ from, to, plan: one }) => ({ from: last - to, to: last - from, plan: mirrorPlan(lines, one) }))
          .reverse(),
      ),
    );
  }
}

function mirrorPlan(lines: Lines, { access, egress, ...found }: Plan): Plan {
  return { ...mirrorFound(lines, found), access: egress, egress: access };
}

function toViaJourney(parts: ViaPart[]): ViaJourney {
  const [first, last] = [parts[0] as ViaPart, parts.at(-1) as ViaPart];
  const rides = parts.flatMap(({ plan }) => plan.rides);
  return { departsAt: first.plan.departsAt, arrivesAt: last.plan.arrivesAt, rides, parts };
}

function shownTimesOf({ departsAt, arrivesAt, parts }: ViaJourney): FromUntil {
  const [first, last] = [parts[0] as ViaPart, parts.at(-1) as ViaPart];
  return toShownTimes({ departsAt, arrivesAt, access: first.plan.access, egress: last.plan.egress });
}

/** The plans from one waypoint to the next, with the number of rides. Staying in a vehicle is no further ride. */
interface Chain {
  plans: readonly Plan[];
  rides: number;
}

/**
 * Yields journeys via the waypoints, by departure. Each is a chain of plans: a forward pass finds the first arrivals, by number
 * of rides, then a backward pass the latest departures that still fit. The next journeys leave later than the one that arrives
 * first.
 */
function* planVia(
  network: Network,
  plan: PlanPart,
  waypoints: readonly Waypoint[],
  request: ViaRequest,
): Generator<ViaJourney[]> {
  const steps = createSteps(network, plan, waypoints, request);
  for (let start = request.at; ; ) {
    let chains: Chain[] = [{ plans: [], rides: 0 }];
    for (let index = 0; index < waypoints.length - 1; index++) {
      const isLast = index === waypoints.length - 2;
      // A rider who arrives a little later may stay in a vehicle that the others cannot change to.
      const mayStay = !isLast && waypoints[index + 1]?.staySeconds === 0;
      const all = chains.flatMap((chain) => steps.goOn(index, chain, start));
      chains = chooseFirst(all, mayStay ? request.changeSeconds : 0);
    }
    const late = chains.map(({ plans }) => chooseMeetings(network, postpone(steps, plans), waypoints, request));
    const [first] = late;
    if (!first) return;
    yield late.map((plans) => toViaJourney(joinPlans(plans)));
    if (first.every(({ rides }) => rides.length === 0)) return;
    start = (first[0] as Plan).departsAt + 1;
  }
}

/**
 * The first arrivals by number of rides. One more ride must save a minute. With `seconds`, also those that arrive up to that much
 * later.
 */
function chooseFirst(chains: readonly Chain[], seconds: number): Chain[] {
  const arrivalOf = ({ plans }: Chain) => (plans.at(-1) as Plan).arrivesAt;
  const isBetter = (one: Chain, other: Chain) => {
    const extraRides = one.rides - other.rides;
    const later = arrivalOf(one) - arrivalOf(other);
    return extraRides < 0 ? later < LEAST_SAVED_SECONDS - seconds : extraRides === 0 && later < -seconds;
  };
  const sorted = chains.toSorted((one, other) => arrivalOf(one) - arrivalOf(other) || one.rides - other.rides);
  const isEqual = (one: Chain, other: Chain) => arrivalOf(one) === arrivalOf(other) && one.rides === other.rides;
  const first = sorted.filter(
    (one, index) =>
      !sorted.some((other, at) => isBetter(other, one) || (seconds === 0 && at < index && isEqual(other, one))),
  );
  if (first.length <= MAX_CHAINS) return first;
  const simplest = first.toSorted((one, other) => one.rides - other.rides)[0] as Chain;
  return [...first.slice(0, MAX_CHAINS).filter((one) => one !== simplest), simplest].slice(-MAX_CHAINS);
}

/**
 * Returns the chain with each plan as late as possible. Returns it unchanged if a plan then has no connection to a later next one.
 */
function postpone({ leaveLast }: ReturnType<typeof createSteps>, chain: readonly Plan[]): readonly Plan[] {
  const late = [...chain];
  for (let index = chain.length - 2; index >= 0; index--) {
    const [current, next] = [late[index] as Plan, late[index + 1] as Plan];
    if (isThrough(current, next)) continue;
    // This plan may continue in the vehicle of the previous one.
    if (index > 0 && isThrough(late[index - 1] as Plan, current)) continue;
    const later = leaveLast(index, next, current);
    if (later) late[index] = later;
    else if (next !== chain[index + 1]) return chain;
  }
  return late;
}

/** Returns the two searches between a waypoint, by its index, and the next one. */
function createSteps(
  { lines, footpaths }: Network,
  plan: PlanPart,
  waypoints: readonly Waypoint[],
  { prefer: _, maxRides, bound, ...request }: ViaRequest,
) {
  // `isBrief`, because a plan that arrives more than an hour after the first one costs more, whatever changes it saves.
  const search = (wanted: PartRequest) =>
    wanted.maxRides < 1
      ? []
      : plan({
          ...request,
          footpaths,
          limit: MAX_COMPARED,
          walkSeconds: null,
          isArrival: false,
          isBrief: true,
          ...(bound !== undefined && { bound }),
          ...wanted,
        });
  const place = (index: number) => waypoints[index] as Waypoint;
  const firstArrival = (plans: readonly Plan[]) => Math.min(...plans.map(({ arrivesAt }) => arrivesAt));

  /** The chains that continue this one to the next waypoint. */
  function goOn(index: number, chain: Chain, start: number): Chain[] {
    const [here, { walks: egress, walkSeconds }] = [place(index), place(index + 1)];
    const before = chain.plans.at(-1);
    const leaves = before ? before.arrivesAt + here.staySeconds : start;
    const last = before?.rides.at(-1);
    const ridesLeft = maxRides - chain.rides;
    const from = { egress, ridesLeft, isLast: index === waypoints.length - 2 };
    const ridden = last ? changeFrom(last, here, from) : searchSimpler({ access: here.walks, at: leaves }, from);
    const walked = walkSeconds === null ? [] : [walkOnly(leaves, leaves + walkSeconds)];
    return [...walked, ...ridden]
      .filter(({ arrivesAt }) => bound === undefined || arrivesAt <= bound)
      .map((next) => {
        const stays = before !== undefined && isThrough(before, next);
        return { plans: [...chain.plans, next], rides: chain.rides + next.rides.length - (stays ? 1 : 0) };
      })
      .filter(({ rides }) => rides <= maxRides);
  }

  /** If rides are limited, a slow plan with few of them may be the only one that leaves enough for the rest of the journey. */
  function searchSimpler(
    wanted: { access: readonly Walk[]; at: number },
    { egress, ridesLeft, isLast }: Remaining,
  ): Plan[] {
    const found = search({ ...wanted, egress, maxRides: ridesLeft });
    let some = found;
    while (!isLast && maxRides <= MAX_RIDES && some.length > 0) {
      const fewest = Math.min(...some.map(({ rides }) => rides.length));
      some = search({ ...wanted, egress, maxRides: fewest - 1 });
      found.push(...some);
    }
    return found;
  }

  /** The plans that continue from a ride that ends at a waypoint. */
  function changeFrom(last: Ride, here: Waypoint, from: Remaining): Plan[] {
    const { stop, arrivesAt: at } = callAt(lines, last.alightRun, last.alight);
    const { egress, ridesLeft } = from;
    const found = searchSimpler({ access: listGaps(stop, here), at }, from);
    // Without a stay the rider may remain in the vehicle.
    if (here.staySeconds > 0 || !here.stops.has(stop)) return found;
    const until = Math.min(firstArrival(found) + CHANGE_IS_WORTH_SECONDS, bound ?? Number.POSITIVE_INFINITY);
    const onward = search({
      access: [{ stop, seconds: 0 }],
      egress,
      at,
      maxRides: ridesLeft + 1,
      limit: MAX_ONWARD,
      isBrief: false,
      ...(Number.isFinite(until) && { bound: until }),
    });
    return [...found, ...onward.flatMap((one) => stayOn(lines, last, one) ?? [])];
  }

  /** The plan to the waypoint before `next` that leaves last: no earlier than the current plan, and with no more rides. */
  function leaveLast(index: number, next: Plan, { departsAt: earliest, rides }: Plan): Plan | undefined {
    const [{ walks: access }, there] = [place(index), place(index + 1)];
    const [first] = next.rides;
    const boarded = first && callAt(lines, first.run, first.board);
    const at = boarded ? boarded.departsAt : next.departsAt - there.staySeconds;
    const egress = boarded ? listGaps(boarded.stop, there) : there.walks;
    const found = search({ access, egress, at, isArrival: true, bound: earliest, maxRides: rides.length });
    const onward = boarded ? there.walks.find(({ stop }) => stop === boarded.stop)?.seconds : 0;
    if (there.walkSeconds !== null && onward !== undefined) {
      const arrives = boarded ? at - onward - there.staySeconds : at;
      found.push(walkOnly(arrives - there.walkSeconds, arrives));
    }
    return found
      .filter(({ departsAt }) => departsAt >= earliest)
      .toSorted((one, other) => other.departsAt - one.departsAt || one.rides.length - other.rides.length)[0];
  }

  /**
   * Lists the stops where a ride may begin after one that ends at `stop`, with the time between them, stay included. If neither
   * is a stop of the place, the rider walks to the place and on.
   */
  function listGaps(stop: number, { stops, walks, staySeconds }: Waypoint): Walk[] {
    const gap = (target: number, seconds: number) => ({
      stop: target,
      seconds: Math.max(request.changeSeconds, seconds),
    });
    const direct = [...listWalks(footpaths, stop)].flatMap(([target, seconds]) => {
      const own = [stop, target].filter((one) => stops.has(one)).length;
      if (own === 0) return [];
      return gap(target, own === 2 ? Math.max(seconds, staySeconds) : seconds + staySeconds);
    });
    const there = stops.has(stop) ? undefined : walks.find((walk) => walk.stop === stop);
    if (!there) return direct;
    const onward = walks.filter((walk) => !stops.has(walk.stop));
    return [...direct, ...onward.map((on) => gap(on.stop, there.seconds + staySeconds + on.seconds))];
  }

  return { goOn, leaveLast };
}

/** The seconds on foot, without the stays. */
function countSecondsOnFoot(
  { lines, footpaths }: Network,
  waypoints: readonly Waypoint[],
  { parts }: ViaJourney,
): number {
  const stopsOf = ({ run, board, alightRun, alight }: Ride) => ({
    on: callAt(lines, run, board).stop,
    off: callAt(lines, alightRun, alight).stop,
  });
  const between = (before: Ride, next: Ride) => walkBetween(footpaths, stopsOf(before).off, stopsOf(next).on);
  let seconds = 0;
  for (const [index, { from, plan }] of parts.entries()) {
    const [before, after] = [parts[index - 1], parts[index + 1]];
    const [first, last] = [plan.rides[0], plan.rides.at(-1)];
    const previous = before?.plan.rides.at(-1);
    if (!first || !last || !previous) seconds += plan.access.seconds;
    else {
      const { stops, walks } = waypoints[from] as Waypoint;
      const ends = [stopsOf(previous).off, stopsOf(first).on];
      const walkTo = (stop: number) => walks.find((walk) => walk.stop === stop)?.seconds ?? 0;
      seconds += ends.some((stop) => stops.has(stop))
        ? between(previous, first)
        : ends.reduce((sum, stop) => sum + walkTo(stop), 0);
    }
    if (last && !after?.plan.rides[0]) seconds += plan.egress.seconds;
    for (const [at, ride] of plan.rides.slice(1).entries()) seconds += between(plan.rides[at] as Ride, ride);
  }
  return seconds;
}

function walkSlowly(network: Network, waypoints: readonly Waypoint[], factor: number) {
  const { footpaths } = network;
  return {
    network: { ...network, footpaths: { ...footpaths, seconds: footpaths.seconds.map((seconds) => factor * seconds) } },
    waypoints: waypoints.map((one) => ({
      ...one,
      walks: one.walks.map(({ stop, seconds }) => ({ stop, seconds: factor * seconds })),
      walkSeconds: one.walkSeconds && factor * one.walkSeconds,
    })),
  };
}

/** Returns the journey with walks at the rider's own pace. Empty if a part is on foot, which the first search has found. */
function withOwnWalks({ parts }: ViaJourney, factor: number): ViaJourney[] {
  if (parts.some(({ plan }) => plan.rides.length === 0)) return [];
  const own = ({ stop, seconds }: Walk) => ({ stop, seconds: seconds / factor });
  const walked = parts.map((part, index): ViaPart => {
    const { plan } = part;
    const [access, egress] = [own(plan.access), own(plan.egress)];
    const departsAt = plan.departsAt + (index === 0 ? access.seconds : 0);
    const arrivesAt = plan.arrivesAt - (index === parts.length - 1 ? egress.seconds : 0);
    return { ...part, plan: { ...plan, access, egress, departsAt, arrivesAt } };
  });
  return [toViaJourney(walked)];
}

function isSameVehicle(before: Ride, next: Ride): boolean {
  return before.alightRun === next.run && before.alight === next.board;
}

function isThrough(before: Plan, { rides: [next] }: Plan): boolean {
  const last = before.rides.at(-1);
  return last !== undefined && next !== undefined && isSameVehicle(last, next);
}

/** The plan from the stop where a ride ends, if it begins in the same vehicle, perhaps after a loop; null if it does not. */
function stayOn({ nextRuns }: Lines, last: Ride, plan: Plan): Plan | null {
  const [first, ...others] = plan.rides;
  if (!first) return null;
  let run = last.alightRun;
  while (run >= 0 && run !== first.run) run = int32At(nextRuns, run);
  if (run < 0 || (run === last.alightRun && first.board < last.alight)) return null;
  return { ...plan, rides: [{ ...first, run: last.alightRun, board: last.alight }, ...others] };
}

/**
 * Improves the changes at waypoints. Without a stay, a rider whose next ride is in the same vehicle stays in it if it calls at the
 * place. A rider who would walk to the place and back changes there instead, if the next ride calls there in time.
 */
function chooseMeetings(
  { lines, footpaths }: Network,
  plans: readonly Plan[],
  waypoints: readonly Waypoint[],
  { changeSeconds, isWheelchair, withoutBooking }: ViaRequest,
): readonly Plan[] {
  const settled = [...plans];
  for (let index = 0; index + 1 < settled.length; index++) {
    const [before, next] = [settled[index] as Plan, settled[index + 1] as Plan];
    const [last, first] = [before.rides.at(-1), next.rides[0]];
    if (!last || !first || isThrough(before, next)) continue;
    const { stops, staySeconds } = waypoints[index + 1] as Waypoint;
    const [end, start] = [callAt(lines, last.alightRun, last.alight), callAt(lines, first.run, first.board)];
    const isOwn = (stop: number) => stops.has(stop);
    const joined = staySeconds === 0 && (isOwn(end.stop) || isOwn(start.stop)) ? stayOn(lines, last, next) : null;
    if (joined) settled[index + 1] = joined;
    else if (!isWheelchair && !withoutBooking && !isOwn(end.stop) && !isOwn(start.stop)) {
      const inTime = (at: typeof end, from: typeof end) =>
        [...listWalks(footpaths, at.stop)].some(
          ([target, seconds]) =>
            target === from.stop && at.arrivesAt + Math.max(changeSeconds, seconds + staySeconds) <= from.departsAt,
        );
      const earlier = Array.from({ length: first.board }, (_, position) => position);
      const board = earlier.findLastIndex((position) => {
        const call = callAt(lines, first.run, position);
        return isOwn(call.stop) && (call.flags & MAY_BOARD) !== 0 && inTime(end, call);
      });
      if (board >= 0) settled[index + 1] = { ...next, rides: [{ ...first, board }, ...next.rides.slice(1)] };
    }
  }
  return settled;
}

/** Joins consecutive plans where the rider stays in the vehicle. */
function joinPlans(plans: readonly Plan[]): ViaPart[] {
  const parts: ViaPart[] = [];
  for (const [index, plan] of plans.entries()) {
    const before = parts.at(-1);
    if (before && isThrough(before.plan, plan)) {
      const [last, [first, ...others]] = [before.plan.rides.at(-1) as Ride, plan.rides as [Ride, ...Ride[]]];
      const rides = [
        ...before.plan.rides.slice(0, -1),
        { ...last, alightRun: first.alightRun, alight: first.alight },
        ...others,
      ];
      before.to = index + 1;
      before.plan = { ...before.plan, rides, egress: plan.egress, arrivesAt: plan.arrivesAt };
    } else parts.push({ from: index, to: index + 1, plan });
  }
  return parts;
}
