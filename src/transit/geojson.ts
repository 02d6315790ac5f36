import { z } from 'zod';
import { latitudeSchema, longitudeSchema } from './place.ts';

const fixed = <Text extends string>(text: Text) => z.literal(text).meta({ description: 'As GeoJSON has it' });

/** The schema of a record with a position as a GeoJSON feature. `properties` are its other fields; `of` names the record. */
export const featureSchemaOf = <Properties extends z.ZodType>(properties: Properties, id: z.ZodString, of: string) =>
  z.strictObject({
    type: fixed('Feature'),
    id,
    geometry: z
      .strictObject({
        type: fixed('Point'),
        coordinates: z
          .tuple([longitudeSchema, latitudeSchema])
          .meta({ description: 'Longitude and latitude in degrees' }),
      })
      .meta({ description: `The position of the ${of}` }),
    properties,
  });

export function toFeatureCollection<Item extends { lat: number; lng: number }>(
  records: readonly Item[],
  idOf: (record: Item) => string,
) {
  const features = records.map((record) => {
    const { lat, lng, ...properties } = record;
    return {
      type: 'Feature' as const,
      id: idOf(record),
      geometry: { type: 'Point' as const, coordinates: [lng, lat] as [number, number] },
      properties,
    };
  });
  return { type: 'FeatureCollection' as const, features };
}
