import { z } from 'zod';
import { modesParameter } from '../transit/mode.ts';
import { countUpTo, decimalBetween, withDefault } from '../transit/parameter.ts';

export const nearbyQuery = z
  .object({
    lat: decimalBetween(-90, 90),
    lng: decimalBetween(-180, 180),
    radius: withDefault(countUpTo(2000), '500'),
    limit: withDefault(countUpTo(50), '10'),
    modes: withDefault(modesParameter, 'bus'),
  })
  .refine(({ lat, lng }) => !areSwapped(Number(lat), Number(lng)), {
    path: ['lat'],
    message: 'and lng seem to be swapped: in Sydney lat is about -33.87 and lng about 151.21',
    when: () => true,
  });

export type NearbyQuery = z.infer<typeof nearbyQuery>;

export function toNearbyQuestion({ lat, lng, radius }: NearbyQuery) {
  return { lat, lng, radiusMetres: radius };
}

function areSwapped(lat: number, lng: number): boolean {
  return Math.abs(lat) > 90 && Math.abs(lat) <= 180 && Math.abs(lng) <= 90;
}
