import { z } from 'zod';
import { stopCarParksField } from '../../carparks/response.ts';
import { modeSchema } from '../../transit/mode.ts';
import { latitudeOrNull, latitudeSchema, longitudeOrNull, longitudeSchema } from '../../transit/place.ts';

const nearbyStopSchema = z
  .strictObject({
    stop_id: z.string().meta({ description: 'Stop ID', example: '200060' }),
    name: z.string().meta({ description: 'Stop name with its suburb', example: 'Central Station, Sydney' }),
    distance_metres: z
      .int()
      .min(0)
      .meta({ description: 'Distance from the requested location to the nearest platform in metres', example: 240 }),
    lat: latitudeOrNull,
    lng: longitudeOrNull,
    modes: z.array(modeSchema).meta({ description: 'The modes that stop there' }),
    routes: z.array(z.string()).max(0).meta({ description: 'Reserved, always empty' }),
    children: z
      .array(z.string())
      .optional()
      .meta({
        description: 'Platforms within the radius, nearest first. Only with `include=ids`',
        example: ['2000466', '2000467'],
      }),
    carparks: stopCarParksField,
  })
  .meta({ id: 'NearbyStop', description: 'A stop near a place.' });

export const nearbyResponse = z
  .strictObject({
    location: z
      .strictObject({ lat: latitudeSchema, lng: longitudeSchema })
      .meta({ description: 'The requested location' }),
    stops: z.array(nearbyStopSchema).meta({ description: 'Sorted by distance, nearest first' }),
  })
  .meta({ id: 'NearbyStops', description: 'Stops near a place that are served.' });
