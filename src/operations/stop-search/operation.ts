import type { z } from 'zod';
import { routeOf } from '../../routes.ts';
import type { PlaceMatch } from '../../stops/matches.ts';
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

    async handle(query, context) {
      // Stops only: otherwise streets, parks and restaurants crowd out the stops.
      const { body, ...found } = await searchByName(query, context, knownStops, ['stop']);
      return { ...found, body: { query: body.query, results: body.results.map(toSearchResult) } };
    },
  });

function toSearchResult({ id, name, suburb, lat, lng, modes }: PlaceMatch): SearchResult {
  return { stop_id: id, name, suburb, lat, lng, modes };
}
