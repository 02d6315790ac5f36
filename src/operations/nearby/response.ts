import { z } from 'zod';
import { stopCarParksField } from '../../carparks/response.ts';
import { modeSchema } from '../../transit/mode.ts';
import { latitudeOrNull, latitudeSchema, longitudeOrNull, longitudeSchema } from '../../transit/place.ts';
import { count, field, list, part, record, text } from '../../transit/schema.ts';

const nearbyStopSchema = record('NearbyStop', 'A stop near a place.', {
  stop_id: text('Stop ID', '200060'),
  name: text('Stop name with its suburb', 'Central Station, Sydney'),
  distance_metres: count('Distance from the requested location to the nearest platform in metres', 240),
  lat: latitudeOrNull,
  lng: longitudeOrNull,
  modes: list(modeSchema, 'The modes that stop there'),
  routes: field(z.array(z.string()).max(0), 'Reserved, always empty'),
  children: field(
    z.array(z.string()).optional(),
    'Platforms within the radius, nearest first. Only with `include=ids`',
    ['2000466', '2000467'],
  ),
  carparks: stopCarParksField,
});

export const nearbyResponse = record('NearbyStops', 'Stops near a place that are served.', {
  location: part('The requested location', { lat: latitudeSchema, lng: longitudeSchema }),
  stops: list(nearbyStopSchema, 'Sorted by distance, nearest first'),
});
