import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { StopLookup } from '../stops/register.ts';
import { nameWithSuburb } from '../stops/table.ts';
import { latitudeOrNull, longitudeOrNull } from '../transit/place.ts';
import { formatTimestamp, timestampSchema } from '../transit/time.ts';
import { type CarPark, type CarParkSource, type FoundCarParks, MAX_READING_AGE_MS } from './car-parks.ts';

const MAX_AGE_MINUTES = MAX_READING_AGE_MS / 60_000;
const TOO_OLD = `null without a reading of the last ${MAX_AGE_MINUTES} minutes`;

export const carParkSchema = z
  .strictObject({
    carpark_id: z.string().meta({ description: 'ID of the car park', example: '486' }),
    name: z.string().meta({ description: 'Name of the car park', example: 'Ashfield' }),
    suburb: z.string().meta({ description: 'Suburb or locality; empty if unknown', example: 'Ashfield' }),
    address: z.string().meta({ description: 'Street of the entrance; empty if unknown', example: 'Brown Street' }),
    lat: latitudeOrNull,
    lng: longitudeOrNull,
    stop_id: z
      .string()
      .nullable()
      .meta({ description: 'The stop that it belongs to; null if unknown', example: '213110' }),
    stop_name: z
      .string()
      .nullable()
      .meta({ description: 'Name of that stop; null if unknown', example: 'Ashfield Station, Ashfield' }),
    capacity: z.int().min(0).nullable().meta({ description: 'Number of spaces; null if unknown', example: 216 }),
    spaces_free: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: `Free spaces, from 0 to \`capacity\`; ${TOO_OLD}`, example: 180 }),
    trend: z.enum(['filling', 'emptying', 'steady']).nullable().meta({
      description:
        'The last half hour: `steady` if less than 2 % of the spaces changed. Null without a reading of half an hour ago',
    }),
    spaces_change: z.int().nullable().meta({
      description: 'Number of free spaces now, less that of half an hour ago; null if `trend` is',
      example: -12,
    }),
    reported_at: timestampSchema
      .nullable()
      .meta({ description: 'When the car park last reported, however long ago, UTC; null if unknown' }),
  })
  .meta({ id: 'CarPark', description: 'A car park at a stop, with its last reading.' });

export type CarParkBody = z.infer<typeof carParkSchema>;

export const stopCarParksField = z
  .array(carParkSchema)
  .nullable()
  .optional()
  .meta({ description: 'Car parks of the stop; null if currently unknown. Only with `include=carparks`' });

export const CAR_PARKS_ADDED = '`carparks`, the car parks of each stop with their free spaces.';

export function toCarParkBody(carPark: CarPark, stops: StopLookup): CarParkBody {
  const { id, name, suburb, address, lat, lng, stopId, capacity, spacesFree, trend, spacesChange, reportedAt } =
    carPark;
  const stop = stopId === null ? null : stops.get(stopId);
  return {
    carpark_id: id,
    name,
    suburb,
    address,
    lat,
    lng,
    stop_id: stopId,
    stop_name: stop && nameWithSuburb(stop),
    capacity,
    spaces_free: spacesFree,
    trend,
    spaces_change: spacesChange,
    reported_at: reportedAt === null ? null : formatTimestamp(reportedAt),
  };
}

/** How long a response about stops waits for car parks, which are only an addition. */
const STOP_WAIT_MS = 1500;

/** Adds `carparks` to stops; null with a notice while they are unknown. A platform gets the car parks of its station. */
export async function withCarParks<Stop extends { stop_id: string }>(
  listed: readonly Stop[],
  { carParks, stops }: { carParks: CarParkSource | null; stops: StopLookup },
) {
  const stationOf = (stopId: string) => stops.get(stopId)?.parent_id ?? stopId;
  const stations = new Set(listed.map(({ stop_id }) => stationOf(stop_id)));
  const isWanted = ({ stopId }: CarPark) => stopId !== null && stations.has(stationOf(stopId));
  if (!carParks) return without(listed, 'This service has no car parks.');
  try {
    const found = await carParks.fetch(isWanted, { waitMs: STOP_WAIT_MS });
    const bodies = found.carParks.map((carPark) => toCarParkBody(carPark, stops));
    return {
      stops: listed.map((stop) => ({
        ...stop,
        carparks: bodies.filter(({ stop_id }) => stop_id && stationOf(stop_id) === stationOf(stop.stop_id)),
      })),
      found,
      notices: noticesOf(found),
    };
  } catch (error) {
    if (error instanceof ApiError) return without(listed, error.message);
    throw error;
  }
}

function without<Stop>(listed: readonly Stop[], text: string) {
  return { stops: listed.map((stop) => ({ ...stop, carparks: null })), found: null, notices: [{ text }] };
}

/** Notices for callers: why car parks or readings are missing. */
export function noticesOf({ unknown, freshness }: FoundCarParks) {
  return [
    ...(unknown > 0
      ? [{ text: `${unknown} car parks are not described yet and missing here. Try again in some seconds.` }]
      : []),
    ...(freshness.shortage !== null
      ? [{ text: `Car parks report nothing new right now: readings are shown for ${MAX_AGE_MINUTES} minutes.` }]
      : []),
  ];
}
