import { type EfaLeg, parseJourney } from '../../efa/payload.ts';
import { toTimes } from '../../efa/realtime.ts';
import { parseObject } from '../../efa/response/field.ts';
import {
  listIds,
  mapPath,
  parseStopPoint,
  type TimedStopPoint,
  toOwnPosition,
  toPlatform,
  toPosition,
  toStopId,
  toStopName,
} from '../../efa/stop-point.ts';
import type { LegEnd } from '../../transit/journey.ts';
import { getOrLeaveOut } from '../../transit/left-out.ts';
import type { Mode } from '../../transit/mode.ts';
import type { Position } from '../../transit/place.ts';
import type { CallTime } from '../../transit/time.ts';

/** Finds positions that a leg lacks. */
export interface KnownPositions {
  /** From other legs of the same response; null if none has it. */
  inResponse(stopId: string): Position | null;
  /** From the register of stops; null if it does not have the stop. */
  ofStop(stopId: string): Position | null;
}

/**
 * Maps both ends. An end without a position takes the first one known: that of the end in another leg, of its stop, of the end of
 * the path, or in the register. A leg without a path is drawn as a straight line.
 */
export function mapEnds(leg: EfaLeg, mode: Mode | null, isLive: boolean, positions: KnownPositions) {
  const path = mapPath(leg.coords);
  const mapEnd = (point: TimedStopPoint, time: CallTime | null, pathEnd: Position | undefined): LegEnd => {
    const stopId = getOrLeaveOut(toStopId(point), 'no identifier');
    const name = toStopName(point) ?? stopId;
    const ids = listIds(point);
    const reported = toOwnPosition(point) ?? positions.inResponse(stopId) ?? toPosition(point) ?? pathEnd;
    const position = reported ?? ids.map(positions.ofStop).find((position) => position !== null);
    return {
      stopId,
      ids,
      name,
      platform: toPlatform(point, mode, name),
      position: getOrLeaveOut(position, 'no position'),
      isAccessible: point.properties?.WheelchairAccess ?? null,
      parent: findParent(point),
      parentId: findParentId(point),
      ...getOrLeaveOut(time, 'no time'),
    };
  };
  const origin = mapEnd(leg.origin, toTimes(leg.origin.departure, isLive), path.at(0));
  const destination = mapEnd(leg.destination, toTimes(leg.destination.arrival, isLive), path.at(-1));
  return { origin, destination, path: path.length >= 2 ? path : [origin.position, destination.position] };
}

function findParentId({ parent }: TimedStopPoint): string | null {
  return parent?.type === 'stop' ? (parent.id ?? null) : null;
}

/**
 * Upstream calls a station after the stand in use ("Central Station, Forecourt, Coach Bay 3"): the part before the first comma
 * is the station. Names of street stops have commas of their own.
 */
function findParent({ parent }: TimedStopPoint): LegEnd['parent'] {
  const name = parent?.type === 'stop' ? toStopName(parent) : null;
  if (!parent?.id || !name) return null;
  const isStation = !parent.id.startsWith('G') && toPlatform(parent, null, name) !== null;
  return { ids: listIds(parent), name: isStation ? (name.split(', ')[0] ?? name) : name };
}

/**
 * Finds the positions of points in a response, because a leg sometimes lacks one that another journey has. The response is read
 * at the first lookup, which is rare.
 */
export function createPositions(journeys: readonly unknown[]): KnownPositions['inResponse'] {
  let positionsById: ReadonlyMap<string, Position> | undefined;
  return (stopId) => {
    positionsById ??= parsePositions(journeys);
    return positionsById.get(stopId) ?? null;
  };
}

function parsePositions(journeys: readonly unknown[]): ReadonlyMap<string, Position> {
  const legs = journeys.flatMap((journey) => parseJourney(journey)?.legs ?? []);
  const ends = legs.map(parseObject).flatMap((leg) => [leg?.origin, leg?.destination]);
  return new Map(
    ends.flatMap((end): [string, Position][] => {
      const point = parseStopPoint(end);
      const position = point && toOwnPosition(point);
      return point?.id && position ? [[point.id, position]] : [];
    }),
  );
}
