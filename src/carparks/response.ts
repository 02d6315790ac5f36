import { z } from 'zod';
import { MINUTE_MS } from '../core/clock.ts';
import { ApiError } from '../errors/api-error.ts';
import type { StopLookup } from '../stops/register.ts';
import { nameWithSuburb } from '../stops/table.ts';
import { type Freshness, oldestOf } from '../transit/freshness.ts';
import { latitudeOrNull, longitudeOrNull } from '../transit/place.ts';
import { field, record, text, textOrNull } from '../transit/schema.ts';
import { formatOrNull, timestampSchema } from '../transit/time.ts';
import { type CarPark, type CarParkSource, type FoundCarParks, MAX_READING_AGE_MS } from './car-parks.ts';

const MAX_AGE_MINUTES = MAX_READING_AGE_MS / 60_000;
const TOO_OLD = `null without a reading of the last ${MAX_AGE_MINUTES} minutes`;

export const carParkSchema = record('CarPark', 'A car park at a stop, with its last reading.', {
  carpark_id: text('ID of the car park', '486'),
  name: text('Name of the car park', 'Ashfield'),
  suburb: text('Suburb or locality; empty if unknown', 'Ashfield'),
  address: text('Street of the entrance; empty if unknown', 'Brown Street'),
  lat: latitudeOrNull,
  lng: longitudeOrNull,
  stop_id: textOrNull('The stop that it belongs to; null if unknown', '213110'),
  stop_name: textOrNull('Name of that stop; null if unknown', 'Ashfield Station, Ashfield'),
  capacity: field(z.int().min(0).nullable(), 'Number of spaces; null if unknown', 216),
  spaces_free: field(z.int().min(0).nullable(), `Free spaces, from 0 to \`capacity\`; ${TOO_OLD}`, 180),
  trend: field(
    z.enum(['filling', 'emptying', 'steady']).nullable(),
    'The last half hour: `steady` if less than 2 % of the spaces changed. Null without a reading of half an hour ago',
  ),
  spaces_change: field(
    z.int().nullable(),
    'Number of free spaces now, less that of half an hour ago; null if `trend` is',
    -12,
  ),
  reported_at: field(
    timestampSchema.nullable(),
    'When the car park last reported, however long ago, UTC; null if unknown',
  ),
});

export type CarParkBody = z.infer<typeof carParkSchema>;

export const stopCarParksField = field(
  z.array(carParkSchema).nullable().optional(),
  'Car parks of the stop; null if currently unknown. Only with `include=carparks`',
);

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
    reported_at: formatOrNull(reportedAt),
  };
}

/** How long a response about stops waits for car parks, which are only an addition. */
const STOP_WAIT_MS = 1500;

/** If car parks could not be found, they are looked up again after this time. */
const INCOMPLETE_FRESH_MS = MINUTE_MS;

/** Adds `carparks` to stops; null with a notice while they are unknown. A platform gets the car parks of its station. */
export async function withCarParks<Stop extends { stop_id: string }>(
  listed: readonly Stop[],
  freshness: Freshness,
  { carParks, stops, now }: { carParks: CarParkSource | null; stops: StopLookup; now: () => number },
) {
  const stationOf = (stopId: string) => stops.get(stopId)?.parent_id ?? stopId;
  const stations = new Set(listed.map(({ stop_id }) => stationOf(stop_id)));
  const isWanted = ({ stopId }: CarPark) => stopId !== null && stations.has(stationOf(stopId));
  const without = (text: string) => {
    const freshUntil = now() + INCOMPLETE_FRESH_MS;
    return {
      stops: listed.map((stop) => ({ ...stop, carparks: null })),
      notices: [{ text }],
      freshness: { ...freshness, freshUntil, staleUntil: freshUntil },
    };
  };
  if (!carParks) return without('This service has no car parks.');
  try {
    const found = await carParks.fetch(isWanted, { waitMs: STOP_WAIT_MS });
    const bodies = found.carParks.map((carPark) => toCarParkBody(carPark, stops));
    return {
      stops: listed.map((stop) => ({
        ...stop,
        carparks: bodies.filter(({ stop_id }) => stop_id && stationOf(stop_id) === stationOf(stop.stop_id)),
      })),
      notices: noticesOf(found),
      freshness: oldestOf(freshness, found.freshness),
      ...(found.changesAt !== undefined && { changesAt: found.changesAt }),
    };
  } catch (error) {
    if (error instanceof ApiError) return without(error.message);
    throw error;
  }
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
