import type { LocationsPayload } from '../efa/payload.ts';
import { mapRecords } from '../efa/response/record.ts';
import {
  findLocality,
  findPosition,
  findStopName,
  listModes,
  readStopPoint,
  type StopPoint,
} from '../efa/stop-point.ts';
import { LeftOut, type LeftOutCounts, need } from '../transit/left-out.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { formatPlace, type Position, placeParameter } from '../transit/place.ts';
import { nearness } from './name-search.ts';

export const PLACE_TYPES = ['stop', 'poi', 'address', 'street', 'suburb'] as const;
export type PlaceType = (typeof PLACE_TYPES)[number];
/** The types by upstream's names for them. */
const TYPE_OF_UPSTREAM = new Map<string | undefined, PlaceType>([
  ['stop', 'stop'],
  ['poi', 'poi'],
  ['singlehouse', 'address'],
  ['address', 'address'],
  ['street', 'street'],
  ['suburb', 'suburb'],
  ['locality', 'suburb'],
]);
/** Upstream counts a match of a stop up to 1000, that of any other place up to 250. */
const BEST_MATCH = { stop: 1000, other: 250 };
/** Upstream's good matches lie within a few hundredths of each other. */
const NEARNESS_OF_MATCHES = 0.04;

/** A place whose name matches. */
export interface PlaceMatch {
  /** Taken by `/v1/trips`; of a stop its identifier. */
  id: string;
  type: PlaceType;
  /** With its suburb. */
  name: string;
  /** Empty if unknown. */
  suburb: string;
  lat: number | null;
  lng: number | null;
  /** Of a stop, as far as upstream lists them. */
  modes: Mode[];
}

/**
 * What upstream found of these types, each once, the best match first: upstream lists them in no useful order. `near` decides
 * among good matches; equal ones are sorted by type, then by name.
 */
export async function rankMatches(
  { locations }: LocationsPayload,
  types: readonly PlaceType[],
  near: Position | undefined,
): Promise<{ results: PlaceMatch[]; leftOut: LeftOutCounts }> {
  const { kept, leftOut } = await mapRecords(locations, readStopPoint, (location) => mapLocation(location, types));
  const ranked = kept.map(({ match, found }) => {
    const { lat, lng } = found;
    const isPlaced = near && lat !== null && lng !== null;
    return { found, match: isPlaced ? match * nearness(near, [lat, lng], NEARNESS_OF_MATCHES) : match };
  });
  ranked.sort(
    (one, other) =>
      other.match - one.match ||
      PLACE_TYPES.indexOf(one.found.type) - PLACE_TYPES.indexOf(other.found.type) ||
      one.found.name.localeCompare(other.found.name, 'en') ||
      one.found.id.localeCompare(other.found.id, 'en'),
  );
  const byId = new Map<string, PlaceMatch>();
  for (const { found } of ranked) if (!byId.has(found.id)) byId.set(found.id, found);
  return { results: [...byId.values()], leftOut };
}

function mapLocation(location: StopPoint, types: readonly PlaceType[]): { match: number; found: PlaceMatch } {
  const type = TYPE_OF_UPSTREAM.get(location.type);
  // Platforms of a stop, and kinds of places that nobody has seen yet.
  if (!type || !types.includes(type)) throw new LeftOut('not asked for');
  const position = findPosition(location);
  return {
    match: (location.matchQuality ?? 0) / (type === 'stop' ? BEST_MATCH.stop : BEST_MATCH.other),
    found: {
      id: need(types.length === 1 ? location.id : usableId(location.id, position), 'no identifier'),
      type,
      name: need(location.name?.trim() || findStopName(location), 'no name'),
      suburb: findLocality(location) ?? '',
      lat: position?.[0] ?? null,
      lng: position?.[1] ?? null,
      modes: type === 'stop' ? sortModes(listModes(location)) : [],
    },
  };
}

/** Returns what `/v1/trips` takes: the identifier, else the position. */
function usableId(id: string | undefined, position: Position | null): string | null {
  const read = placeParameter.safeParse(id);
  if (read.success && read.data === id) return id;
  return position && formatPlace(position);
}
