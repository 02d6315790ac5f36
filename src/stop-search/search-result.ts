import { z } from 'zod';
import { latitudeSchema, longitudeSchema } from '../transit/stop.ts';

const searchResultSchema = z.strictObject({
  stop_id: z.string(),
  name: z.string().meta({ example: 'Epping Station, Epping' }),
  suburb: z.string().meta({ example: 'Epping' }),
  lat: latitudeSchema.nullable(),
  lng: longitudeSchema.nullable(),
});

export const stopSearchResponse = z.strictObject({
  query: z.string().meta({ description: 'The query as received' }),
  results: z.array(searchResultSchema),
});

export type SearchResult = z.infer<typeof searchResultSchema>;
