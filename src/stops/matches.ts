import type { LocationsPayload } from '../efa/payload.ts';
import { mapRecords } from '../efa/response/record.ts';
import { listModes, parseStopPoint, type StopPoint, toLocality, toPosition, toStopName } from '../efa/stop-point.ts';
import { getOrLeaveOut, LeftOut, type LeftOutCounts } from '../transit/left-out.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { formatPlace, type Position, placeParameter } from '../transit/place.ts';
import { nearness } from './name-search.ts';

export const PLACE_TYPES = ['stop', 'poi', 'address', 'street', 'suburb'] as const;
export type PlaceType = (typeof PLACE_TYPES)[number];
/** Place types by upstream's names for them. */
const TYPE_OF_UPSTREAM = new Map<string | undefined, PlaceType>([
  ['stop', 'stop'],
  ['poi', 'poi'],
  ['singlehouse', 'address'],
  ['address', 'address'],
  ['street', 'street'],
  ['suburb', 'suburb'],
  ['locality', 'suburb'],
]);
/** Upstream scores stops up to 1000 and other places up to 250. */
const BEST_MATCH = { stop: 1000, other: 250 };
/** The bonus for a match right at `near`. It is small because upstream's good matches differ by only a few hundredths. */
const NEARNESS_OF_MATCHES = 0.04;

export interface PlaceMatch {
  /** Valid as `from` and `to` of `/v1/trips`; for a stop, its identifier. */
  id: string;
  type: PlaceType;
  /** Includes the suburb. */
  name: string;
  /** Empty if unknown. */
  suburb: string;
  lat: number | null;
  lng: number | null;
  /** For stops, as far as upstream lists them. */
  modes: Mode[];
}

export const areOnlyStops = (types: readonly PlaceType[]) => types.every((type) => type === 'stop');

/**
 * Returns upstream's matches of these types without duplicates, best first, because upstream's own order is not useful. `near`
 * decides between good matches; equal matches are sorted by type, then by name.
 */
export async function rankMatches(
  { locations }: LocationsPayload,
  types: readonly PlaceType[],
  near: Position | undefined,
): Promise<{ results: PlaceMatch[]; leftOut: LeftOutCounts }> {
  const { kept, leftOut } = await mapRecords(locations, parseStopPoint, (location) => mapLocation(location, types));
  const ranked = kept.map(({ match, found }) => {
    const { lat, lng } = found;
    const isPlaced = near && lat !== null && lng !== null;
    return { found, match: isPlaced ? match * nearness(near, [lat, lng], NEARNESS_OF_MATCHES) : match };
  });
  ranked.sort(
    (a, b) =>
      b.match - a.match ||
      PLACE_TYPES.indexOf(a.found.type) - PLACE_TYPES.indexOf(b.found.type) ||
      a.found.name.localeCompare(b.found.name, 'en') ||
      a.found.id.localeCompare(b.found.id, 'en'),
  );
  const byId = new Map<string, PlaceMatch>();
  for (const { found } of ranked) if (!byId.has(found.id)) byId.set(found.id, found);
  return { results: [...byId.values()], leftOut };
}

function mapLocation(location: StopPoint, types: readonly PlaceType[]): { match: number; found: PlaceMatch } {
  const type = TYPE_OF_UPSTREAM.get(location.type);
  // Platforms, and unknown kinds of places.
  if (!type || !types.includes(type)) throw new LeftOut('not requested');
  const position = toPosition(location);
  return {
    match: (location.matchQuality ?? 0) / (type === 'stop' ? BEST_MATCH.stop : BEST_MATCH.other),
    found: {
      id: getOrLeaveOut(areOnlyStops(types) ? location.id : usableId(location.id, position), 'no identifier'),
      type,
      name: getOrLeaveOut(location.name?.trim() || toStopName(location), 'no name'),
      suburb: toLocality(location) ?? '',
      lat: position?.[0] ?? null,
      lng: position?.[1] ?? null,
      modes: type === 'stop' ? sortModes(listModes(location)) : [],
    },
  };
}

/** Returns an ID that `/v1/trips` accepts: the identifier, else the position. */
function usableId(id: string | undefined, position: Position | null): string | null {
  const read = placeParameter.safeParse(id);
  if (read.success && read.data === id) return id;
  return position && formatPlace(position);
}
