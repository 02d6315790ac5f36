import { z } from 'zod';
import { MINUTE_MS } from '../../core/clock.ts';
import { hashOf } from '../../core/own-memory.ts';
import type { IdSigner } from '../../core/signer.ts';
import { ApiError } from '../../errors/api-error.ts';
import { notIssued } from '../../errors/messages.ts';
import type { LineCatalogue } from '../../lines/lines.ts';
import { MAX_REPORT_AGE_MS, type Vehicle, type Vehicles } from '../../realtime/vehicles.ts';
import { routeOf } from '../../routes.ts';
import type { StopRegister } from '../../stops/register.ts';
import { carriageSchema, occupancySchema } from '../../transit/departure.ts';
import { type Freshness, freshFrom } from '../../transit/freshness.ts';
import { collectionTypeField, featureSchemaOf, formatParameter, toFeatureCollection } from '../../transit/geojson.ts';
import { isNamed, lineIdParameter, nullableLineIdField } from '../../transit/line-id.ts';
import { type Mode, modeSchema, modesParameter, routesParameter } from '../../transit/mode.ts';
import {
  countUpTo,
  decimalBetween,
  limitParameter,
  onlyWith,
  optional,
  type ProblemDetails,
  totalField,
  withDefault,
} from '../../transit/parameter.ts';
import {
  areSwapped,
  boundsAround,
  boundsParameter,
  distanceMetres,
  isWithin,
  latitudeSchema,
  longitudeSchema,
  middleOf,
  outsideNotice,
  type Position,
  SWAPPED,
} from '../../transit/place.ts';
import { withoutPlatform } from '../../transit/platform-label.ts';
import { runIdParameter, writeRunId } from '../../transit/run-id.ts';
import { field, flagOrNull, record, text, textOrNull } from '../../transit/schema.ts';
import { formatOrNull, formatTimestamp, timestampSchema } from '../../transit/time.ts';
import { defineOperation } from '../operation.ts';

/** Maximum size of the window in degrees: about 55 by 46 kilometres. */
const MAX_DEGREES = 0.5;
const RADIUS_METRES = 1000;
const EVERYWHERE = { south: -90, west: -180, north: 90, east: 180 };
/** The `Retry-After` while no positions are available: the shortest time between two polls of a feed. */
const RETRY_SECONDS = 15;
const ID_LENGTH = 10;

const vehiclesQuery = z
  .object({
    bbox: optional(
      boundsParameter(MAX_DEGREES),
      `The map area as \`south,west,north,east\`, at most ${MAX_DEGREES} degrees each way. Give \`bbox\`, \`lat\` and \`lng\`, \`line\`, or \`run\`.`,
      '-33.88,151.2,-33.86,151.22',
    ),
    lat: optional(decimalBetween(-90, 90), 'Latitude, EPSG:4326.', -33.8731),
    lng: optional(decimalBetween(-180, 180), 'Longitude, EPSG:4326.', 151.2069),
    radius: optional(
      countUpTo(5000),
      `Radius in metres around \`lat\` and \`lng\`; nearest vehicles first. Default ${RADIUS_METRES}. Values above 5000 count as 5000.`,
      RADIUS_METRES,
    ),
    run: optional(
      runIdParameter,
      'A `run_id`: lists the vehicle of this run, wherever it is.',
      'MSAyMDAwNzAgMCA3amQ3a3MgMDgtQi43NzUuMTcuNDkyLkIuOC45MDAzNDQ5MgtfyRWPqD8Tc',
    ),
    line: optional(
      lineIdParameter,
      'A `line_id` or short name: lists the vehicles of this line, wherever they are.',
      'train_T1',
    ),
    modes: withDefault(modesParameter, 'all'),
    routes: optional(
      routesParameter,
      'Only vehicles of these routes: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas.',
    ),
    limit: limitParameter(1000, '300', 'vehicles'),
    format: formatParameter(),
  })
  .refine(({ bbox, lat, lng, line, run }) => bbox ?? line ?? run ?? (lat !== undefined && lng !== undefined), {
    path: ['bbox'],
    message: 'Give one of: `bbox`, `lat` and `lng`, `line`, or `run`.',
    params: { isSentence: true } satisfies ProblemDetails,
  })
  .refine(...onlyWith('radius', 'lat', '`lat` and `lng`'))
  .refine(({ lat, lng }) => !areSwapped(Number(lat), Number(lng)), SWAPPED);
type VehiclesQuery = z.infer<typeof vehiclesQuery>;

const vehicleSchema = record('Vehicle', 'A vehicle and its last reported position.', {
  vehicle_id: text('Vehicle ID; stays the same during a run', 'nP3k9QzVx0'),
  lat: latitudeSchema,
  lng: longitudeSchema,
  bearing: field(
    z.int().min(0).max(359).nullable(),
    'Heading in degrees clockwise from north; null if unknown, as for all trains',
  ),
  reported_at: field(timestampSchema, 'When the vehicle reported this position, UTC'),
  mode: modeSchema,
  route: textOrNull('Short route name; null if unknown', 'T4'),
  line_id: nullableLineIdField,
  destination: textOrNull('Headsign; null if unknown', 'Bondi Junction'),
  trip_id: text('Run ID, as in `trip_id` of boards and journeys with `include=ids`', '08-B.775.17.492'),
  run_id: textOrNull('ID for `/v1/runs/{run_id}`; null if no departure of the run is known'),
  next_call: z
    .strictObject({
      stop_id: text('The platform, stand or wharf', '2000336'),
      name: textOrNull('Stop name, as in the calls of runs; null if unknown', 'Redfern Station'),
      arrives_at_realtime: field(timestampSchema.nullable(), 'Expected arrival, UTC; null if unknown'),
    })
    .nullable()
    .meta({ description: 'The next stop; null if unknown' }),
  occupancy: field(occupancySchema.nullable(), 'How full the vehicle is; null if unknown'),
  carriages: field(z.array(carriageSchema).nullable(), 'The carriages of a train, from the front; null if unknown'),
  wheelchair_accessible: flagOrNull('Whether the vehicle is wheelchair accessible; null if unknown'),
});

const featureSchema = featureSchemaOf(
  vehicleSchema.omit({ lat: true, lng: true }).meta({ description: 'The other fields of the vehicle' }),
  text('The vehicle', 'nP3k9QzVx0'),
  'vehicle',
).meta({ id: 'VehicleFeature', description: 'A vehicle as GeoJSON.' });

const vehiclesResponse = record('Vehicles', 'Vehicles in an area.', {
  retrieved_at: field(timestampSchema, 'Timestamp (UTC) of the oldest feed used'),
  vehicles: field(z.array(vehicleSchema).optional(), 'The vehicles; not with `format=geojson`'),
  type: collectionTypeField,
  features: field(z.array(featureSchema).optional(), 'The vehicles; only with `format=geojson`'),
  total: totalField('vehicles in the area', 1),
});

const exampleBody: z.infer<typeof vehiclesResponse> = {
  retrieved_at: '2026-11-20T02:00:15Z',
  vehicles: [
    {
      vehicle_id: 'Qw3t9QzVx0',
      lat: -33.87001,
      lng: 151.20633,
      bearing: null,
      reported_at: '2026-11-20T02:00:07Z',
      mode: 'train',
      route: 'T4',
      line_id: 'train_T4',
      destination: 'Bondi Junction',
      trip_id: '08-B.775.17.492',
      run_id: 'MSAyMDAwNzAgMCA3amQ3a3MgMDgtQi43NzUuMTcuNDkyLkIuOC45MDAzNDQ5MgtfyRWPqD8Tc',
      next_call: { stop_id: '2000404', name: 'Wynyard Station', arrives_at_realtime: null },
      occupancy: 'MANY_SEATS',
      carriages: [
        { position: 1, occupancy: 'MANY_SEATS' },
        { position: 2, occupancy: 'FEW_SEATS' },
      ],
      wheelchair_accessible: true,
    },
  ],
  total: 1,
};

/** `GET /v1/vehicles` */
export const createVehiclesOperation = ({
  vehicles,
  stops,
  lines,
}: {
  vehicles: Vehicles;
  stops: StopRegister;
  lines: LineCatalogue;
}) =>
  defineOperation({
    ...routeOf('listVehicles'),
    tag: 'Journeys',
    summary: 'Vehicles on a map',
    description: `Positions of vehicles in a map area, near a position, of one line or of one run, with the time of each report. Vehicles that have not reported for ${MAX_REPORT_AGE_MS / 60_000} minutes are left out. Not every vehicle reports; regional buses do not.\n\nPositions are polled only while they are requested, so the first response after a pause may take some seconds. Poll every 15 seconds, or use the stream. When upstream calls run short, positions are dropped first.`,
    query: vehiclesQuery,
    body: vehiclesResponse,
    example: { query: 'bbox=-33.88,151.2,-33.86,151.22&modes=train', body: exampleBody },
    tool: {
      description:
        'Positions of vehicles in an area, near a position, of one line or of one run, with the time of each report. To follow one vehicle to its stops use getRun.',
      defaults: { limit: '30' },
    },
    stream: {
      id: 'streamVehicles',
      summary: 'Vehicles on a map as a stream',
      description:
        'The vehicles as server-sent events. A `vehicles` event with the whole `/v1/vehicles` response is sent at the start and whenever a vehicle reports, and a comment every 15 seconds. Otherwise it works like the stream of departures. Costs one request a minute.',
    },

    async handle(query, { now, ids }) {
      if (query.run && !ids.isSigned('run', query.run.id)) throw notIssued('RUN_NOT_FOUND', 'run');
      const { lat, lng, bbox } = query;
      const near: Position | null = lat !== undefined && lng !== undefined ? [lat, lng] : null;
      const middle = near ?? (bbox ? middleOf(bbox) : null);
      const sentAt = now();
      const wanted = query.run ? { tripId: query.run.runId } : areaOf(query, near);
      const named = query.line === undefined ? null : lines.listNamed(query.line);
      const only = query.run ? [query.run] : named;
      const found = await vehicles.fetch(only ? only.map(({ mode }) => mode) : query.modes, wanted);
      const freshness = found.freshness ?? unread(vehicles.areKnown, sentAt);
      const isWanted = ({ mode, route, lineId }: Vehicle) =>
        query.modes.includes(mode) &&
        (!named || named.some((line) => lineId?.toUpperCase() === line.id.toUpperCase())) &&
        (!query.routes || (route !== null && isNamed(query.routes, { mode, route, lineId })));
      const listed = found.vehicles.filter(isWanted);
      if (near) {
        const metresTo = ({ lat, lng }: Vehicle) => distanceMetres(near, [lat, lng]);
        listed.sort((one, other) => metresTo(one) - metresTo(other));
      }
      const bodies = listed.slice(0, query.limit).map((vehicle) => toBody(vehicle, stops, ids));
      const content =
        query.format === 'geojson' ? toFeatureCollection(bodies, (one) => one.vehicle_id) : { vehicles: bodies };
      return {
        body: { retrieved_at: formatTimestamp(freshness.retrievedAt), ...content, total: listed.length },
        freshness,
        // When the first of the vehicles becomes too old to be listed.
        ...(listed.length > 0 && {
          changesAt: Math.min(...listed.map(({ reportedAt }) => reportedAt + MAX_REPORT_AGE_MS)),
        }),
        notices: [
          ...noticesOf(vehicles, found.missing, listed.length === 0 ? middle : null),
          ...lines.noticesOfUnknown(query.routes),
        ],
      };
    },
  });

/** The map area, the circle around a position or, if both are given, their intersection. */
function areaOf({ bbox = EVERYWHERE, radius = RADIUS_METRES }: VehiclesQuery, near: Position | null) {
  if (!near) return { bounds: bbox, isAt: (lat: number, lng: number) => isWithin(bbox, lat, lng) };
  const bounds = boundsAround(near, radius);
  const isNear = (at: Position) => isWithin(bounds, ...at) && distanceMetres(near, at) <= radius;
  return { bounds, isAt: (...at: Position) => isNear(at) && isWithin(bbox, ...at) };
}

/** Without position feeds an empty list is correct. Throws if feeds are configured but none has data. */
function unread(areKnown: boolean, now: number): Freshness {
  if (areKnown) {
    throw new ApiError('UPSTREAM_UNAVAILABLE', 'Vehicle positions are currently unavailable. Try again later.', {
      headers: { 'retry-after': String(RETRY_SECONDS) },
    });
  }
  return freshFrom(now, { freshMs: MINUTE_MS, staleMs: 0 });
}

function noticesOf(vehicles: Vehicles, missing: readonly Mode[], empty: Position | null) {
  if (!vehicles.areKnown) return [{ text: 'This service has no vehicle positions.' }];
  const outside = empty && outsideNotice(...empty);
  return [
    ...(missing.length > 0 ? [{ text: `Positions currently unavailable for: ${missing.join(', ')}.` }] : []),
    ...(outside ? [{ text: outside }] : []),
  ];
}

function toBody(vehicle: Vehicle, stops: StopRegister, ids: IdSigner): z.infer<typeof vehicleSchema> {
  const { key, lat, lng, bearing, reportedAt, mode, route, lineId, headsign, tripId, start } = vehicle;
  const nextCall = vehicle.findNextCall();
  const stop = nextCall && stops.get(nextCall.stopId);
  return {
    vehicle_id: hashOf(key).slice(0, ID_LENGTH),
    lat,
    lng,
    bearing,
    reported_at: formatTimestamp(reportedAt),
    mode,
    route,
    line_id: lineId,
    destination: headsign,
    trip_id: tripId,
    run_id: start && writeRunId(start, ids),
    // Trains report signals, which are not stops.
    next_call:
      nextCall && (nextCall.name !== null || stop)
        ? {
            stop_id: nextCall.stopId,
            name: nextCall.name ?? (stop && withoutPlatform(stop.name)),
            arrives_at_realtime: formatOrNull(nextCall.arrivesAt),
          }
        : null,
    occupancy: vehicle.occupancy,
    carriages: vehicle.carriages,
    wheelchair_accessible: vehicle.isAccessible,
  };
}
