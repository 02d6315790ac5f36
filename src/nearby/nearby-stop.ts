import { z } from 'zod';
import { modeSchema } from '../transit/mode.ts';
import { latitudeSchema, longitudeSchema } from '../transit/stop.ts';

const nearbyStopSchema = z.strictObject({
  stop_id: z.string(),
  name: z.string().meta({ example: 'Central Station, Sydney' }),
  distance_metres: z.int().min(0),
  lat: latitudeSchema.nullable(),
  lng: longitudeSchema.nullable(),
  modes: z.array(modeSchema),
  routes: z.array(z.never()).meta({ description: 'Reserved, always empty' }),
});

export const nearbyResponse = z.strictObject({
  location: z.strictObject({ lat: latitudeSchema, lng: longitudeSchema }),
  stops: z.array(nearbyStopSchema),
});

export type NearbyStop = z.infer<typeof nearbyStopSchema>;
