import { z } from 'zod';
import { latitudeOrNull, longitudeOrNull } from '../transit/stop.ts';

const searchResultSchema = z
  .strictObject({
    stop_id: z.string().meta({ description: 'Stop identifier', example: '212110' }),
    name: z.string().meta({ description: 'Stop name with its suburb', example: 'Epping Station, Epping' }),
    suburb: z.string().meta({ description: 'Suburb or locality; empty if unknown', example: 'Epping' }),
    lat: latitudeOrNull,
    lng: longitudeOrNull,
  })
  .meta({ id: 'SearchResult', description: 'A stop whose name matches.' });

export const stopSearchResponse = z
  .strictObject({
    query: z.string().meta({ description: 'The query as received', example: 'town hall' }),
    results: z.array(searchResultSchema).meta({ description: 'The best match first' }),
  })
  .meta({ id: 'SearchResults', description: 'Stops found by name.' });

export type SearchResult = z.infer<typeof searchResultSchema>;
