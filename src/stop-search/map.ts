import { z } from 'zod';
import type { LocationsPayload } from '../efa/payload.ts';
import { LeftOut, type LeftOutCounts, mapRecords, need } from '../efa/response/record.ts';
import { findLocality, findPosition, findStopName, readStopPoint, type StopPoint } from '../efa/stop-point.ts';
import { latitudeOrNull, longitudeOrNull } from '../transit/place.ts';

const searchResultSchema = z
  .strictObject({
    stop_id: z.string().meta({ description: 'Stop identifier', example: '212110' }),
    name: z.string().meta({ description: 'Stop name with its suburb', example: 'Epping Station, Epping' }),
    suburb: z.string().meta({ description: 'Suburb or locality; empty if unknown', example: 'Epping' }),
    lat: latitudeOrNull,
    lng: longitudeOrNull,
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
): Promise<{ results: SearchResult[]; leftOut: LeftOutCounts }> {
  const { kept, leftOut } = await mapRecords(payload.locations, readStopPoint, mapLocation);
  const ranked = kept.sort(compareResults).map(({ result }) => result);
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
