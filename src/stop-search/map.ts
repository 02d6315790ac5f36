import { z } from 'zod';
import type { LocationsPayload } from '../efa/payload.ts';
import { LeftOut, type LeftOutCounts, mapRecords, need } from '../efa/response/record.ts';
import {
  findLocality,
  findPosition,
  findStopName,
  listModes,
  readStopPoint,
  type StopPoint,
} from '../efa/stop-point.ts';
import { nearness } from '../stops/name-search.ts';
import type { StopRegister } from '../stops/register.ts';
import { nameWithSuburb, type StopRecord } from '../stops/table.ts';
import { modeSchema, sortModes } from '../transit/mode.ts';
import { latitudeOrNull, longitudeOrNull, type Position } from '../transit/place.ts';

const searchResultSchema = z
  .strictObject({
    stop_id: z.string().meta({ description: 'Stop identifier', example: '212110' }),
    name: z.string().meta({ description: 'Stop name with its suburb', example: 'Epping Station, Epping' }),
    suburb: z
      .string()
      .meta({ description: 'Suburb or locality; empty, never null, where it is not known', example: 'Epping' }),
    lat: latitudeOrNull,
    lng: longitudeOrNull,
    modes: z
      .array(modeSchema)
      .meta({ description: 'The modes that stop there; empty, never null, where none is known' }),
  })
  .meta({ id: 'SearchResult', description: 'A stop whose name matches.' });

export const stopSearchResponse = z
  .strictObject({
    query: z.string().meta({ description: 'The query as received', example: 'town hall' }),
    results: z.array(searchResultSchema).meta({ description: 'The best match first' }),
  })
  .meta({ id: 'SearchResults', description: 'Stops found by name.' });

export type SearchResults = z.infer<typeof stopSearchResponse>;
export type SearchResult = z.infer<typeof searchResultSchema>;

/** Upstream's good matches lie within a few hundredths of each other. */
export const NEARNESS_OF_MATCHES = 0.04;

interface RankedResult {
  matchQuality: number;
  result: SearchResult;
}

/**
 * Stops only, the best match first; a stop that upstream lists under two names comes once.
 * Upstream swamps the stops with streets, parks and restaurants, and lists them in no useful order.
 */
export async function mapSearchResults(
  payload: LocationsPayload,
  stops: Pick<StopRegister, 'get'>,
  near?: Position,
): Promise<{ results: SearchResult[]; leftOut: LeftOutCounts }> {
  const { kept, leftOut } = await mapRecords(payload.locations, readStopPoint, mapLocation);
  if (near) {
    for (const one of kept) {
      const { lat, lng } = one.result;
      if (lat !== null && lng !== null) one.matchQuality *= nearness(near, [lat, lng], NEARNESS_OF_MATCHES);
    }
  }
  const ranked = kept.sort(compareResults).map(({ result }) => withKnownModes(result, stops));
  const byId = new Map<string, SearchResult>();
  for (const result of ranked) if (!byId.has(result.stop_id)) byId.set(result.stop_id, result);
  return { results: [...byId.values()], leftOut };
}

function mapLocation(location: StopPoint): RankedResult {
  if (location.type !== 'stop') throw new LeftOut('not asked for');
  const position = findPosition(location);
  return {
    matchQuality: location.matchQuality ?? 0,
    result: {
      stop_id: need(location.id, 'no identifier'),
      name: need(location.name?.trim() || findStopName(location), 'no name'),
      suburb: findLocality(location) ?? '',
      lat: position?.[0] ?? null,
      lng: position?.[1] ?? null,
      modes: sortModes(listModes(location)),
    },
  };
}

/** By match quality falling, then name, then identifier. */
function compareResults(one: RankedResult, other: RankedResult): number {
  return (
    other.matchQuality - one.matchQuality ||
    one.result.name.localeCompare(other.result.name, 'en') ||
    one.result.stop_id.localeCompare(other.result.stop_id, 'en')
  );
}

function withKnownModes(result: SearchResult, stops: Pick<StopRegister, 'get'>): SearchResult {
  return result.modes.length > 0 ? result : { ...result, modes: [...(stops.get(result.stop_id)?.modes ?? [])] };
}

export function toSearchResult({ stop_id, name, suburb, lat, lng, modes }: StopRecord): SearchResult {
  return { stop_id, name: nameWithSuburb({ name, suburb }), suburb, lat, lng, modes: [...modes] };
}
