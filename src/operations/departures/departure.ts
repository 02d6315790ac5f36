import { z } from 'zod';
import { MINUTE_MS } from '../../core/clock.ts';
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
import { type Call, callSchema, formatRealtime, toCallBody } from '../../transit/call.ts';
import {
  type Carriages,
  type Departure,
  isCancelled,
  leavesAt,
  occupancyFields,
  occupancySchema,
  occupancySourceField,
} from '../../transit/departure.ts';
import { colorFields, colorsOf } from '../../transit/line-colour.ts';
import { modeSchema } from '../../transit/mode.ts';
import { toUsualBody, type Usual, usualField } from '../../transit/punctuality.ts';
import { runIdField, writeRunId } from '../../transit/run-id.ts';
import { count, field, flag, list, record, text, textOrNull } from '../../transit/schema.ts';
import { formatTimestamp, timestampSchema } from '../../transit/time.ts';
import type { Identifiers } from '../operation.ts';

export const departureSchema = record('Departure', 'One vehicle leaving one stop at one time.', {
  route: text('Short route name', 'T4'),
  mode: modeSchema,
  destination: text('Headsign', 'Bondi Junction'),
  platform: textOrNull('Platform, stand or wharf; null if unknown', 'Platform 5'),
  scheduled_at: field(timestampSchema, 'Scheduled departure, UTC'),
  realtime_at: field(timestampSchema.nullable(), 'Estimated departure, UTC; null without live data'),
  minutes_away: count('Whole minutes until departure, by the best-known time, when the response is sent', 4),
  is_live: flag('Whether the vehicle is tracked'),
  wheelchair_accessible: flag(
    'Whether the vehicle is wheelchair accessible. If nothing is known about the vehicle: whether the stop is, unless an alert says otherwise',
  ),
  occupancy: field(occupancySchema.nullable(), 'How full the vehicle is; null if unknown'),
  alerts: list(
    z.string(),
    'Disruption notices, and a hint if the vehicle has no fixed times, as plain text; empty if there are none',
  ),
  delay_seconds: delayField,
  cancelled: cancelledField,
  line_id: requestedLineIdField,
  trip_id: tripIdField,
  run_id: runIdField,
  alert_ids: alertIdsField,
  ...colorFields,
  occupancy_source: occupancySourceField,
  ...vehicleAccessFields,
  stop_accessible: stopAccessField,
  through_to: throughToField,
  arrives_at: field(
    timestampSchema.nullable().optional(),
    'Planned arrival at `to`, UTC; null if unknown. Only with `to`',
  ),
  arrives_at_realtime: field(
    timestampSchema.nullable().optional(),
    'Estimated arrival at `to`, UTC; null without live data. Only with `to`',
  ),
  usual: usualField,
  carriages: carriagesField,
  calls: field(
    z.array(callSchema).nullable().optional(),
    'Stops of the vehicle from here to the end of its run, in order, including this one; null if unknown. Only with `include=calls`',
  ),
});

export const departuresResponse = record('Departures', 'Departures of one stop.', {
  stop_id: text('The requested stop ID', '200070'),
  stop_name: text('Stop name without suburb and platform; the stop ID if the stop has no name', 'Town Hall Station'),
  retrieved_at: field(timestampSchema, 'Timestamp (UTC) of the oldest live data in this response'),
  departures: list(departureSchema, 'Sorted by best-known time; empty if nothing leaves'),
  alert_texts: alertTextsField,
});

export const arrivalSchema = departureSchema
  .omit({
    through_to: true,
    run_id: true,
    arrives_at: true,
    arrives_at_realtime: true,
    carriages: true,
    calls: true,
    occupancy_source: true,
    usual: true,
  })
  .extend({
    origin: textOrNull('The first stop that the run serves today; null if unknown', 'Central Station'),
    scheduled_at: field(timestampSchema, 'Scheduled arrival, UTC'),
    realtime_at: field(timestampSchema.nullable(), 'Estimated arrival, UTC; null without live data'),
    minutes_away: count('Whole minutes until arrival, by the best-known time, when the response is sent', 4),
  })
  .meta({ id: 'Arrival', description: 'One vehicle arriving at one stop at one time.' });

export const arrivalsResponse = departuresResponse
  .omit({ departures: true, alert_texts: true })
  .extend({
    arrivals: list(arrivalSchema, 'Sorted by best-known time; empty if nothing arrives'),
    alert_texts: alertTextsField,
  })
  .meta({ id: 'Arrivals', description: 'Arrivals at one stop.' });

export type Departures = z.infer<typeof departuresResponse>;

/**
 * Maps a departure to its form in the API. `now` is when the response is sent; minutes count from then. `arrivesAt` is the call
 * at the caller's destination, `stopId` the requested stop.
 */
export function toDeparture(
  departure: Departure,
  now: number,
  { cancelled, include }: RequestedFields,
  {
    calls = null,
    carriages = null,
    arrivesAt,
    stopId = departure.stopId,
    usual,
    ids,
    lines,
  }: Identifiers & {
    calls?: readonly Call[] | null;
    carriages?: Carriages;
    arrivesAt?: Call | undefined;
    stopId?: string;
    usual?: Usual | null | undefined;
  },
): z.infer<typeof departureSchema> {
  const { plannedAt, state } = departure;
  const bestKnown = leavesAt(departure);
  const isLive = state.kind === 'live';
  return {
    route: departure.route,
    mode: departure.mode,
    destination: departure.destination,
    platform: departure.platform,
    scheduled_at: formatTimestamp(plannedAt),
    realtime_at: isLive ? formatTimestamp(bestKnown) : null,
    minutes_away: Math.max(0, Math.floor((bestKnown - now) / MINUTE_MS)),
    is_live: isLive,
    wheelchair_accessible: departure.isWheelchairAccessible,
    ...delayFields(plannedAt, isLive ? bestKnown : null, include),
    ...occupancyFields(departure, include),
    ...alertFields(departure.alerts, include),
    ...(cancelled === 'include' && { cancelled: isCancelled(departure) }),
    ...(include?.includes('ids') && {
      line_id: lines.findIdOf(departure),
      trip_id: departure.runId,
      run_id: writeRunId({ ...departure, stopId }, ids),
    }),
    ...(include?.includes('colors') && colorsOf(departure.mode, departure.route)),
    ...toVehicleAccessBody(departure.access, include),
    ...(include?.includes('access') && { stop_accessible: departure.isStopAccessible }),
    ...(include?.includes('through') && { through_to: departure.throughTo ?? null }),
    ...(arrivesAt && arrivalAt(arrivesAt)),
    ...(include?.includes('usual') && { usual: toUsualBody(usual) }),
    ...(include?.includes('carriages') && { carriages: isCancelled(departure) ? null : carriages }),
    ...(include?.includes('calls') && { calls: calls?.map((call) => toCallBody(call, include)) ?? null }),
  };
}

/** Maps a vehicle on a board of arrivals, as `toDeparture` does for departures. */
export function toArrival(
  arrival: Departure,
  now: number,
  requested: RequestedFields,
  identifiers: Identifiers,
): z.infer<typeof arrivalSchema> {
  // A run is identified by one of its departures, so an arrival cannot have a `run_id`.
  const { route, mode, destination, run_id: _, ...others } = toDeparture(arrival, now, requested, identifiers);
  return { route, mode, destination, origin: arrival.origin ?? null, ...others };
}

function arrivalAt({ arrival, departure }: Call) {
  const time = arrival ?? departure;
  return {
    arrives_at: time && formatTimestamp(time.plannedAt),
    arrives_at_realtime: formatRealtime(time),
  };
}

/** When a `minutes_away` next changes or a departure drops off the board, in milliseconds since 1970. */
export function nextMinuteAway(departures: readonly Departure[], now: number): number {
  const changes = departures.map((departure) => {
    const leaves = leavesAt(departure);
    const minutesAway = Math.max(-1, Math.floor((leaves - now) / MINUTE_MS));
    return leaves - minutesAway * MINUTE_MS + 1;
  });
  return Math.min(...changes.filter((change) => change > now));
}
