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
import { defineOperation } from '../operation.ts';
import { nearness } from '../stops/name-search.ts';
import { nameWithSuburb, type StopRecord } from '../stops/table.ts';
import { modeSchema, sortModes } from '../transit/mode.ts';
import { formatPlace, latitudeOrNull, longitudeOrNull, type Position, placeParameter } from '../transit/place.ts';
import { findByName, type KnownStops } from './by-name.ts';
import { NEARNESS_OF_MATCHES } from './map.ts';
import { placesQuery } from './query.ts';

const TYPES = ['stop', 'poi', 'address', 'street', 'suburb'] as const;
type PlaceType = (typeof TYPES)[number];
/** What upstream calls them. */
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

const placeSchema = z
  .strictObject({
    id: z.string().meta({
      description: 'Taken by `/v1/trips` as `from` and `to`, percent-encoded in a URL; of a stop its identifier',
      example:
        'poiID:858271813:95301001:-1:Central Station Hotel:Sydney:Central Station Hotel:ANY:POI:4889420:3756757:GDAV:nsw',
    }),
    type: z.enum(TYPES).meta({
      description: 'A stop, a point of interest, an address with its house number, a street, or a suburb',
      example: 'poi',
    }),
    name: z.string().meta({ description: 'Name with its suburb', example: 'Central Station Hotel, Sydney' }),
    suburb: z.string().meta({ description: 'Suburb or locality; empty if unknown', example: 'Sydney' }),
    lat: latitudeOrNull,
    lng: longitudeOrNull,
    modes: z.array(modeSchema).meta({ description: 'The modes of a stop, as far as they are known; else empty' }),
  })
  .meta({ id: 'Place', description: 'A stop or another place whose name matches.' });

const placesResponse = z
  .strictObject({
    query: z.string().meta({ description: 'The query as received', example: 'central station' }),
    results: z.array(placeSchema).meta({ description: 'The best match first' }),
  })
  .meta({ id: 'Places', description: 'Stops, points of interest, addresses, streets and suburbs found by name.' });

type PlaceFound = z.infer<typeof placeSchema>;

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
export const createPlacesOperation = (known: KnownStops) =>
  defineOperation({
    id: 'searchPlaces',
    path: '/v1/places/search',
    tag: 'Journeys',
    summary: 'Places by name',
    description:
      'Stops, points of interest, addresses, streets and suburbs whose name matches, the best match first; the `id` of each is taken by `/v1/trips`. Where the authority finds fewer than three places, stops with similar names follow.',
    query: placesQuery,
    body: placesResponse,
    errors: [],
    example: { query: 'q=central%20station&limit=2', body: exampleBody },
    tool: {
      description:
        'Addresses, streets, suburbs, sights and stops whose name matches a text, the best match first. planTrips takes the `id` of each as `from` and `to`, exactly as it is; only that of a stop works elsewhere.',
    },

    find: (query, context) =>
      findByName(query, context, {
        known,
        read: (payload) => mapPlaces(payload, query.near),
        idOf: ({ id }) => id,
        toHit: toPlace,
        areStops: false,
      }),
  });

/** Each place once, the best match first. Upstream lists them in no useful order. */
async function mapPlaces(
  payload: LocationsPayload,
  near: Position | undefined,
): Promise<{ results: PlaceFound[]; leftOut: LeftOutCounts }> {
  const { kept, leftOut } = await mapRecords(payload.locations, readStopPoint, mapPlace);
  const ranked = kept.map(({ match, place }) => {
    const isPlaced = near && place.lat !== null && place.lng !== null;
    return {
      place,
      match: isPlaced ? match * nearness(near, [place.lat, place.lng] as Position, NEARNESS_OF_MATCHES) : match,
    };
  });
  ranked.sort(
    (one, other) =>
      other.match - one.match ||
      TYPES.indexOf(one.place.type) - TYPES.indexOf(other.place.type) ||
      one.place.name.localeCompare(other.place.name, 'en') ||
      one.place.id.localeCompare(other.place.id, 'en'),
  );
  const byId = new Map<string, PlaceFound>();
  for (const { place } of ranked) if (!byId.has(place.id)) byId.set(place.id, place);
  return { results: [...byId.values()], leftOut };
}

function mapPlace(location: StopPoint): { match: number; place: PlaceFound } {
  const type = TYPE_OF_UPSTREAM.get(location.type);
  // Platforms of a stop, and kinds of places that nobody has seen yet.
  if (!type) throw new LeftOut('not asked for');
  const position = findPosition(location);
  return {
    match: (location.matchQuality ?? 0) / (type === 'stop' ? BEST_MATCH.stop : BEST_MATCH.other),
    place: {
      id: need(usableId(location.id, position), 'no identifier'),
      type,
      name: need(location.name?.trim() || findStopName(location), 'no name'),
      suburb: findLocality(location) ?? '',
      lat: position?.[0] ?? null,
      lng: position?.[1] ?? null,
      modes: type === 'stop' ? sortModes(listModes(location)) : [],
    },
  };
}

/** What `/v1/trips` takes: the identifier, else the position. */
function usableId(id: string | undefined, position: Position | null): string | null {
  const read = placeParameter.safeParse(id);
  if (read.success && read.data === id) return id;
  return position && formatPlace(position);
}

function toPlace({ stop_id, name, suburb, lat, lng, modes }: StopRecord): PlaceFound {
  return { id: stop_id, type: 'stop', name: nameWithSuburb({ name, suburb }), suburb, lat, lng, modes: [...modes] };
}
