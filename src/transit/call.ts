import { z } from 'zod';
import { carriagesField, delayField, delayFields, type RequestedFields } from './additional-fields.ts';
import { type Carriages, type Occupancy, occupancyFields, occupancySchema, occupancySourceField } from './departure.ts';
import { latitudeOrNull, longitudeOrNull, type Position } from './place.ts';
import { withoutG } from './region.ts';
import { field, record, text, textOrNull } from './schema.ts';
import { type CallTime, estimateField, formatTimestamp, timestampSchema } from './time.ts';

/**
 * One stop of a ride or run. The first stop has no arrival, the last one no departure. Plain data, because search threads send
 * calls as messages.
 */
export interface Call {
  stopId: string;
  name: string;
  platform: string | null;
  position: Position | null;
  arrival: CallTime | null;
  departure: CallTime | null;
  occupancy: Occupancy | null;
  /** How full it usually is, by the timetable; absent if the call is the trip planner's. */
  usualOccupancy?: Occupancy | null;
  /** Occupancy of each carriage as predicted by the feeds; absent unless requested. */
  carriages?: Carriages;
  /** Absent on rides of journeys, unless a feed reports that the call is skipped. */
  isCancelled?: boolean;
}

/** The fields that identify a stop of a leg or run. */
export const callStop = {
  stop_id: text('The exact platform, stand or wharf; for other places the requested `lat,lng` or place ID', '2000337'),
  name: text('Stop name without the platform; never null: the ID if the stop has no name', 'Central Station'),
  platform: textOrNull('Platform, stand or wharf; null if unknown', 'Platform 17'),
};

const callTimeSchema = timestampSchema.nullable();
export const callSchema = record('Call', 'One stop of a ride.', {
  ...callStop,
  lat: latitudeOrNull,
  lng: longitudeOrNull,
  arrives_at: field(callTimeSchema, 'Planned arrival, UTC; null if there is none'),
  arrives_at_realtime: estimateField,
  departs_at: field(callTimeSchema, 'Planned departure, UTC; null if there is none'),
  departs_at_realtime: estimateField,
  occupancy: field(occupancySchema.nullable(), 'How full the vehicle is there; null if unknown'),
  delay_seconds: field(
    delayField,
    'Live departure minus planned departure in seconds, at the last stop the arrival; null without live data. Only with `include=delay`',
  ),
  occupancy_source: occupancySourceField,
  carriages: carriagesField,
  cancelled: field(
    z.boolean().optional(),
    'Whether the vehicle skips this stop; in a journey, present only when it does',
  ),
});

export function toCallBody(call: Call, include: RequestedFields['include']): z.infer<typeof callSchema> {
  const { arrival, departure, isCancelled } = call;
  return {
    stop_id: call.stopId,
    name: call.name,
    platform: call.platform,
    lat: call.position?.[0] ?? null,
    lng: call.position?.[1] ?? null,
    arrives_at: arrival && formatTimestamp(arrival.plannedAt),
    arrives_at_realtime: formatRealtime(arrival),
    departs_at: departure && formatTimestamp(departure.plannedAt),
    departs_at_realtime: formatRealtime(departure),
    ...delayFields((departure ?? arrival)?.plannedAt, (departure ?? arrival)?.realtimeAt, include),
    ...occupancyFields(call, include),
    ...(include?.includes('carriages') && { carriages: call.carriages ?? null }),
    ...(isCancelled !== undefined && { cancelled: isCancelled }),
  };
}

export function formatRealtime(time: CallTime | null): string | null {
  return time?.realtimeAt ? formatTimestamp(time.realtimeAt) : null;
}

/** A call of a run, with the IDs needed to match it to a stop. */
export interface RunCall extends Call {
  isCancelled: boolean;
  /** All IDs of the stop point and of its stop. */
  ids: readonly string[];
  /** The run that the vehicle continues as after this call; absent if it does not change. */
  nextRunId?: string;
}

export function isLiveCall({ arrival, departure }: Call): boolean {
  return (arrival?.realtimeAt ?? departure?.realtimeAt ?? null) !== null;
}

/** The calls of a run around one of its departures. */
export interface RunCalls {
  /** The position of the departure's stop; null if unknown. */
  position: Position | null;
  ids: readonly string[];
  /** The calls before the departure, as far as upstream lists them. */
  before: RunCall[];
  /** The calls from the next stop to the end of the run; null if upstream's list is incomplete. */
  after: RunCall[] | null;
}

/**
 * Whether the call is at the stop or, for a station, at one of its platforms. `stopId` may be a street stop, "G" and a number.
 */
export function isCallAt({ ids }: RunCall, stopId: string): boolean {
  return ids.some((id) => withoutG(id) === withoutG(stopId));
}
