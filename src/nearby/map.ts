import { z } from 'zod';
import type { LocationsPayload } from '../efa/payload.ts';
import { LeftOut, type LeftOutCounts, mapRecords, need } from '../efa/response/record.ts';
import { findNameWithPlace, findPosition, listModes, readStopPoint, type StopPoint } from '../efa/stop-point.ts';
import { modeSchema, sortModes } from '../transit/mode.ts';
import {
  distanceMetres,
  latitudeOrNull,
  latitudeSchema,
  longitudeOrNull,
  longitudeSchema,
  type Position,
} from '../transit/place.ts';

const nearbyStopSchema = z
  .strictObject({
    stop_id: z.string().meta({ description: 'Stop identifier', example: '200060' }),
    name: z.string().meta({ description: 'Stop name with its suburb', example: 'Central Station, Sydney' }),
    distance_metres: z.int().min(0).meta({ description: 'Metres from the asked location', example: 240 }),
    lat: latitudeOrNull,
    lng: longitudeOrNull,
    modes: z.array(modeSchema).meta({ description: 'What stops there' }),
    routes: z.array(z.string()).max(0).meta({ description: 'Reserved, always empty' }),
    children: z
      .array(z.string())
      .optional()
      .meta({
        description: 'Its platforms within the radius, the nearest first; only with `include=ids`',
        example: ['2000466', '2000467'],
      }),
  })
  .meta({ id: 'NearbyStop', description: 'A stop around a place.' });

export const nearbyResponse = z
  .strictObject({
    location: z
      .strictObject({ lat: latitudeSchema, lng: longitudeSchema })
      .meta({ description: 'The location that was asked for' }),
    stops: z.array(nearbyStopSchema).meta({ description: 'The nearest first' }),
  })
  .meta({ id: 'NearbyStops', description: 'The stops around a place at which something departs.' });

export type NearbyStop = z.infer<typeof nearbyStopSchema>;

/** Requests go up to 2,000 m, and the centre of a large station may lie beyond. Farther places were not asked for. */
const MAX_DISTANCE_METRES = 5000;

/**
 * One entry per stop, the nearest first. Platforms are grouped under the stop they belong to: its distance and its
 * position are those of its nearest platform, which is where a rider walks to. Upstream lists modes with stops only.
 */
export async function mapNearbyStops(
  payload: LocationsPayload,
  location: { lat: number; lng: number },
): Promise<{ stops: NearbyStop[]; leftOut: LeftOutCounts }> {
  const { kept, leftOut } = await mapRecords(payload.locations, readStopPoint, (point) =>
    mapLocation(point, [location.lat, location.lng]),
  );
  const groups = Map.groupBy(kept.sort(compareStops), (stop) => stop.stop_id);
  return { stops: [...groups.values()].map(mergeStop), leftOut };
}

function mapLocation(point: StopPoint, from: Position): NearbyStop {
  const position = findPosition(point);
  const isFarAway = position !== null && distanceMetres(from, position) > MAX_DISTANCE_METRES;
  if (isFarAway) throw new LeftOut('of another request');
  const distance = point.properties?.distance ?? (position && distanceMetres(from, position));
  return {
    stop_id: need(point.properties?.STOP_GLOBAL_ID ?? point.id, 'no identifier'),
    // Stops of type STOP are literally called "undefined, undefined".
    name: need(findNameWithPlace(point), 'no name'),
    distance_metres: Math.max(0, Math.round(need(distance, 'no position'))),
    lat: position?.[0] ?? null,
    lng: position?.[1] ?? null,
    modes: listModes(point),
    routes: [],
    children: listPlatform(point),
  };
}

/** The point's own identifier, where it is a platform of a stop with another one. */
function listPlatform({ id, properties }: StopPoint): string[] {
  return id !== undefined && properties?.STOP_GLOBAL_ID !== undefined && id !== properties.STOP_GLOBAL_ID ? [id] : [];
}

/** The points of one stop, nearest first, as one entry. */
function mergeStop(points: NearbyStop[]): NearbyStop {
  const nearest = points[0] as NearbyStop;
  const { lat, lng } = points.find((point) => point.lat !== null) ?? nearest;
  const modes = sortModes(points.flatMap((point) => point.modes));
  return { ...nearest, lat, lng, modes, children: [...new Set(points.flatMap(({ children = [] }) => children))] };
}

function compareStops(one: NearbyStop, other: NearbyStop): number {
  return one.distance_metres - other.distance_metres || one.stop_id.localeCompare(other.stop_id, 'en');
}
