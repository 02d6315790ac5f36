import { z } from 'zod';
import { includeParameter } from '../transit/additional-fields.ts';
import { modesParameter } from '../transit/mode.ts';
import { countUpTo, decimalBetween, describe, withDefault } from '../transit/parameter.ts';
import { areSwapped, SWAPPED } from '../transit/place.ts';
import { discOf } from './disc.ts';

export const nearbyQuery = z
  .object({
    lat: describe(decimalBetween(-90, 90), 'Latitude, EPSG:4326.', -33.8731),
    lng: describe(decimalBetween(-180, 180), 'Longitude, EPSG:4326.', 151.2069),
    radius: describe(withDefault(countUpTo(2000), '500'), 'Radius in metres. More is taken as 2000.'),
    limit: describe(withDefault(countUpTo(50), '10'), 'How many stops, the nearest first. More is taken as 50.'),
    modes: withDefault(modesParameter, 'bus'),
    include: includeParameter({ ids: '`children` to each stop.' }),
  })
  .refine(({ lat, lng }) => !areSwapped(Number(lat), Number(lng)), {
    path: ['lat'],
    message: `and lng ${SWAPPED}`,
    when: () => true,
  });

export type NearbyQuery = z.infer<typeof nearbyQuery>;

/** The request for the disc that holds the circle; `isExact` asks for the circle itself. */
export function toNearbyRequest({ lat, lng, radius }: NearbyQuery, { isExact = false } = {}) {
  return { kind: 'coord', ...(isExact ? { lat, lng, radiusMetres: radius } : discOf({ lat, lng, radius })) } as const;
}
