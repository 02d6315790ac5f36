import { mapAlerts } from '../efa/alerts.ts';
import { type EfaLeg, efaLegSchema, type TimedStopPoint } from '../efa/payload.ts';
import { findMode, isWalkClass } from '../efa/product-class.ts';
import { bestKnown, findTime, isCancelled, type PlannedAndRealtime } from '../efa/realtime.ts';
import { LeftOut, need, readRecord } from '../efa/record.ts';
import {
  destinationTimes,
  findId,
  findPlatform,
  findPosition,
  findStopName,
  mapPath,
  originTimes,
} from '../efa/stop-point.ts';
import { findLineName, findRouteName } from '../efa/transportation.ts';
import type { Mode } from '../transit/mode.ts';
import type { Position } from '../transit/stop.ts';
import { minutesBetween } from '../transit/time.ts';

/** One end of a leg: where, and when. */
export interface LegEnd extends PlannedAndRealtime {
  stopId: string;
  name: string;
  platform: string | null;
  position: Position;
  /** The stop whose platform this is; null for a place that is no platform. */
  parent: { stopId: string; name: string } | null;
}

/** A ride or a walk. */
export interface Leg {
  mode: Mode | 'walk';
  route: string | null;
  lineName: string | null;
  direction: string | null;
  origin: LegEnd;
  destination: LegEnd;
  durationMinutes: number;
  distanceMetres: number | null;
  stops: number;
  isLive: boolean;
  path: Position[];
  alerts: string[];
  /** The walk to the next leg that upstream tells without a leg of its own; null when it tells none. */
  walkAfter: { durationSeconds: number | null; path: Position[] } | null;
  /** Seconds of a walk that upstream tells with the leg it leads to. */
  walkBeforeSeconds: number | null;
}

/** Throws `LeftOut`, which costs the journey: one with a leg missing would be a lie. */
export function mapLeg(record: unknown): Leg {
  const leg = readRecord(record, efaLegSchema);
  const { product } = leg.transportation;
  const productClass = need(product?.class ?? product?.iconId, 'malformed');
  if (isWalkClass(productClass)) return mapWalk(leg);
  return mapRide(leg, need(findMode(productClass), 'unknown product class'));
}

function mapRide(leg: EfaLeg, mode: Mode): Leg {
  const { origin: from, destination: to, transportation } = leg;
  const isOff =
    isCancelled('departure', leg.isCancelled, leg.realtimeStatus, from.properties?.realtimeStatus) ||
    isCancelled('arrival', leg.isCancelled, to.properties?.realtimeStatus);
  if (isOff) throw new LeftOut('cancelled');

  // Estimates are present on timetable-only legs too: the flag tells.
  const { origin, destination, path } = mapEnds(leg, mode, leg.isRealtimeControlled === true);
  return {
    mode,
    route: need(findRouteName(transportation), 'no route'),
    lineName: findLineName(transportation),
    direction: transportation.destination?.name?.trim() || null,
    origin,
    destination,
    durationMinutes: legMinutes(leg, origin, destination),
    distanceMetres: null,
    stops: Math.max(0, leg.stopSequence.length - 2),
    isLive: origin.realtime !== null || destination.realtime !== null,
    path,
    alerts: mapAlerts(leg.infos),
    walkAfter: mapWalkAfter(leg),
    walkBeforeSeconds: leg.footPathInfo.find(({ position }) => position === 'BEFORE')?.duration ?? null,
  };
}

function mapWalk(leg: EfaLeg): Leg {
  const { origin, destination, path } = mapEnds(leg, null, false);
  return {
    mode: 'walk',
    route: null,
    lineName: null,
    direction: null,
    origin,
    destination,
    durationMinutes: legMinutes(leg, origin, destination),
    distanceMetres: leg.distance === undefined ? null : Math.max(0, Math.round(leg.distance)),
    stops: 0,
    isLive: false,
    path,
    alerts: mapAlerts(leg.infos),
    walkAfter: null,
    walkBeforeSeconds: null,
  };
}

/** An end without a position of its own or of its stop is where the path ends; a leg without a path goes straight. */
function mapEnds(leg: EfaLeg, mode: Mode | null, isLive: boolean) {
  const path = mapPath(leg.coords);
  const origin = mapEnd(leg.origin, findTime(originTimes(leg.origin), isLive), path.at(0), mode);
  const destination = mapEnd(leg.destination, findTime(destinationTimes(leg.destination), isLive), path.at(-1), mode);
  return { origin, destination, path: path.length >= 2 ? path : [origin.position, destination.position] };
}

function mapEnd(
  point: TimedStopPoint,
  time: PlannedAndRealtime | null,
  pathEnd: Position | undefined,
  mode: Mode | null,
): LegEnd {
  const stopId = need(findId(point), 'no identifier');
  return {
    stopId,
    name: findStopName(point) ?? stopId,
    platform: findPlatform(point, mode, findStopName(point)),
    position: need(findPosition(point) ?? pathEnd, 'no position'),
    parent: findParent(point),
    ...need(time, 'no time'),
  };
}

/**
 * Upstream calls a station after the stand one uses ("Central Station, Forecourt, Coach Bay 3"): what stands before the
 * first comma is the station. Street stops have commas of their own.
 */
function findParent({ parent }: TimedStopPoint): LegEnd['parent'] {
  const name = parent?.type === 'stop' ? findStopName(parent) : null;
  if (!parent?.id || !name) return null;
  const isStation = !parent.id.startsWith('G') && findPlatform(parent, null, name) !== null;
  return { stopId: parent.id, name: isStation ? (name.split(', ')[0] ?? name) : name };
}

/** Upstream's duration follows the estimates; so does what is computed where it is missing. */
function legMinutes({ duration }: EfaLeg, origin: LegEnd, destination: LegEnd): number {
  const minutes = duration === undefined ? minutesBetween(bestKnown(origin), bestKnown(destination)) : duration / 60;
  return Math.max(0, Math.round(minutes));
}

function mapWalkAfter({ footPathInfo, interchange }: EfaLeg): Leg['walkAfter'] {
  const after = footPathInfo.find(({ position }) => position === 'AFTER');
  if (!after && !interchange) return null;
  return { durationSeconds: after?.duration ?? null, path: mapPath(interchange?.coords) };
}
