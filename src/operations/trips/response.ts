import { z } from 'zod';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import type { IdSigner } from '../../core/signer.ts';
import type { Alternative } from '../../journeys/alternatives.ts';
import {
  alertFields,
  alertIdsField,
  alertTextsField,
  cancelledField,
  carriagesField,
  delayField,
  delayFields,
  type RequestedFields,
  requestedLineIdField,
  stopAccessField,
  throughToField,
  toVehicleAccessBody,
  tripIdField,
  vehicleAccessFields,
} from '../../transit/additional-fields.ts';
import { needsBookingField } from '../../transit/booking.ts';
import { callSchema, callStop, formatRealtime, toCallBody } from '../../transit/call.ts';
import {
  CHANGE_RATINGS,
  type Change,
  countChanges,
  destinationOf,
  isCancelled,
  type Journey,
  type Leg,
  type LegEnd,
  listChanges,
  originOf,
  rateChange,
} from '../../transit/journey.ts';
import { colorsOf, legColorFields } from '../../transit/line-colour.ts';
import { legModeSchema } from '../../transit/mode.ts';
import { latitudeSchema, longitudeSchema, type Position, positionSchema } from '../../transit/place.ts';
import { toUsualBody, type Usual, usualField } from '../../transit/punctuality.ts';
import { runIdField, writeRunId } from '../../transit/run-id.ts';
import { count, field, flag, list, record, text, textOrNull } from '../../transit/schema.ts';
import { bestKnown, estimateField, formatTimestamp, minutesBetween, timestampSchema } from '../../transit/time.ts';
import { departureSchema, toDeparture } from '../departures/departure.ts';
import type { Identifiers } from '../operation.ts';
import { type JourneyRequest, writeJourneyId } from './journey-id.ts';

const legStop = { ...callStop, lat: latitudeSchema, lng: longitudeSchema };

const parentStopIdField = field(
  z.string().nullable().optional(),
  'The stop that the platform belongs to; null if the place is not a platform. Only with `include=ids`',
  '200060',
);

const alternativeSchema = departureSchema
  .omit({ cancelled: true, carriages: true, calls: true, usual: true })
  .extend({
    arrives_at: field(timestampSchema, 'Planned arrival at the end of the leg, UTC'),
    arrives_at_realtime: estimateField,
  })
  .meta({ id: 'Alternative', description: 'Another departure that does the same leg.' });

export const legSchema = record('Leg', 'One ride or one walk of a journey.', {
  mode: legModeSchema,
  route: textOrNull('Short route name; null on a walk', 'F1'),
  line_name: textOrNull('Full line name; null on a walk', 'F1 Manly'),
  direction: textOrNull('Headsign; null on a walk', 'Manly'),
  origin: record('LegOrigin', 'Where a leg starts.', {
    ...legStop,
    departs_at: field(timestampSchema, 'Planned departure, UTC'),
    departs_at_realtime: estimateField,
    delay_seconds: delayField,
    parent_stop_id: parentStopIdField,
    stop_accessible: stopAccessField,
  }),
  destination: record('LegDestination', 'Where a leg ends.', {
    ...legStop,
    arrives_at: field(timestampSchema, 'Planned arrival, UTC'),
    arrives_at_realtime: estimateField,
    delay_seconds: delayField,
    parent_stop_id: parentStopIdField,
    stop_accessible: stopAccessField,
  }),
  duration_minutes: count('Whole minutes by the best-known times', 20),
  distance_metres: field(
    z.int().min(0).nullable(),
    'Length of a walk in metres, at least the straight-line distance; null on a ride, and if unknown',
  ),
  stops: count('Number of stops between the ends, without stations that a train passes; 0 on a walk'),
  is_live: flag('Whether the vehicle is tracked; false on a walk'),
  path: list(
    positionSchema,
    '`[lat, lng]` pairs, ready for a map polyline; empty with `path=polyline` and `path=none`',
    [
      [-33.8606, 151.2116],
      [-33.8005, 151.2839],
    ],
  ),
  polyline: field(z.string().optional(), 'The path as an encoded polyline, precision 5; only with `path=polyline`'),
  alerts: list(
    z.string(),
    'Disruption notices and hints for the ride (gates that close early, carriages to board, bookings required, no fixed times) as plain text; empty if there are none',
  ),
  cancelled: cancelledField,
  line_id: requestedLineIdField,
  trip_id: tripIdField,
  run_id: runIdField,
  alert_ids: alertIdsField,
  ...legColorFields,
  on_demand: field(
    z.boolean().optional(),
    'Whether the ride must be booked and its times are indicative. Only with `include=ids`',
  ),
  ...vehicleAccessFields,
  needs_booking: needsBookingField,
  through_to: throughToField,
  carriages: carriagesField,
  calls: field(
    z.array(callSchema).nullable().optional(),
    'Stops of the vehicle in order, including both ends, without stations that it passes; empty on a walk, null if unknown. Only with `include=calls`',
  ),
  usual: usualField,
  alternatives: field(
    z.array(alternativeSchema).nullable().optional(),
    'The next two departures that do the same leg, by best-known times, live like those of `/v1/departures`. They leave no earlier than the ride and within a day of it, match the filters of the request, and miss no change of the journey. Empty on a walk and if there are none; null if the timetable lacks a stop of the ride. Only with `include=alternatives`',
  ),
});

export const changeSchema = record('ChangeRating', 'A change between two rides, and how safe it is.', {
  leg: count('Index in `legs` of the ride before the change', 0),
  next_leg: count('Index in `legs` of the ride after the change', 2),
  stop_id: text('The stop where the first ride ends', '2000351'),
  name: text('Name of that stop', 'Circular Quay'),
  rating: field(
    z.enum(CHANGE_RATINGS),
    'By best-known times, after the walk: `on_time` with at least five minutes to spare, `tight` with at least two, else `at_risk`',
  ),
  spare_minutes: field(z.int(), 'Whole minutes to spare; negative if the change is missed', 7),
  spare_seconds: field(z.int(), 'Time to spare in seconds', 474),
});

export const journeySchema = record('Journey', 'A way to get from one place to another.', {
  journey_id: field(
    z.string().nullable().optional(),
    'ID for `/v1/trips/{journey_id}`; stays valid across restarts. Null for a walk, a ride that must be booked and a journey with very many legs. Only with `include=ids`',
  ),
  departs_at: field(timestampSchema, 'Planned start, UTC'),
  arrives_at: field(timestampSchema, 'Planned end, UTC'),
  departs_at_realtime: estimateField,
  arrives_at_realtime: estimateField,
  duration_minutes: count('Whole minutes by the best-known times', 47),
  changes: count('Number of changes between rides', 1),
  is_live: flag('Whether any leg is tracked'),
  legs: field(z.array(legSchema).min(1), 'In order; each begins where the one before ended'),
  change_ratings: field(
    z.array(changeSchema).optional(),
    'The changes between rides, in order, each with the time to spare. Only with `include=changes`',
  ),
  lifts_out: z
    .array(
      z.strictObject({
        stop_id: text('Stop or platform ID', '2166271'),
        name: text('Stop name', 'Cabramatta Station'),
        alert_id: text('The alert in `/v1/alerts`', 'nP3k9QzVx0'),
      }),
    )
    .nullable()
    .optional()
    .meta({
      description:
        'Stops where the journey boards or alights and a lift is out of service; null if no alerts are known. Only with `wheelchair=true`',
    }),
  cancelled: cancelledField,
});

export const stopReferenceSchema = record('StopReference', 'A stop or place with its name.', {
  stop_id: text('As requested: a stop ID, a place `id`, or `lat,lng`', '209573'),
  name: text('Name of the stop or place; for a position its address or, if unknown, `lat,lng`', 'Manly Wharf'),
});

export const tripsResponse = record('Trips', 'Journeys between two places.', {
  origin: stopReferenceSchema,
  destination: stopReferenceSchema,
  retrieved_at: field(timestampSchema, 'When Transport for NSW responded, UTC'),
  journeys: list(
    journeySchema,
    'Sorted by best-known departure, then journeys with `lifts_out`, then cancelled ones; never empty without `cursor`',
  ),
  alert_texts: alertTextsField,
});

/** The formats of paths: coordinate pairs, an encoded polyline, or none. */
export const PATH_FORMS = ['full', 'polyline', 'none'] as const;

type Requested = RequestedFields & { path: (typeof PATH_FORMS)[number] };

export type JourneyBody = z.infer<typeof journeySchema>;
export type LegBody = z.infer<typeof legSchema>;

/** The other departures of each leg, and when `minutes_away` counts from. */
export interface Alternatives {
  of: ReadonlyMap<Leg, readonly Alternative[] | null>;
  now: number;
}

export function toJourneyBody(
  journey: Journey,
  requested: Requested & JourneyRequest,
  {
    ids,
    lines,
    alternatives,
    usual,
  }: Identifiers & { alternatives?: Alternatives | null; usual?: ReadonlyMap<Leg, Usual | null> | undefined },
): JourneyBody {
  const origin = originOf(journey);
  const destination = destinationOf(journey);
  return {
    ...(requested.include?.includes('ids') && { journey_id: writeJourneyId(journey, requested, ids) }),
    departs_at: formatTimestamp(origin.plannedAt),
    arrives_at: formatTimestamp(destination.plannedAt),
    departs_at_realtime: formatRealtime(origin),
    arrives_at_realtime: formatRealtime(destination),
    duration_minutes: minutesBetween(bestKnown(origin), bestKnown(destination)),
    changes: countChanges(journey),
    is_live: journey.legs.some((leg) => leg.isLive),
    legs: journey.legs.map((leg) => ({
      ...toLegBody(leg, requested, { ids, lines }),
      ...(usual && { usual: toUsualBody(usual.get(leg)) }),
      ...(alternatives && { alternatives: toAlternatives(leg, alternatives, requested, { ids, lines }) }),
    })),
    ...(requested.include?.includes('changes') && { change_ratings: listChanges(journey).map(toChangeBody) }),
    ...(journey.liftsOut !== undefined && { lifts_out: journey.liftsOut?.map(toLiftOut) ?? null }),
    ...(requested.cancelled === 'include' && { cancelled: isCancelled(journey) }),
  };
}

export function toChangeBody(change: Change): z.infer<typeof changeSchema> {
  const { stopId, name } = change.before.destination;
  const spare = Math.floor(change.spareMs / SECOND_MS);
  return {
    leg: change.index,
    next_leg: change.next,
    stop_id: stopId,
    name,
    rating: rateChange(change),
    spare_minutes: Math.floor(spare / 60),
    spare_seconds: spare,
  };
}

function toLiftOut({ stopId, name, alertId }: NonNullable<Journey['liftsOut']>[number]) {
  return { stop_id: stopId, name, alert_id: alertId };
}

function toLegBody(
  { origin, destination, ...leg }: Leg,
  { cancelled, include, path }: Requested,
  { ids, lines }: Identifiers,
): LegBody {
  return {
    mode: leg.mode,
    route: leg.route,
    line_name: leg.lineName,
    direction: leg.direction,
    origin: {
      ...toLegStop(origin),
      departs_at: formatTimestamp(origin.plannedAt),
      departs_at_realtime: formatRealtime(origin),
      ...endFields(origin, include),
    },
    destination: {
      ...toLegStop(destination),
      arrives_at: formatTimestamp(destination.plannedAt),
      arrives_at_realtime: formatRealtime(destination),
      ...endFields(destination, include),
    },
    duration_minutes: Math.round(leg.durationMs / MINUTE_MS),
    distance_metres: leg.distanceMetres,
    stops: leg.stops,
    is_live: leg.isLive,
    path: path === 'full' ? leg.path : [],
    ...alertFields(leg.alerts, include),
    ...(cancelled === 'include' && { cancelled: leg.isCancelled }),
    ...(include?.includes('ids') && {
      line_id: lines.findIdOf({ ...leg, stopId: origin.stopId }),
      trip_id: leg.runId,
      run_id: runIdOf(leg, origin, ids),
      on_demand: leg.isOnDemand,
    }),
    ...(include?.includes('colors') && (leg.mode === 'walk' ? NO_COLORS : colorsOf(leg.mode, leg.route))),
    ...toVehicleAccessBody(leg.access, include),
    ...(include?.includes('access') && { needs_booking: leg.needsBooking }),
    ...(include?.includes('through') && { through_to: leg.throughTo }),
    ...(include?.includes('carriages') && { carriages: leg.carriages ?? leg.listCalls()?.[0]?.carriages ?? null }),
    ...(include?.includes('calls') && { calls: leg.listCalls()?.map((call) => toCallBody(call, include)) ?? null }),
    ...(path === 'polyline' && { polyline: encodePolyline(leg.path) }),
  };
}

function toAlternatives(
  leg: Leg,
  { of, now }: Alternatives,
  { include }: Requested,
  identifiers: Identifiers,
): LegBody['alternatives'] {
  const requested = {
    cancelled: 'exclude',
    include: include?.filter((word) => word !== 'calls' && word !== 'carriages' && word !== 'usual'),
  } as const;
  const stopId = leg.origin.parentId ?? leg.origin.stopId;
  const list = of.get(leg);
  return (
    list?.map(({ departure, arrival }) => ({
      ...toDeparture(departure, now, requested, { ...identifiers, stopId }),
      arrives_at: formatTimestamp(arrival.plannedAt),
      arrives_at_realtime: formatRealtime(arrival),
    })) ?? null
  );
}

function endFields({ plannedAt, realtimeAt, parentId, isAccessible }: LegEnd, include: RequestedFields['include']) {
  return {
    ...delayFields(plannedAt, realtimeAt, include),
    ...(include?.includes('ids') && { parent_stop_id: parentId }),
    ...(include?.includes('access') && { stop_accessible: isAccessible }),
  };
}

/** Identifies the run by its departure from the stop that the platform belongs to. */
function runIdOf(
  { mode, runId }: { mode: Leg['mode']; runId: string | null },
  { stopId, parentId, plannedAt }: LegEnd,
  ids: IdSigner,
): string | null {
  if (mode === 'walk') return null;
  return writeRunId({ runId, mode, stopId: parentId ?? stopId, plannedAt }, ids);
}

const NO_COLORS = { color: null, text_color: null };

function toLegStop({ stopId, name, platform, position: [lat, lng] }: LegEnd) {
  return { stop_id: stopId, name, platform, lat, lng };
}

/** Five decimals: about a metre. */
const PRECISION = 1e5;

/** Encodes the path as a Google polyline with precision 5: differences from point to point, five bits a character. */
export function encodePolyline(path: readonly Position[]): string {
  let text = '';
  let [lastLat, lastLng] = [0, 0];
  for (const [lat, lng] of path) {
    const [roundLat, roundLng] = [Math.round(lat * PRECISION), Math.round(lng * PRECISION)];
    text += encodeNumber(roundLat - lastLat) + encodeNumber(roundLng - lastLng);
    [lastLat, lastLng] = [roundLat, roundLng];
  }
  return text;
}

/** The sign is the lowest bit. A character followed by others has bit 6 set. Adding 63 makes it printable. */
function encodeNumber(number: number): string {
  let rest = number < 0 ? ~(number << 1) : number << 1;
  let text = '';
  while (rest >= 0x20) {
    text += String.fromCharCode((0x20 | (rest & 0x1f)) + 63);
    rest >>= 5;
  }
  return text + String.fromCharCode(rest + 63);
}
