import { mapAlerts } from '../efa/alerts.ts';
import { type EfaLeg, efaLegSchema, type TimedStopPoint } from '../efa/payload.ts';
import { findMode, isWalkClass } from '../efa/product-class.ts';
import { bestKnown, findTime, isCancelled, type PlannedAndRealtime } from '../efa/realtime.ts';
import { need, readRecord } from '../efa/record.ts';
import {
  destinationTimes,
  findId,
  findOwnPosition,
  findPlatform,
  findPosition,
  findStopName,
  listIds,
  mapPath,
  originTimes,
} from '../efa/stop-point.ts';
import { findHeadsign, findLineName, findRouteName } from '../efa/transportation.ts';
import { findRunId, findVehicleAccess } from '../efa/vehicle.ts';
import type { Mode } from '../transit/mode.ts';
import type { Position } from '../transit/stop.ts';
import { minutesBetween } from '../transit/time.ts';

/** One end of a leg: where, and when. */
export interface LegEnd extends PlannedAndRealtime {
  stopId: string;
  /** Every identifier of the point and of its stop. */
  ids: readonly string[];
  name: string;
  platform: string | null;
  position: Position;
  /** The stop to which the platform belongs; null for a place that is no platform. */
  parent: { ids: readonly string[]; name: string } | null;
  /** Identifier of that stop, also where it has no name. */
  parentId: string | null;
}

/** A ride or a walk. */
export interface Leg {
  mode: Mode | 'walk';
  /** The run, as live feeds name it; null on a walk and where upstream does not say. */
  runId: string | null;
  route: string | null;
  lineName: string | null;
  direction: string | null;
  origin: LegEnd;
  destination: LegEnd;
  durationSeconds: number;
  distanceMetres: number | null;
  stops: number;
  isLive: boolean;
  /** It does not run, or not between the two ends; false on a walk. */
  isCancelled: boolean;
  path: Position[];
  alerts: string[];
  /** Whether the vehicle takes wheelchairs; null on a walk and where upstream does not say. Not shown to callers. */
  isAccessible: boolean | null;
  /** Upstream's own estimates of a walk; null on a ride. */
  walkEstimate: { start: Date; end: Date } | null;
  /** The walk to the next leg, where upstream reports it with this leg. */
  walkAfter: { durationSeconds: number | null; path: Position[] } | null;
  /** Duration of the walk to this leg, where upstream reports it with this leg. */
  walkBeforeSeconds: number | null;
}

/** Where a point is by other legs of the same answer; null when none says. */
export type FindElsewhere = (stopId: string) => Position | null;

/** Throws `LeftOut`; the whole journey is left out then, because without one of its legs it would be wrong. */
export function mapLeg(record: unknown, findElsewhere: FindElsewhere): Leg {
  const leg = readRecord(record, efaLegSchema);
  const { product } = leg.transportation;
  const productClass = need(product?.class ?? product?.iconId, 'malformed');
  if (isWalkClass(productClass)) return mapWalk(leg, findElsewhere);
  return mapRide(leg, need(findMode(productClass), 'unknown product class'), findElsewhere);
}

/** Whether the record is a ride that is cancelled; it may lack what `mapLeg` needs. */
export function isCancelledRide(record: unknown): boolean {
  const leg = efaLegSchema.safeParse(record).data;
  return leg !== undefined && isOff(leg);
}

function isOff({ isCancelled: flag, realtimeStatus, origin, destination }: EfaLeg): boolean {
  return (
    isCancelled('departure', flag, realtimeStatus, origin.properties?.realtimeStatus) ||
    isCancelled('arrival', flag, destination.properties?.realtimeStatus)
  );
}

function mapRide(leg: EfaLeg, mode: Mode, findElsewhere: FindElsewhere): Leg {
  const { transportation } = leg;
  // Estimates are present on timetable-only legs too; only the flag says that the vehicle is tracked.
  const isTracked = leg.isRealtimeControlled === true && !isOff(leg);
  const { origin, destination, path } = mapEnds(leg, mode, isTracked, findElsewhere);
  return {
    mode,
    runId: findRunId(transportation.properties),
    route: need(findRouteName(transportation), 'no route'),
    lineName: findLineName(transportation),
    direction: findHeadsign(transportation, leg.realtimeStatus),
    origin,
    destination,
    durationSeconds: legSeconds(leg, origin, destination),
    distanceMetres: null,
    stops: Math.max(0, leg.stopSequence.length - 2),
    isLive: origin.realtime !== null || destination.realtime !== null,
    isCancelled: isOff(leg),
    path,
    alerts: mapAlerts(leg.infos),
    isAccessible: findVehicleAccess(leg.properties, transportation.properties),
    walkEstimate: null,
    walkAfter: mapWalkAfter(leg),
    walkBeforeSeconds: leg.footPathInfo.find(({ position }) => position === 'BEFORE')?.duration ?? null,
  };
}

function mapWalk(leg: EfaLeg, findElsewhere: FindElsewhere): Leg {
  const { origin, destination, path } = mapEnds(leg, null, false, findElsewhere);
  return {
    mode: 'walk',
    runId: null,
    route: null,
    lineName: null,
    direction: null,
    origin,
    destination,
    durationSeconds: legSeconds(leg, origin, destination),
    distanceMetres: leg.distance === undefined ? null : Math.max(0, Math.round(leg.distance)),
    stops: 0,
    isLive: false,
    isCancelled: false,
    path,
    alerts: mapAlerts(leg.infos),
    isAccessible: null,
    walkEstimate: mapWalkEstimate(leg),
    walkAfter: null,
    walkBeforeSeconds: null,
  };
}

/** An end without a position of its own or of its stop is where the path ends; a leg without a path goes straight. */
function mapEnds(leg: EfaLeg, mode: Mode | null, isLive: boolean, findElsewhere: FindElsewhere) {
  const path = mapPath(leg.coords);
  const mapEnd = (point: TimedStopPoint, time: PlannedAndRealtime | null, pathEnd: Position | undefined): LegEnd => {
    const stopId = need(findId(point), 'no identifier');
    const name = findStopName(point) ?? stopId;
    const position = findOwnPosition(point) ?? findElsewhere(stopId) ?? findPosition(point) ?? pathEnd;
    return {
      stopId,
      ids: listIds(point),
      name,
      platform: findPlatform(point, mode, name),
      position: need(position, 'no position'),
      parent: findParent(point),
      parentId: findParentId(point),
      ...need(time, 'no time'),
    };
  };
  const origin = mapEnd(leg.origin, findTime(originTimes(leg.origin), isLive), path.at(0));
  const destination = mapEnd(leg.destination, findTime(destinationTimes(leg.destination), isLive), path.at(-1));
  return { origin, destination, path: path.length >= 2 ? path : [origin.position, destination.position] };
}

/**
 * Upstream calls a station after the stand in use ("Central Station, Forecourt, Coach Bay 3"): the part before the
 * first comma is the station. Names of street stops have commas of their own.
 */
function findParentId({ parent }: TimedStopPoint): string | null {
  return parent?.type === 'stop' ? (parent.id ?? null) : null;
}

function findParent({ parent }: TimedStopPoint): LegEnd['parent'] {
  const name = parent?.type === 'stop' ? findStopName(parent) : null;
  if (!parent?.id || !name) return null;
  const isStation = !parent.id.startsWith('G') && findPlatform(parent, null, name) !== null;
  return { ids: listIds(parent), name: isStation ? (name.split(', ')[0] ?? name) : name };
}

/** Upstream's duration follows the estimates; where it is missing, the duration computed here does so too. */
function legSeconds({ duration }: EfaLeg, origin: LegEnd, destination: LegEnd): number {
  return Math.max(0, duration ?? minutesBetween(bestKnown(origin), bestKnown(destination)) * 60);
}

function mapWalkEstimate({ origin, destination }: EfaLeg): Leg['walkEstimate'] {
  const start = findTime(originTimes(origin), true)?.realtime;
  const end = findTime(destinationTimes(destination), true)?.realtime;
  return start && end ? { start, end } : null;
}

function mapWalkAfter({ footPathInfo, interchange }: EfaLeg): Leg['walkAfter'] {
  const after = footPathInfo.find(({ position }) => position === 'AFTER');
  if (!after && !interchange) return null;
  return { durationSeconds: after?.duration ?? null, path: mapPath(interchange?.coords) };
}
