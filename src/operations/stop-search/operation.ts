import type { z } from 'zod';
import { routeOf } from '../../routes.ts';
import type { PlaceMatch } from '../../stops/matches.ts';
import type { StopLookup } from '../../stops/register.ts';
import { nameWithSuburb, type StopRecord } from '../../stops/table.ts';
import { modeSchema } from '../../transit/mode.ts';
import { latitudeOrNull, longitudeOrNull } from '../../transit/place.ts';
import { list, record, text } from '../../transit/schema.ts';
import { defineOperation } from '../operation.ts';
import { type KnownStops, searchByName } from './by-name.ts';
import { stopSearchQuery } from './query.ts';

const searchResultSchema = record('SearchResult', 'A stop whose name matches.', {
  stop_id: text('Stop ID', '212110'),
  name: text('Stop name with its suburb', 'Epping Station, Epping'),
  suburb: text('Suburb or locality; an empty string if unknown', 'Epping'),
  lat: latitudeOrNull,
  lng: longitudeOrNull,
  modes: list(modeSchema, 'The modes that stop there; an empty list if unknown'),
});

export const stopSearchResponse = record('SearchResults', 'Stops found by name.', {
  query: text('The query as received', 'town hall'),
  results: list(searchResultSchema, 'Sorted by match, best first'),
});

export type SearchResults = z.infer<typeof stopSearchResponse>;
export type SearchResult = z.infer<typeof searchResultSchema>;

const exampleBody: z.infer<typeof stopSearchResponse> = {
  query: 'town hall',
  results: [
    {
      stop_id: '200070',
      name: 'Town Hall Station, Sydney',
      suburb: 'Sydney',
      lat: -33.873844,
      lng: 151.206956,
      modes: ['train', 'lightrail'],
    },
  ],
};

/** `GET /v1/stops/search` */
export const createStopSearchOperation = (knownStops: KnownStops) =>
  defineOperation({
    ...routeOf('searchStops'),
    tag: 'Stops',
    summary: 'Search stops by name',
    description:
      'Stops whose name matches, best match first. Only stops: no streets, suburbs or points of interest. If Transport for NSW finds fewer than three, stops with similar names follow; these allow typos, missing spaces and abbreviations.',
    query: stopSearchQuery,
    body: stopSearchResponse,
    example: { query: 'q=town%20hall', body: exampleBody },
    tool: {
      description:
        'Stops whose name matches a text, best match first; typos are allowed. Pass a `stop_id` to the other tools. Finds stations, wharves and bus stops, but no addresses, suburbs or points of interest: for those use searchPlaces, or getNearbyStops with a position.',
    },

    handle: (query, context) =>
      searchByName(query, context, {
        known: knownStops,
        // Stops only: otherwise streets, parks and restaurants crowd out the stops.
        types: ['stop'],
        fromMatch: (match) => withKnown(match, knownStops.stops),
        fromKnown: toSearchResult,
        idOf: ({ stop_id }) => stop_id,
      }),
  });

/** Fills in fields that upstream leaves out, from the register. */
function withKnown({ id, name, suburb, lat, lng, modes }: PlaceMatch, stops: StopLookup): SearchResult {
  const registered = modes.length > 0 && suburb !== '' ? null : stops.get(id);
  return {
    stop_id: id,
    name,
    suburb: suburb || (registered?.suburb ?? ''),
    lat,
    lng,
    modes: modes.length > 0 ? modes : [...(registered?.modes ?? [])],
  };
}

function toSearchResult(stop: StopRecord): SearchResult {
  const { stop_id, suburb, lat, lng, modes } = stop;
  return { stop_id, name: nameWithSuburb(stop), suburb, lat, lng, modes: [...modes] };
}
