import { MINUTE_MS } from '../core/clock.ts';
import type { Call } from './call.ts';
import type { Carriages } from './departure.ts';
import type { Mode } from './mode.ts';
import type { Position } from './place.ts';
import { bestKnown, type CallTime } from './time.ts';
import { UNKNOWN_ACCESS, type VehicleAccess } from './vehicle-access.ts';

/** Where and when a leg begins or ends. */
export interface LegEnd extends CallTime {
  stopId: string;
  /** All identifiers of the point and of its stop. */
  ids: readonly string[];
  name: string;
  platform: string | null;
  position: Position;
  /** Whether the stop takes wheelchairs; null where upstream does not say. */
  isAccessible: boolean | null;
  /** The stop to which the platform belongs; null if the place is not a platform. */
  parent: { ids: readonly string[]; name: string } | null;
  /** The identifier of that stop, set even if it has no name. */
  parentId: string | null;
}

/** A ride or a walk. */
export interface Leg {
  mode: Mode | 'walk';
  /** The run, by its ID in live feeds; null on a walk and if upstream does not report it. */
  runId: string | null;
  /** The line in the timetable; null on a walk and, until it is looked up, if the leg is the trip planner's. */
  lineId: string | null;
  route: string | null;
  lineName: string | null;
  direction: string | null;
  /** The headsign of the last run that the vehicle makes with its riders on board, if it names another place; else null. */
  throughTo: string | null;
  origin: LegEnd;
  destination: LegEnd;
  durationMs: number;
  distanceMetres: number | null;
  stops: number;
  /** The predicted load of each carriage at the start of the ride; absent unless it was looked up. */
  carriages?: Carriages;
  /** Maps the calls on demand; empty on a walk, null if upstream does not list them. */
  listCalls(): Call[] | null;
  isLive: boolean;
  /** The ride is cancelled, or does not serve both ends; false on a walk. */
  isCancelled: boolean;
  /** The ride must be booked, and its times are indicative; false on a walk. */
  isOnDemand: boolean;
  /** The ride must be booked, on demand or not; false on a walk. */
  needsBooking: boolean;
  path: Position[];
  /** Reads a better path from disk; absent if there is none. */
  drawPath?: () => Promise<Position[]>;
  /** Disruption alerts, then hints for the ride. */
  alerts: string[];
  access: VehicleAccess;
  /** Upstream's own estimates of a walk; null on a ride. */
  walkEstimate: { startsAt: number; endsAt: number } | null;
  /** The walk to the next leg, where upstream reports it with this leg. */
  walkAfter: { durationMs: number | null; path: Position[] } | null;
  /** Duration of the walk to this leg, where upstream reports it with this leg. */
  walkBeforeMs: number | null;
}

/**
 * A way from one stop to another. Each leg begins where the previous one ended, and walks have the realtime of the adjacent
 * rides.
 */
export interface Journey {
  /** At least one. */
  legs: readonly Leg[];
  /** True for a journey that upstream adds to its list of consecutive ones. It may leave much later than they do. */
  isAdditional?: boolean;
  /** The lifts out of service where it boards or alights; null if no alerts are known, absent unless looked up. */
  liftsOut?: readonly { stopId: string; name: string; alertId: string }[] | null;
}

/** The fields of a walk; a ride replaces what it knows. */
export const LEG_DEFAULTS: Omit<Leg, 'origin' | 'destination' | 'durationMs'> = {
  mode: 'walk',
  runId: null,
  lineId: null,
  route: null,
  lineName: null,
  direction: null,
  throughTo: null,
  distanceMetres: null,
  stops: 0,
  listCalls: () => [],
  isLive: false,
  isCancelled: false,
  isOnDemand: false,
  needsBooking: false,
  path: [],
  alerts: [],
  access: UNKNOWN_ACCESS,
  walkEstimate: null,
  walkAfter: null,
  walkBeforeMs: null,
};

/** The duration by best-known times. Upstream's own duration may be older than its estimates. */
export function rideMs(origin: LegEnd, destination: LegEnd): number {
  return Math.max(0, bestKnown(destination) - bestKnown(origin));
}

/** Where and when the journey starts, by its first leg. Live if the first ride is, because a leading walk moves with it. */
export function originOf({ legs }: Journey): LegEnd {
  return (legs[0] as Leg).origin;
}

/** Where and when the journey ends, by its last leg. Live if the last ride is, because a trailing walk moves with it. */
export function destinationOf({ legs }: Journey): LegEnd {
  return (legs.at(-1) as Leg).destination;
}

export function countChanges({ legs }: Journey): number {
  return Math.max(0, legs.filter((leg) => leg.mode !== 'walk').length - 1);
}

/**
 * The latest time to set out and still catch the first vehicle, by best-known times unless `timeOf` returns others; null for a
 * walk.
 */
export function latestStart({ legs }: Journey, timeOf: (time: CallTime) => number = bestKnown): number | null {
  const first = legs.findIndex((leg) => leg.mode !== 'walk');
  const ride = legs[first];
  if (!ride) return null;
  return timeOf(ride.origin) - sumDurations(legs.slice(0, first));
}

export function isCancelled({ legs }: Journey): boolean {
  return legs.some((leg) => leg.isCancelled);
}

/** Whether it is known to need a lift that is out of service. */
export function lacksLift({ liftsOut }: Journey): boolean {
  return (liftsOut?.length ?? 0) > 0;
}

export function isOnDemand({ legs }: Journey): boolean {
  return legs.some((leg) => leg.isOnDemand);
}

export interface Change {
  /** The index of the leg before it. */
  index: number;
  before: Leg;
  /** The index of the ride after it. */
  next: number;
  ride: Leg;
  walkMs: number;
  /** The best-known time left after the walk. */
  spareMs: number;
}

export function listChanges({ legs }: Journey): Change[] {
  const rides = [...legs.entries()].filter(([, { mode }]) => mode !== 'walk');
  return rides.slice(1).map(([next, ride], place) => {
    const [index, before] = rides[place] as [number, Leg];
    const walkMs = sumDurations(legs.slice(index + 1, next));
    const spareMs = bestKnown(ride.origin) - bestKnown(before.destination) - walkMs;
    return { index, before, next, ride, walkMs, spareMs };
  });
}

/** A change with less time to spare is at risk, because live times are rounded to minutes. */
const AT_RISK_MS = 2 * MINUTE_MS;
const TIGHT_MS = 5 * MINUTE_MS;
export const CHANGE_RATINGS = ['on_time', 'tight', 'at_risk'] as const;

/** Rates a change by best-known times. A missed one is at risk too. */
export function rateChange(change: Change): (typeof CHANGE_RATINGS)[number] {
  if (isMissed(change) || change.spareMs < AT_RISK_MS) return 'at_risk';
  return change.spareMs < TIGHT_MS ? 'tight' : 'on_time';
}

export function isMissed({ before, ride, spareMs }: Change): boolean {
  return spareMs < 0 || before.isCancelled || ride.isCancelled;
}

/** Whether each ride can be caught from the previous one. */
export function isPossible(journey: Journey): boolean {
  return listChanges(journey).every(({ spareMs }) => spareMs >= 0);
}

/** Returns the journey with the paths of its rides read from disk, where better ones than straight lines exist. */
export async function drawPaths(journey: Journey): Promise<Journey> {
  const legs = journey.legs.map(async (leg) => (leg.drawPath ? { ...leg, path: await leg.drawPath() } : leg));
  return { ...journey, legs: await Promise.all(legs) };
}

function sumDurations(walks: readonly Leg[]): number {
  return walks.reduce((sum, { durationMs }) => sum + durationMs, 0);
}
