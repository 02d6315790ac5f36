import { z } from 'zod';
import { modeSchema } from '../../transit/mode.ts';
import { latitudeOrNull, latitudeSchema, longitudeOrNull, longitudeSchema } from '../../transit/place.ts';

const nearbyStopSchema = z
  .strictObject({
    stop_id: z.string().meta({ description: 'Stop identifier', example: '200060' }),
    name: z.string().meta({ description: 'Stop name with its suburb', example: 'Central Station, Sydney' }),
    distance_metres: z.int().min(0).meta({ description: 'Metres from the asked location', example: 240 }),
    lat: latitudeOrNull,
    lng: longitudeOrNull,
    modes: z.array(modeSchema).meta({ description: 'What stops there' }),
    routes: z.array(z.string()).max(0).meta({ description: 'Reserved, always empty' }),
    children: z
      .array(z.string())
      .optional()
      .meta({
        description: 'Its platforms within the radius, the nearest first; only with `include=ids`',
        example: ['2000466', '2000467'],
      }),
  })
  .meta({ id: 'NearbyStop', description: 'A stop around a place.' });

export const nearbyResponse = z
  .strictObject({
    location: z
      .strictObject({ lat: latitudeSchema, lng: longitudeSchema })
      .meta({ description: 'The location that was asked for' }),
    stops: z.array(nearbyStopSchema).meta({ description: 'The nearest first' }),
  })
  .meta({ id: 'NearbyStops', description: 'The stops around a place at which something departs.' });
