import { z } from 'zod';
import { describe, oneOf, withDefault } from './parameter.ts';
import { latitudeSchema, longitudeSchema } from './place.ts';

const formats = oneOf(['json', 'geojson']);

/** The `format` parameter, case-insensitive because GeoJSON is usually written in capitals. `meaning` describes what `geojson` returns. */
export const formatParameter = (meaning: string) =>
  describe(
    withDefault(
      z
        .preprocess((text) => (typeof text === 'string' ? text.toLowerCase() : text), formats)
        .meta({ ...formats.meta() }),
      'json',
    ),
    meaning,
  );

export const geoJsonConstant = <Text extends string>(text: Text) =>
  z.literal(text).meta({ description: 'As GeoJSON has it' });

/** The `type` of a response that is a collection only with `format=geojson`. */
export const collectionTypeField = z.literal('FeatureCollection').optional().meta({
  description: 'Only with `format=geojson`',
});

/** GeoJSON has the longitude first. */
export const lngLatSchema = z.tuple([longitudeSchema, latitudeSchema]);

/** The schema of a record with a position as a GeoJSON feature. `properties` are its other fields; `recordName` names the record. */
export const featureSchemaOf = <Properties extends z.ZodType>(
  properties: Properties,
  id: z.ZodString,
  recordName: string,
) =>
  z.strictObject({
    type: geoJsonConstant('Feature'),
    id,
    geometry: z
      .strictObject({
        type: geoJsonConstant('Point'),
        coordinates: lngLatSchema.meta({ description: 'Longitude and latitude in degrees' }),
      })
      .meta({ description: `The position of the ${recordName}` }),
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
