import { z } from 'zod';
import type { CarPark, CarParkSource, FoundCarParks } from '../../carparks/car-parks.ts';
import { carParkSchema, noticesOf, toCarParkBody } from '../../carparks/response.ts';
import { unknownCarPark } from '../../errors/messages.ts';
import { routeOf } from '../../routes.ts';
import type { StopRegister } from '../../stops/register.ts';
import { collectionTypeField, featureSchemaOf, formatParameter, toFeatureCollection } from '../../transit/geojson.ts';
import { countUpTo, describe, onlyWith, optional, parameterOf, requiredText } from '../../transit/parameter.ts';
import {
  boundsParameter,
  distanceMetres,
  isWithin,
  middleOf,
  outsideNotice,
  positionParameter,
} from '../../transit/place.ts';
import { field, record, text } from '../../transit/schema.ts';
import { defineOperation } from '../operation.ts';

const RADIUS_METRES = 5000;
const MAX_RADIUS_METRES = 50_000;
/** Maximum size of the window in degrees, larger than New South Wales. */
const MAX_DEGREES = 20;
/** The longest wait for new readings; after that, what is known is shown. */
const WAIT_MS = 4000;

const idParameter = parameterOf(requiredText('the ID of a car park such as 486'), (text, refuse) =>
  /^[\w-]{1,20}$/.test(text.trim()) ? text.trim() : refuse('must be the ID of a car park such as 486'),
).meta({ type: 'string', pattern: '^\\s*[\\w-]{1,20}\\s*$' });

const listQuery = z
  .object({
    near: optional(
      positionParameter,
      'A position as `lat,lng`. Lists the car parks within `radius`, nearest first.',
      '-33.8876,151.1259',
    ),
    radius: optional(
      countUpTo(MAX_RADIUS_METRES),
      `Radius in metres around \`near\`. Default ${RADIUS_METRES}. Values above ${MAX_RADIUS_METRES} count as ${MAX_RADIUS_METRES}.`,
      RADIUS_METRES,
    ),
    bbox: optional(
      boundsParameter(MAX_DEGREES),
      'A map area as `south,west,north,east`. With `near`, only car parks within both are listed.',
      '-33.95,151,-33.8,151.2',
    ),
    format: formatParameter(),
  })
  .refine(...onlyWith('radius', 'near'));

const featureSchema = featureSchemaOf(
  carParkSchema.omit({ lat: true, lng: true }).meta({ description: 'The other fields of the car park' }),
  text('ID of the car park', '486'),
  'car park',
).meta({ id: 'CarParkFeature', description: 'A car park as GeoJSON.' });

const listResponse = record('CarParks', 'Car parks at stops.', {
  carparks: field(z.array(carParkSchema).optional(), 'The car parks; not with `format=geojson`'),
  type: collectionTypeField,
  features: field(
    z.array(featureSchema).optional(),
    'The car parks whose position is known; only with `format=geojson`',
  ),
});

const exampleCarPark: z.infer<typeof carParkSchema> = {
  carpark_id: '486',
  name: 'Ashfield',
  suburb: 'Ashfield',
  address: 'Brown Street',
  lat: -33.888104,
  lng: 151.126577,
  stop_id: '213110',
  stop_name: 'Ashfield Station, Ashfield',
  capacity: 216,
  spaces_free: 180,
  trend: 'filling',
  spaces_change: -12,
  reported_at: '2026-11-20T01:58:40Z',
};

const ABOUT =
  'Free spaces, capacity and the trend of half an hour at the commuter car parks of Transport for NSW. A reading is shown for 15 minutes; after that `spaces_free` and `trend` are null, and the other fields stay. Car parks are counted by their gates, so readings drift: a full one can show a few free spaces. Only car parks that somebody requests are read, so `trend` is null until half an hour of readings is known.';

/** `GET /v1/carparks` */
export const createCarParksOperation = ({ carParks, stops }: { carParks: CarParkSource; stops: StopRegister }) =>
  defineOperation({
    ...routeOf('listCarParks'),
    tag: 'Stops',
    summary: 'Car parks',
    description: `${ABOUT}\n\nAll car parks, those near a position, or those of a map area. Ask for few: readings of up to ten car parks are renewed every 4 minutes, those of more every 10, as long as the calls of the day last.`,
    query: listQuery,
    body: listResponse,
    example: { query: 'near=-33.8876,151.1259', body: { carparks: [exampleCarPark] } },
    tool: {
      description:
        'Commuter car parks at stations: free spaces, capacity, and whether they are filling. Give `near` unless all are wanted. Spaces are null if there is no reading of the last 15 minutes.',
    },

    async handle({ near, radius = RADIUS_METRES, bbox, format }) {
      const isWanted = ({ lat, lng }: CarPark) => {
        if (!near && !bbox) return true;
        if (lat === null || lng === null) return false;
        const isNear = !near || distanceMetres(near, [lat, lng]) <= radius;
        return isNear && (!bbox || isWithin(bbox, lat, lng));
      };
      const found = await carParks.fetch(isWanted, { waitMs: WAIT_MS });
      const metresTo = ({ lat, lng }: CarPark) =>
        near && lat !== null && lng !== null ? distanceMetres(near, [lat, lng]) : 0;
      const sorted = found.carParks.sort(
        (a, b) => metresTo(a) - metresTo(b) || a.name.localeCompare(b.name, 'en', { numeric: true }),
      );
      const bodies = sorted.map((carPark) => toCarParkBody(carPark, stops));
      const placed = bodies.flatMap((body) =>
        body.lat === null || body.lng === null ? [] : { ...body, lat: body.lat, lng: body.lng },
      );
      const middle = near ?? (bbox ? middleOf(bbox) : null);
      const outside = bodies.length === 0 && middle ? outsideNotice(...middle) : null;
      return {
        ...toResult(found),
        body: format === 'geojson' ? toFeatureCollection(placed, (one) => one.carpark_id) : { carparks: bodies },
        notices: [...noticesOf(found), ...(outside ? [{ text: outside }] : [])],
      };
    },
  });

/** `GET /v1/carparks/{carpark_id}` */
export const createCarParkOperation = ({ carParks, stops }: { carParks: CarParkSource; stops: StopRegister }) =>
  defineOperation({
    ...routeOf('getCarPark'),
    tag: 'Stops',
    summary: 'A car park',
    description: ABOUT,
    query: z.object({ carpark_id: describe(idParameter, 'ID of the car park.', '486') }),
    body: carParkSchema,
    example: { query: 'carpark_id=486', body: exampleCarPark },
    tool: {
      description:
        'One commuter car park: free spaces, capacity, and whether it is filling. Find its ID with listCarParks. Spaces are null if there is no reading of the last 15 minutes.',
    },

    async handle({ carpark_id: id }) {
      const found = await carParks.get(id, { waitMs: WAIT_MS });
      const [carPark] = found?.carParks ?? [];
      if (!found || !carPark) throw unknownCarPark(id);
      return { ...toResult(found), body: toCarParkBody(carPark, stops), notices: noticesOf({ ...found, unknown: 0 }) };
    },
  });

function toResult({ freshness, changesAt }: FoundCarParks) {
  return { freshness, ...(changesAt !== undefined && { changesAt }) };
}
