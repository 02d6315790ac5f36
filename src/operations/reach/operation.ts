import { z } from 'zod';
import type { FoundReach, Reach } from '../../journeys/reach.ts';
import { PRICES, routeOf } from '../../routes.ts';
import { toChoices, walkingParameters } from '../../transit/choices.ts';
import { collectionTypeField, formatParameter, geoJsonConstant, lngLatSchema } from '../../transit/geojson.ts';
import { modeSchema, modesParameter } from '../../transit/mode.ts';
import { booleanParameter, countUpTo, describe, optional, totalField, withDefault } from '../../transit/parameter.ts';
import { formatPlace, latitudeSchema, longitudeSchema, placeParameter } from '../../transit/place.ts';
import { count, field, flag, list, part, record, text, textOrNull } from '../../transit/schema.ts';
import { dateParameter, formatTimestamp, minutesBetween, timeParameter, timestampSchema } from '../../transit/time.ts';
import { defineOperation, requestedWallClock } from '../operation.ts';
import { DAY_PRICE } from '../price.ts';
import { stopReferenceSchema } from '../trips/response.ts';

const MAX_MINUTES = 90;
const MAX_STOPS = 5000;

/** Part of the descriptions of both operations. */
export const COVERED =
  'Searches the timetable with live times, so it knows only places that the timetable covers: Canberra is missing.';

/** The parameters of searches from one place to many. */
export const originQuery = z.object({
  from: describe(
    placeParameter,
    'The origin: a stop ID, the `id` of a place from `/v1/places/search`, or a position as `lat,lng`.',
    '200060',
  ),
  date: optional(dateParameter),
  time: optional(timeParameter),
  modes: withDefault(
    modesParameter,
    'all',
    `Only rides of these modes; walks are always allowed. ${modesParameter.meta()?.description}`,
  ),
  wheelchair: withDefault(
    booleanParameter,
    'false',
    'Leave out vehicles and stops known not to be wheelchair accessible, and platforms whose lift is out of service.',
  ),
  ...walkingParameters,
});

const reachQuery = z.object({
  ...originQuery.shape,
  minutes: withDefault(
    countUpTo(MAX_MINUTES),
    '30',
    `Time from \`date\` and \`time\` on, including waiting and walking. Values above ${MAX_MINUTES} count as ${MAX_MINUTES}.`,
    45,
  ),
  limit: withDefault(
    countUpTo(MAX_STOPS),
    '200',
    `Maximum number of stops. Values above ${MAX_STOPS} count as ${MAX_STOPS}. Has no effect with \`format=geojson\`.`,
  ),
  format: formatParameter(
    '`geojson` is the area within reach instead of the stops: a FeatureCollection of RFC 7946, in which longitude comes first.',
  ),
});

const reachedStopSchema = record('ReachedStop', 'A stop within reach.', {
  stop_id: text('The station, or the stop if it is in none', '201510'),
  name: text('Stop name', 'Redfern Station'),
  lat: latitudeSchema,
  lng: longitudeSchema,
  arrives_at: field(timestampSchema, 'Earliest arrival by the best-known times, UTC'),
  duration_minutes: count('Whole minutes from `departs_at` to `arrives_at`', 6),
  changes: count('Number of changes between rides', 0),
  last_ride: z
    .strictObject({
      mode: modeSchema,
      route: text('Short route name', 'T1'),
      direction: textOrNull('Headsign; null if unknown', 'Emu Plains'),
      departs_at: field(timestampSchema, 'When the ride begins, best-known, UTC'),
      arrives_at: field(timestampSchema, 'When the ride ends, best-known, UTC; a walk to the stop may follow'),
      is_live: flag('Whether the vehicle is tracked'),
    })
    .nullable()
    .meta({ description: 'The last ride to the stop; null if it is reached on foot' }),
});

const ringSchema = z.array(lngLatSchema);
const areaSchema = record('ReachedArea', 'The area within reach as GeoJSON.', {
  type: geoJsonConstant('Feature'),
  geometry: part('The area that can be reached, including walks from each stop in the time left there', {
    type: geoJsonConstant('MultiPolygon'),
    coordinates: list(
      z.array(ringSchema),
      'Polygons, each with its outer ring and its holes, as longitude and latitude in degrees',
    ),
  }),
  properties: part('The properties of the area', { minutes: field(z.int(), 'The minutes requested', 45) }),
});

const reachResponse = record('Reachable', 'What can be reached from a place.', {
  origin: stopReferenceSchema,
  departs_at: field(timestampSchema, 'Start of the search, UTC'),
  retrieved_at: field(timestampSchema, 'Timestamp (UTC) of the oldest live data used'),
  stops: field(
    z.array(reachedStopSchema).optional(),
    'The earliest arrival first, without the origin; not with `format=geojson`',
  ),
  type: collectionTypeField,
  features: field(z.array(areaSchema).optional(), 'The area; only with `format=geojson`'),
  total: totalField('stops within reach', 812),
});

const exampleBody: z.infer<typeof reachResponse> = {
  origin: { stop_id: '200060', name: 'Central Station' },
  departs_at: '2026-11-20T02:00:00Z',
  retrieved_at: '2026-11-20T02:00:12Z',
  stops: [
    {
      stop_id: '201510',
      name: 'Redfern Station',
      lat: -33.891848,
      lng: 151.198559,
      arrives_at: '2026-11-20T02:06:00Z',
      duration_minutes: 6,
      changes: 0,
      last_ride: {
        mode: 'train',
        route: 'T1',
        direction: 'Emu Plains',
        departs_at: '2026-11-20T02:03:00Z',
        arrives_at: '2026-11-20T02:06:00Z',
        is_live: true,
      },
    },
  ],
  total: 812,
};

/** `GET /v1/reachable` */
export const createReachOperation = ({ reach }: { reach: Reach }) =>
  defineOperation({
    ...routeOf('listReachable'),
    tag: 'Journeys',
    summary: 'Stops and area within reach',
    description:
      'Every stop that can be reached from a place within a number of minutes, with its earliest arrival, the changes and the last ride. Or, with `format=geojson`, the area within reach for a map. ' +
      `${COVERED}\n\nCosts one request for each ${PRICES.stopsOfOne} stops of \`limit\` or part of them, and ${PRICES.area} for the area. ${DAY_PRICE}.`,
    query: reachQuery,
    body: reachResponse,
    example: { query: 'from=200060&minutes=30&limit=1', body: exampleBody },
    tool: {
      description:
        'Stops that can be reached from a place within a number of minutes, earliest arrival first, with changes and the last ride. Answers "how far can I get in half an hour". For the journey to one of them use planTrips.',
      defaults: { limit: '50' },
    },

    async handle({ from, date, time, wheelchair, format, pace, max_walk, ...query }, { turn, now }) {
      const at = requestedWallClock({ date, time }, now());
      const isArea = format === 'geojson';
      const choices = toChoices({ pace, max_walk });
      const result = await reach.search({ ...query, from, at, isAccessible: wheelchair, choices, isArea }, turn);
      return {
        body: {
          origin: { stop_id: formatPlace(from), name: result.name ?? formatPlace(from) },
          departs_at: formatTimestamp(result.departsAt),
          retrieved_at: formatTimestamp(result.freshness.retrievedAt),
          ...(isArea
            ? toArea(result, query.minutes)
            : { stops: result.stations.map((station) => toStop(station, result)) }),
          total: result.total,
        },
        freshness: result.freshness,
        journeys: { source: 'timetable' },
      };
    },
  });

function toArea({ area }: FoundReach, minutes: number) {
  const geometry = { type: 'MultiPolygon' as const, coordinates: area ?? [] };
  return {
    type: 'FeatureCollection' as const,
    features: [{ type: 'Feature' as const, geometry, properties: { minutes } }],
  };
}

function toStop(
  { stopId, name, lat, lng, arrivesAt, changes, ride }: FoundReach['stations'][number],
  { departsAt }: FoundReach,
): z.infer<typeof reachedStopSchema> {
  return {
    stop_id: stopId,
    name,
    lat,
    lng,
    arrives_at: formatTimestamp(arrivesAt),
    duration_minutes: minutesBetween(departsAt, arrivesAt),
    changes,
    last_ride: ride && {
      mode: ride.mode,
      route: ride.route,
      direction: ride.headsign,
      departs_at: formatTimestamp(ride.departsAt),
      arrives_at: formatTimestamp(ride.arrivesAt),
      is_live: ride.asOf !== null,
    },
  };
}
