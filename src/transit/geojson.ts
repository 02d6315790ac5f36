import { z } from 'zod';
import { oneOf, withDefault } from './parameter.ts';
import { latitudeSchema, longitudeSchema } from './place.ts';
import { field, part } from './schema.ts';

const formats = oneOf(['json', 'geojson']);

/** The `format` parameter, case-insensitive because GeoJSON is usually written in capitals. `meaning` describes what `geojson` returns. */
export const formatParameter = (
  meaning = '`geojson` is a FeatureCollection of RFC 7946, in which longitude comes first.',
) =>
  withDefault(
    z.preprocess((text) => (typeof text === 'string' ? text.toLowerCase() : text), formats).meta({ ...formats.meta() }),
    'json',
    meaning,
  );

export const geoJsonConstant = <Text extends string>(text: Text) => field(z.literal(text), 'As GeoJSON has it');

/** The `type` of a response that is a collection only with `format=geojson`. */
export const collectionTypeField = field(z.literal('FeatureCollection').optional(), 'Only with `format=geojson`');

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
    geometry: part(`The position of the ${recordName}`, {
      type: geoJsonConstant('Point'),
      coordinates: field(lngLatSchema, 'Longitude and latitude in degrees'),
    }),
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
