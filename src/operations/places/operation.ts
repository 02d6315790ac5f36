import { z } from 'zod';
import { routeOf } from '../../routes.ts';
import { PLACE_TYPES } from '../../stops/matches.ts';
import { modeSchema } from '../../transit/mode.ts';
import { latitudeOrNull, longitudeOrNull } from '../../transit/place.ts';
import { field, list, record, text } from '../../transit/schema.ts';
import { defineOperation } from '../operation.ts';
import { type KnownStops, searchByName } from '../stop-search/by-name.ts';
import { placesQuery } from '../stop-search/query.ts';

const placeSchema = record('Place', 'A stop or another place whose name matches.', {
  id: text(
    'Accepted by `/v1/trips` as `from` and `to`; percent-encode it in a URL. For a stop, its stop ID',
    'poiID:858271813:95301001:-1:Central Station Hotel:Sydney:Central Station Hotel:ANY:POI:4889420:3756757:GDAV:nsw',
  ),
  type: field(
    z.enum(PLACE_TYPES),
    'A stop, a point of interest, an address with its house number, a street, or a suburb',
    'poi',
  ),
  name: text('Name with its suburb', 'Central Station Hotel, Sydney'),
  suburb: text('Suburb or locality; empty if unknown', 'Sydney'),
  lat: latitudeOrNull,
  lng: longitudeOrNull,
  modes: list(modeSchema, 'The modes of a stop, as far as they are known; else empty'),
});

const placesResponse = record('Places', 'Stops, points of interest, addresses, streets and suburbs found by name.', {
  query: text('The query as received', 'central station'),
  results: list(placeSchema, 'Sorted by match, best first'),
});

const exampleBody: z.infer<typeof placesResponse> = {
  query: 'central station',
  results: [
    {
      id: '200060',
      type: 'stop',
      name: 'Central Station, Sydney',
      suburb: 'Sydney',
      lat: -33.884024,
      lng: 151.206203,
      modes: ['train', 'metro', 'lightrail', 'bus', 'coach', 'schoolbus'],
    },
    {
      id: 'poiID:858271813:95301001:-1:Central Station Hotel:Sydney:Central Station Hotel:ANY:POI:4889420:3756757:GDAV:nsw',
      type: 'poi',
      name: 'Central Station Hotel, Sydney',
      suburb: 'Sydney',
      lat: -33.879308,
      lng: 151.209493,
      modes: [],
    },
  ],
};

/** `GET /v1/places/search` */
export const createPlacesOperation = (knownStops: KnownStops) =>
  defineOperation({
    ...routeOf('searchPlaces'),
    tag: 'Journeys',
    summary: 'Search places by name',
    description:
      'Stops, points of interest, addresses, streets and suburbs whose name matches, best match first. `/v1/trips` accepts each `id`. If Transport for NSW finds fewer than three places, stops with similar names follow.',
    query: placesQuery,
    body: placesResponse,
    example: { query: 'q=central%20station&limit=2', body: exampleBody },
    tool: {
      description:
        'Addresses, streets, suburbs, points of interest and stops whose name matches, best match first. planTrips accepts each `id` as `from` and `to`, unchanged. Other tools accept only the `id` of a stop.',
    },

    handle: (query, context) => searchByName(query, context, knownStops, PLACE_TYPES),
  });
