import type { LocationsPayload } from '../efa/payload.ts';
import { mapRecords } from '../efa/response/record.ts';
import { listModes, parseStopPoint, type StopPoint, toNameWithPlace, toPosition } from '../efa/stop-point.ts';
import { getOrLeaveOut, LeftOut, type LeftOutCounts } from '../transit/left-out.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import type { Position } from '../transit/place.ts';
import type { StopLookup } from './register.ts';
import { nameWithSuburb, type StopRecord } from './table.ts';
import { upstreamMetres } from './upstream-metres.ts';

export interface NearbyStop {
  stop_id: string;
  /** Includes the suburb. */
  name: string;
  /** From the requested place. */
  distance_metres: number;
  lat: number | null;
  lng: number | null;
  modes: Mode[];
  /** Reserved, always empty. */
  routes: string[];
  /** Its platforms within the radius, closest first. */
  children?: string[];
}

/** A larger distance means that the response belongs to another request. The centre of a large station may lie outside the circle. */
const MAX_DISTANCE_METRES = 10_000;

export type RequestedCircle = { lat: number; lng: number; radius: number };

/** A platform or stop, and its own distance before rounding. */
type NearbyPoint = Omit<NearbyStop, 'distance_metres' | 'routes'> & { metres: number };

/**
 * Returns the stops of upstream's list within the circle, one entry per stop, closest first. A stop without a position takes the
 * one in the register.
 */
export async function mapNearbyStops(
  payload: LocationsPayload,
  circle: RequestedCircle,
  register: StopLookup,
): Promise<{ stops: NearbyStop[]; leftOut: LeftOutCounts }> {
  const { kept, leftOut } = await mapRecords(payload.locations, parseStopPoint, (point) => {
    const registered = point.id === undefined || toPosition(point) ? null : register.get(point.id);
    return mapLocation(point, circle, registered && [registered.lat, registered.lng]);
  });
  return { stops: groupPoints(kept, circle.radius, register), leftOut };
}

/** Like `mapNearbyStops`, for stops of the register. Whether they are served is unknown. */
export function groupKnownStops(
  stops: Iterable<StopRecord>,
  circle: RequestedCircle,
  register: StopLookup,
): NearbyStop[] {
  const points = [...stops].map((stop): NearbyPoint => {
    const parent = stop.parent_id === null ? null : register.get(stop.parent_id);
    return {
      stop_id: stop.parent_id ?? stop.stop_id,
      name: nameWithSuburb(parent ?? stop),
      metres: upstreamMetres([circle.lat, circle.lng], [stop.lat, stop.lng]),
      lat: stop.lat,
      lng: stop.lng,
      modes: [...stop.modes, ...(parent?.modes ?? [])],
      children: stop.parent_id === null ? [] : [stop.stop_id],
    };
  });
  return groupPoints(points, circle.radius, register);
}

function mapLocation(point: StopPoint, circle: RequestedCircle, registered: Position | null): NearbyPoint {
  const position = getOrLeaveOut(toPosition(point) ?? registered, 'no position');
  const metres = upstreamMetres([circle.lat, circle.lng], position);
  if (metres > MAX_DISTANCE_METRES) throw new LeftOut('of another request');
  return {
    stop_id: getOrLeaveOut(point.properties?.STOP_GLOBAL_ID ?? point.id, 'no identifier'),
    // Stops of type STOP have the literal name "undefined, undefined".
    name: getOrLeaveOut(toNameWithPlace(point), 'no name'),
    metres,
    lat: position[0],
    lng: position[1],
    modes: listModes(point),
    children: listPlatform(point),
  };
}

/**
 * Groups platforms under their stop. The distance is that of the nearest platform, because riders walk to that one; the position
 * is the stop's own. Upstream lists modes only with stops, which may lie outside the circle.
 */
function groupPoints(points: readonly NearbyPoint[], radius: number, register: StopLookup): NearbyStop[] {
  return [
    ...Map.groupBy(
      points.toSorted((a, b) => a.metres - b.metres || compareIds(a, b)),
      ({ stop_id }) => stop_id,
    ).values(),
  ]
    .filter(([nearest]) => nearest !== undefined && nearest.metres <= radius)
    .map((group) => mergePoints(group, radius, register))
    .sort((a, b) => a.distance_metres - b.distance_metres || compareIds(a, b));
}

/** Merges the points of one stop, closest first, into one entry. */
function mergePoints(points: readonly NearbyPoint[], radius: number, register: StopLookup): NearbyStop {
  const [nearest] = points as [NearbyPoint];
  const { stop_id, name, metres } = nearest;
  const isStop = ({ children = [] }: NearbyPoint) => children.length === 0;
  const { lat, lng } = register.get(stop_id) ?? points.find(isStop) ?? nearest;
  const within = points.filter((point) => point.metres <= radius);
  return {
    stop_id,
    name,
    distance_metres: Math.round(metres),
    lat,
    lng,
    modes: sortModes(points.flatMap(({ modes }) => modes)),
    routes: [],
    children: [...new Set(within.flatMap(({ children = [] }) => children))],
  };
}

function compareIds(a: { stop_id: string }, b: { stop_id: string }): number {
  return a.stop_id.localeCompare(b.stop_id, 'en');
}

/** The point's own identifier, if it is a platform and its stop has another identifier. */
function listPlatform({ id, properties }: StopPoint): string[] {
  return id !== undefined && properties?.STOP_GLOBAL_ID !== undefined && id !== properties.STOP_GLOBAL_ID ? [id] : [];
}
