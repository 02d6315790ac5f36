import { z } from 'zod';
import { modesParameter } from '../transit/mode.ts';
import { countUpTo, DECIMAL, describe, oneOf, optional, requiredText, withDefault } from '../transit/parameter.ts';
import { areSwapped, positionParameter, SWAPPED } from '../transit/place.ts';

/** The widest window, in degrees each way: some 28 by 23 kilometres. */
const MAX_DEGREES = 0.25;
const MAX_RADIUS_METRES = 5000;

const allowed = 'must be south,west,north,east as decimal numbers of degrees, south below north and west below east';

interface Bounds {
  south: number;
  west: number;
  north: number;
  east: number;
}

const boundsParameter = requiredText('a window as south,west,north,east')
  .transform((text, context): Bounds => {
    const parts = text.split(',').map((part) => part.trim());
    const numbers = parts.every((part) => DECIMAL.test(part)) ? parts.map(Number) : [];
    const [south = Number.NaN, west = Number.NaN, north = Number.NaN, east = Number.NaN] = numbers;
    const refuse = (message: string): never => {
      context.issues.push({ code: 'custom', input: text, message });
      return z.NEVER;
    };
    if (numbers.length !== 4) return refuse(allowed);
    if (areSwapped(south, west)) return refuse(`must be south,west,north,east, and lat and lng ${SWAPPED}`);
    const isWindow = south >= -90 && north <= 90 && west >= -180 && east <= 180 && south < north && west < east;
    if (!isWindow) return refuse(allowed);
    if (north - south > MAX_DEGREES || east - west > MAX_DEGREES) {
      return refuse(`must span at most ${MAX_DEGREES} degrees each way; /v1/stops.ndjson has all stops`);
    }
    return { south, west, north, east };
  })
  .meta({ type: 'string', pattern: `^\\s*${Array(4).fill(DECIMAL.source.slice(1, -1)).join('\\s*,\\s*')}\\s*$` });

export const stopListQuery = z
  .object({
    bbox: describe(
      optional(boundsParameter),
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
