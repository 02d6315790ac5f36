import { MAY_BOARD } from '../timetable/call-flags.ts';
import type { Ride } from './raptor/labels.ts';
import { callAt, type Footpaths, type Lines } from './raptor/lines.ts';
import { type Plan, type PlanRequest, walkOnly } from './raptor/plan.ts';
import type { Walk } from './raptor/query.ts';
import { listWalks } from './where-to-change.ts';

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

type Network = { lines: Lines; footpaths: Footpaths };

interface ViaRequest
  extends Pick<
    PlanRequest,
    'at' | 'changeSeconds' | 'footpaths' | 'maxRides' | 'modes' | 'isWheelchair' | 'withoutBooking'
  > {
  /** One more ride must save this many seconds. */
  rideIsWorthSeconds: number;
}

/** The number of plans from which one with few rides is chosen. */
const MAX_COMPARED = 3;
/** The number of journeys searched for one that continues in the rider's vehicle. */
const MAX_ONWARD = 6;

/**
 * Yields journeys via the waypoints, by departure. Each is a chain of plans: a forward pass finds the first arrivals (with few
 * rides), then a backward pass the latest departures that still fit. The next journey leaves after this one.
 */
export function* planVia(
  network: Network,
  plan: (request: PlanRequest) => Plan[],
  waypoints: readonly Waypoint[],
  request: ViaRequest,
): Generator<ViaPart[]> {
  const steps = createSteps(network, plan, waypoints, request);
  for (let start = request.at; ; ) {
    const chain: Plan[] = [];
    for (let index = 0; index < waypoints.length - 1; index++) {
      const next = steps.goOn(index, chain.at(-1), start);
      if (!next) return;
      chain.push(next);
    }
    const late = chooseMeetings(network, postpone(steps, chain), waypoints, request);
    yield joinPlans(late);
    if (late.every(({ rides }) => rides.length === 0)) return;
    start = (late[0] as Plan).departsAt + 1;
  }
}

/** The chain with each plan as late as possible; the unchanged chain if the changes would then take longer. */
function postpone({ leaveLast }: ReturnType<typeof createSteps>, chain: readonly Plan[]): readonly Plan[] {
  const late = [...chain];
  for (let index = chain.length - 2; index >= 0; index--) {
    const [current, next] = [late[index] as Plan, late[index + 1] as Plan];
    if (isThrough(current, next)) continue;
    // This plan may continue in the vehicle of the previous one.
    if (index > 0 && isThrough(late[index - 1] as Plan, current)) continue;
    const later = leaveLast(index, next, current.departsAt);
    if (later) late[index] = later;
    else if (next !== chain[index + 1]) return chain;
  }
  return late;
}

/** Returns the two searches between a waypoint, by its index, and the next one. */
function createSteps(
  { lines, footpaths }: Network,
  plan: (request: PlanRequest) => Plan[],
  waypoints: readonly Waypoint[],
  { rideIsWorthSeconds, ...request }: ViaRequest,
) {
  const limit = rideIsWorthSeconds > 0 ? MAX_COMPARED : 1;
  // A plan that arrives more than an hour after the first one costs more, whatever changes it saves.
  const search = (wanted: Pick<PlanRequest, 'access' | 'egress' | 'at'> & Partial<PlanRequest>) =>
    plan({ ...request, limit, walkSeconds: null, isArrival: false, isBrief: true, ...wanted });
  const place = (index: number) => waypoints[index] as Waypoint;
  const costOf = ({ rides }: Plan) => rides.length * rideIsWorthSeconds;
  const costOfArrival = (one: Plan) => one.arrivesAt + costOf(one);

  /** The plan to the next waypoint that arrives first. */
  function goOn(index: number, before: Plan | undefined, start: number): Plan | undefined {
    const [here, { walks: egress, walkSeconds }] = [place(index), place(index + 1)];
    const leaves = before ? before.arrivesAt + here.staySeconds : start;
    const last = before?.rides.at(-1);
    const ridden = last ? changeFrom(last, here, egress) : search({ access: here.walks, egress, at: leaves });
    const walked = walkSeconds === null ? [] : [walkOnly(leaves, leaves + walkSeconds)];
    return findLeast([...walked, ...ridden], costOfArrival);
  }

  /** The plans that continue from a ride that ends at a waypoint. */
  function changeFrom(last: Ride, here: Waypoint, egress: readonly Walk[]): Plan[] {
    const { stop, arrivesAt: at } = callAt(lines, last.alightRun, last.alight);
    const found = search({ access: listGaps(stop, here), egress, at });
    // Without a stay the rider may remain in the vehicle.
    if (here.staySeconds > 0 || !here.stops.has(stop)) return found;
    const bound = Math.min(...found.map(costOfArrival)) - rideIsWorthSeconds;
    const bounded = Number.isFinite(bound) ? { bound } : {};
    const onward = search({
      access: [{ stop, seconds: 0 }],
      egress,
      at,
      limit: MAX_ONWARD,
      isBrief: false,
      ...bounded,
    });
    return [...found, ...onward.flatMap((one) => stayOn(lines, last, one) ?? [])];
  }

  /** The plan to the waypoint before `next` that leaves last, not before `earliest`, and is in time for it. */
  function leaveLast(index: number, next: Plan, earliest: number): Plan | undefined {
    const [{ walks: access }, there] = [place(index), place(index + 1)];
    const [first] = next.rides;
    const boarded = first && callAt(lines, first.run, first.board);
    const at = boarded ? boarded.departsAt : next.departsAt - there.staySeconds;
    const egress = boarded ? listGaps(boarded.stop, there) : there.walks;
    const found = search({ access, egress, at, isArrival: true, bound: earliest });
    const onward = boarded ? there.walks.find(({ stop }) => stop === boarded.stop)?.seconds : 0;
    if (there.walkSeconds !== null && onward !== undefined) {
      const arrives = boarded ? at - onward - there.staySeconds : at;
      found.push(walkOnly(arrives - there.walkSeconds, arrives));
    }
    const inTime = found.filter(({ departsAt }) => departsAt >= earliest);
    return findLeast(inTime, (one) => costOf(one) - one.departsAt);
  }

  /**
   * The time between a ride that ends at this stop and one that begins at another, including the stay. If neither is a stop of
   * the place, the rider walks there and on.
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

/** The plan with the lowest cost; among equals, the one with the fewest rides. */
function findLeast(plans: readonly Plan[], costOf: (plan: Plan) => number): Plan | undefined {
  return plans.toSorted((one, other) => costOf(one) - costOf(other) || one.rides.length - other.rides.length)[0];
}

/** Drops each journey for which there is another that leaves no earlier, arrives no later and has no more rides. */
export function keepUndominated(journeys: readonly ViaPart[][]): ViaPart[][] {
  const known = journeys.map((parts) => ({
    parts,
    departsAt: (parts[0] as ViaPart).plan.departsAt,
    arrivesAt: (parts.at(-1) as ViaPart).plan.arrivesAt,
    rides: parts.flatMap(({ plan }) => plan.rides).length,
  }));
  return known
    .filter(
      (one, index) =>
        !known.some(
          (other, at) =>
            at > index &&
            other.departsAt >= one.departsAt &&
            other.arrivesAt <= one.arrivesAt &&
            other.rides <= one.rides,
        ),
    )
    .map(({ parts }) => parts);
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
  while (run >= 0 && run !== first.run) run = nextRuns[run] as number;
  if (run < 0 || (run === last.alightRun && first.board < last.alight)) return null;
  return { ...plan, rides: [{ ...first, run: last.alightRun, board: last.alight }, ...others] };
}

/**
 * At a place without a stay, a rider whose next ride is in the same vehicle stays there if it passes the place. A rider who would walk
 * to the place and back changes there if one of the rides calls there in time.
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
      const board = findLastCall(first.board - 1, 0, (position) => {
        const call = callAt(lines, first.run, position);
        return isOwn(call.stop) && (call.flags & MAY_BOARD) !== 0 && inTime(end, call);
      });
      if (board >= 0) settled[index + 1] = { ...next, rides: [{ ...first, board }, ...next.rides.slice(1)] };
    }
  }
  return settled;
}

function findLastCall(from: number, until: number, fits: (position: number) => boolean): number {
  for (let position = from; position >= until; position--) if (fits(position)) return position;
  return -1;
}

/** Joins two plans where the rider stays in the vehicle. */
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
