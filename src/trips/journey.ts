import { z } from 'zod';
import { legModeSchema } from '../transit/mode.ts';
import { latitudeSchema, longitudeSchema } from '../transit/stop.ts';
import { timestampSchema } from '../transit/time.ts';

const legStop = {
  stop_id: z.string().meta({ description: 'The exact platform, stand or wharf', example: '2000337' }),
  name: z.string().meta({ description: 'Stop name without the platform', example: 'Central Station' }),
  platform: z.string().nullable().meta({ example: 'Platform 17' }),
  lat: latitudeSchema,
  lng: longitudeSchema,
};

const legSchema = z.strictObject({
  mode: legModeSchema,
  route: z.string().nullable(),
  line_name: z.string().nullable(),
  direction: z.string().nullable(),
  origin: z.strictObject({
    ...legStop,
    departs_at: timestampSchema,
    departs_at_realtime: timestampSchema.nullable(),
  }),
  destination: z.strictObject({
    ...legStop,
    arrives_at: timestampSchema,
    arrives_at_realtime: timestampSchema.nullable(),
  }),
  duration_minutes: z.int().min(0),
  distance_metres: z.int().min(0).nullable(),
  stops: z.int().min(0).meta({ description: 'Stops between the ends' }),
  is_live: z.boolean(),
  path: z.array(z.array(z.number()).length(2)).meta({ description: '`[lat, lng]` pairs' }),
  alerts: z.array(z.string()),
});

const journeySchema = z.strictObject({
  departs_at: timestampSchema,
  arrives_at: timestampSchema,
  departs_at_realtime: timestampSchema.nullable(),
  arrives_at_realtime: timestampSchema.nullable(),
  duration_minutes: z.int().min(0),
  changes: z.int().min(0),
  is_live: z.boolean(),
  legs: z.array(legSchema).min(1),
});

const stopReferenceSchema = z.strictObject({ stop_id: z.string(), name: z.string() });

export const tripsResponse = z.strictObject({
  origin: stopReferenceSchema,
  destination: stopReferenceSchema,
  retrieved_at: timestampSchema,
  journeys: z.array(journeySchema).min(1),
});

export type JourneyBody = z.infer<typeof journeySchema>;
export type LegBody = z.infer<typeof legSchema>;
