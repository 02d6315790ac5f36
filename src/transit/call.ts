import { z } from 'zod';
import { type AskedFields, carriagesField } from './additional-fields.ts';
import { type Carriages, type Occupancy, occupancySchema } from './departure.ts';
import { latitudeOrNull, longitudeOrNull, type Position } from './place.ts';
import { withoutG } from './region.ts';
import { formatTimestamp, timestampSchema } from './time.ts';

/** When a vehicle arrives or departs, in milliseconds since 1970. */
interface CallTime {
  plannedAt: number;
  /** Null without live data. */
  realtimeAt: number | null;
}

/**
 * One stop of a ride or of a run. Upstream has no arrival where the run begins and no departure where it ends. Plain data,
 * because calls are kept as JSON.
 */
export interface Call {
  stopId: string;
  name: string;
  platform: string | null;
  position: Position | null;
  arrival: CallTime | null;
  departure: CallTime | null;
  occupancy: Occupancy | null;
  /** The carriages as the feeds predict them; absent unless they were looked for. */
  carriages?: Carriages;
  /** Absent on the rides of journeys, unless a feed says that the call is left out. */
  isCancelled?: boolean;
}

/** The fields by which a stop of a leg or of a run is told. */
export const callStop = {
  stop_id: z.string().meta({
    description: 'The exact platform, stand or wharf; at another place what was asked for: `lat,lng` or its id',
    example: '2000337',
  }),
  name: z.string().meta({
    description: 'Stop name without the platform; never null: the identifier where the authority names none',
    example: 'Central Station',
  }),
  platform: z
    .string()
    .nullable()
    .meta({ description: 'Platform, stand or wharf; null if unknown', example: 'Platform 17' }),
};

const callTimeSchema = timestampSchema.nullable();
export const callSchema = z
  .strictObject({
    ...callStop,
    lat: latitudeOrNull,
    lng: longitudeOrNull,
    arrives_at: callTimeSchema.meta({ description: 'Planned arrival, UTC; null where the authority has none' }),
    arrives_at_realtime: callTimeSchema.meta({ description: 'Estimate, UTC; null without live data' }),
    departs_at: callTimeSchema.meta({ description: 'Planned departure, UTC; null where the authority has none' }),
    departs_at_realtime: callTimeSchema.meta({ description: 'Estimate, UTC; null without live data' }),
    occupancy: occupancySchema.nullable().meta({ description: 'How full the vehicle is there; null if unknown' }),
    carriages: carriagesField,
    cancelled: z.boolean().optional().meta({
      description: 'Whether the vehicle leaves out this stop; in a journey that is planned only where it does',
    }),
  })
  .meta({ id: 'Call', description: 'One stop of a ride.' });

export function toCallBody(call: Call, include: AskedFields['include']): z.infer<typeof callSchema> {
  const { arrival, departure, isCancelled } = call;
  return {
    stop_id: call.stopId,
    name: call.name,
    platform: call.platform,
    lat: call.position?.[0] ?? null,
    lng: call.position?.[1] ?? null,
    arrives_at: arrival && formatTimestamp(new Date(arrival.plannedAt)),
    arrives_at_realtime: formatRealtime(arrival),
    departs_at: departure && formatTimestamp(new Date(departure.plannedAt)),
    departs_at_realtime: formatRealtime(departure),
    occupancy: call.occupancy,
    ...(include?.includes('carriages') && { carriages: call.carriages ?? null }),
    ...(isCancelled !== undefined && { cancelled: isCancelled }),
  };
}

export function formatRealtime(time: CallTime | null): string | null {
  return time?.realtimeAt ? formatTimestamp(new Date(time.realtimeAt)) : null;
}

/** A call of a run. */
export interface RunCall extends Call {
  isCancelled: boolean;
  /** Every identifier of the point and of its stop. */
  ids: readonly string[];
  /** The run that the vehicle goes on as from here; absent where it stays the same. */
  nextRunId?: string;
}

/** The calls of a run around one of its departures. */
export interface RunCalls {
  /** The position of the departure; null if unknown. */
  position: Position | null;
  ids: readonly string[];
  /** The calls before the departure, as far as upstream lists them. */
  before: RunCall[];
  /** The calls from the next stop to the end of the run. Null where upstream does not list all of them. */
  after: RunCall[] | null;
}

/** Whether the call is at the stop: a station is called at where one of its platforms is. A street stop is called "G" and a number. */
export function isCallAt({ ids }: RunCall, stopId: string): boolean {
  return ids.some((id) => withoutG(id) === withoutG(stopId));
}
