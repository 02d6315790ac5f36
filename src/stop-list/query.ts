import { z } from 'zod';
import { modesParameter } from '../transit/mode.ts';
import { countUpTo, describe, oneOf, optional, withDefault } from '../transit/parameter.ts';
import { boundsParameter, positionParameter } from '../transit/place.ts';

/** The widest window, in degrees each way: some 28 by 23 kilometres. */
const MAX_DEGREES = 0.25;
const MAX_RADIUS_METRES = 5000;

export const stopListQuery = z
  .object({
    bbox: describe(
      optional(boundsParameter(MAX_DEGREES, '; /v1/stops.ndjson has all stops')),
      `The window of a map as \`south,west,north,east\`, at most ${MAX_DEGREES} degrees each way. \`bbox\` or \`near\` must be given; with both, stops are within both.`,
      '-33.88,151.2,-33.86,151.22',
    ),
    near: describe(
      optional(positionParameter),
      'A position as `lat,lng`: the stops within `radius`, the nearest first.',
      '-33.8731,151.2069',
    ),
    radius: describe(
      withDefault(countUpTo(MAX_RADIUS_METRES), '500'),
      `Radius in metres around \`near\`. More is taken as ${MAX_RADIUS_METRES}.`,
    ),
    modes: withDefault(modesParameter, 'all'),
    limit: describe(withDefault(countUpTo(1000), '200'), 'How many stops. More is taken as 1000.'),
    format: describe(
      withDefault(oneOf(['json', 'geojson']), 'json'),
      '`geojson` is a FeatureCollection of RFC 7946, in which longitude comes first.',
    ),
  })
  .refine(({ bbox, near }) => bbox !== undefined || near !== undefined, {
    path: ['bbox'],
    message: 'or near is required: a window as south,west,north,east, or a position as lat,lng',
  });

export type StopListQuery = z.infer<typeof stopListQuery>;
