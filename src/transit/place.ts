import { z } from 'zod';
import { DECIMAL, notAllowed, type ProblemDetails, parameterOf, requiredText, splitList } from './parameter.ts';
import { isWithin, type Position } from './position.ts';
import { AUSTRALIA, type Bounds, COVERED, STOP_ID } from './region.ts';

export {
  boundsAround,
  distanceMetres,
  isWithin,
  middleOf,
  type Position,
  pathLengthMetres,
} from './position.ts';

export const latitudeSchema = z
  .number()
  .min(-90)
  .max(90)
  .meta({ description: 'Latitude in degrees, EPSG:4326', example: -33.873539 });
export const longitudeSchema = z
  .number()
  .min(-180)
  .max(180)
  .meta({ description: 'Longitude in degrees, EPSG:4326', example: 151.20693 });
/** For a stop that may come without a position from upstream. */
export const latitudeOrNull = latitudeSchema
  .nullable()
  .meta({ description: 'Latitude in degrees, EPSG:4326; null if unknown' });
export const longitudeOrNull = longitudeSchema
  .nullable()
  .meta({ description: 'Longitude in degrees, EPSG:4326; null if unknown' });
export const positionSchema = z.tuple([latitudeSchema, longitudeSchema]);

/** Longest name put into the URL of a search. */
const MAX_NAME = 50;

/** A stop ID from a caller. The result is upper-case. */
export const stopIdParameter = parameterOf(
  requiredText('a stop ID such as 200070', 'must be given once; /v1/boards takes several stops'),
  (text, refuse): string => {
    const id = text.trim();
    if (STOP_ID.test(id)) return id.toUpperCase();
    return id.includes(',')
      ? refuse('must be one stop ID', { hint: 'For several stops use /v1/boards.' })
      : refuse('must be a stop ID such as 200070', { hint: describePlace(id) });
  },
).meta({ type: 'string', pattern: STOP_ID.source });

/**
 * A list of up to `maxStops` stop IDs in upper case, without repeats, in the order given. `isEntry` decides which entries are
 * valid; by default only stop IDs are. `hintFor` may return a hint for malformed ones.
 */
export function stopListParameter(
  maxStops: number,
  {
    isEntry = (entry) => stopIdParameter.safeParse(entry).success,
    hintFor = () => undefined,
  }: { isEntry?: (entry: string) => boolean; hintFor?: (malformed: readonly string[]) => string | undefined } = {},
) {
  const allowed = `must be 1 to ${maxStops} stop IDs separated by commas`;
  return parameterOf(requiredText(allowed), (text, refuse): string[] => {
    const stops = [...new Set(splitList(text.toUpperCase()))];
    const malformed = splitList(text).filter((stop) => !isEntry(stop));
    if (stops.length === 0) return refuse(allowed);
    if (malformed.length > 0)
      return refuse(notAllowed(allowed, malformed), {
        isComplete: true,
        hint: hintFor(malformed) ?? describePlace(malformed[0] as string),
      });
    if (stops.length > maxStops) {
      return refuse(`has too many stops: ${stops.length} given, at most ${maxStops}`, { isComplete: true });
    }
    return stops;
  }).meta({ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: maxStops });
}

/** A hint on how to find the stop that the caller named. */
function describePlace(name: string, search = '/v1/stops/search'): string {
  if (!/\p{L}{2}/u.test(name)) return 'Find IDs with /v1/stops/search or /v1/nearby.';
  return `Look it up: ${search}?q=${encodeURIComponent(name.slice(0, MAX_NAME).toWellFormed())}`;
}

/** The notice for a position outside the covered area; null inside it. */
export function outsideNotice(lat: number, lng: number): string | null {
  if (isCovered(lat, lng)) return null;
  const hint = isCovered(-lat, lng) ? ' South of the equator `lat` is negative.' : '';
  return `${lat},${lng} lies outside the area covered: New South Wales and the ACT.${hint}`;
}

export function isCovered(lat: number, lng: number): boolean {
  return isWithin(COVERED, lat, lng);
}

const SWAPPED_HINT = '`lat` and `lng` seem to be swapped: in Sydney `lat` is about -33.87 and `lng` about 151.21.';

/** The issue for `lat` when it is swapped with `lng`. */
export const SWAPPED = {
  path: ['lat'],
  message: SWAPPED_HINT,
  params: { isSentence: true } satisfies ProblemDetails,
};

/** True only if the swapped point is in Australia: "lat=-91&lng=0" is a wrong number, not a swapped pair. */
export function areSwapped(lat: number, lng: number): boolean {
  return lat >= AUSTRALIA.west && lat <= AUSTRALIA.east && lng >= AUSTRALIA.south && lng <= AUSTRALIA.north;
}

const boundsAllowed =
  'must be south,west,north,east as decimal numbers of degrees, south below north and west below east';

/** A map area of at most `maxDegrees` in each direction; `hint` follows the message that refuses a larger one. */
export const boundsParameter = (maxDegrees: number, hint?: string) =>
  parameterOf(requiredText('a window as south,west,north,east'), (text, refuse): Bounds => {
    const numbers = parseDecimals(text);
    const [south = Number.NaN, west = Number.NaN, north = Number.NaN, east = Number.NaN] = numbers;
    if (numbers.length !== 4) return refuse(boundsAllowed);
    if (areSwapped(south, west)) return refuse('must be south,west,north,east', { hint: SWAPPED_HINT });
    const isWindow = south >= -90 && north <= 90 && west >= -180 && east <= 180 && south < north && west < east;
    if (!isWindow) return refuse(boundsAllowed);
    if (north - south > maxDegrees || east - west > maxDegrees) {
      return refuse(`must span at most ${maxDegrees} degrees each way`, { hint });
    }
    return { south, west, north, east };
  }).meta({ type: 'string', pattern: `^\\s*${Array(4).fill(DECIMAL.source.slice(1, -1)).join('\\s*,\\s*')}\\s*$` });

/** Start or end of a journey: the ID of a stop or other place, or a position. */
export type Place = string | Position;

/** `lat,lng` as OpenAPI describes it. */
const PAIR_PATTERN = Array(2).fill(DECIMAL.source.slice(1, -1)).join('\\s*,\\s*');
/** Six decimals are about 10 cm. Smaller numbers could be written with an exponent. */
const DECIMALS = 6;

const positionAllowed =
  'must be lat,lng: a latitude from -90 to 90 and a longitude from -180 to 180 as decimal numbers';
const placeAllowed = 'must be a stop ID such as 200070, a place ID from /v1/places/search, or a position as lat,lng';
/** The beginning of an address such as "2 Park St". */
const HAS_NUMBER = /^\d/;
/** The longest ID seen has 159 bytes. */
const MAX_ID_BYTES = 200;
/** The beginning of an ID such as "poiID:858290415:95365003:-1:Epping Reserve:…", which upstream gets unchanged. */
const ID_OF_PLACE = /^[a-z]{2,20}ID:/i;
const placeIdAllowed = `must be a place ID as /v1/places/search returns it: up to ${MAX_ID_BYTES} bytes, no control characters`;

/** Whether the text is a place ID other than a stop ID. */
export function isPlaceId(text: string): boolean {
  return ID_OF_PLACE.test(text);
}

/** The name inside a place ID: the first part with letters. */
export function nameInPlaceId(id: string): string {
  return (
    id
      .split(':')
      .slice(1)
      .find((part) => /\p{L}/u.test(part)) ?? id
  );
}

/** A stop ID, a place ID, or `lat,lng`. Any other text with a comma is read as `lat,lng`. */
export const placeParameter = parameterOf(
  requiredText('a stop ID such as 200070, a place ID, or a position as lat,lng'),
  (text, refuse): Place => {
    const id = text.trim();
    if (isPlaceId(id)) return Buffer.byteLength(id) <= MAX_ID_BYTES && !/\p{C}/u.test(id) ? id : refuse(placeIdAllowed);
    const refuseName = () =>
      refuse(placeAllowed, { hint: describePlace(id, HAS_NUMBER.test(id) ? '/v1/places/search' : undefined) });
    if (!text.includes(',')) return stopIdParameter.safeParse(text).data ?? refuseName();
    if (/\p{L}{2}/u.test(id)) return refuseName();
    const position = parsePosition(text);
    if (!Array.isArray(position)) return refuse(position.allowed, { hint: position.hint });
    const [lat, lng] = position;
    return [Number(lat.toFixed(DECIMALS)) + 0, Number(lng.toFixed(DECIMALS)) + 0];
  },
).meta({
  type: 'string',
  pattern: `^\\s*(${STOP_ID.source.slice(1, -1)}|[A-Za-z]{2,20}ID:.{1,${MAX_ID_BYTES}}|${PAIR_PATTERN})\\s*$`,
});

/** A position as `lat,lng`, unrounded. */
export const positionParameter = parameterOf(requiredText('a position as lat,lng'), (text, refuse): Position => {
  const position = parsePosition(text);
  return Array.isArray(position) ? position : refuse(position.allowed, { hint: position.hint });
}).meta({ type: 'string', pattern: `^\\s*${PAIR_PATTERN}\\s*$` });

/** Returns the position; for other texts, the message with the allowed format. */
function parsePosition(text: string): Position | { allowed: string; hint?: string } {
  const numbers = parseDecimals(text);
  const [lat = Number.NaN, lng = Number.NaN] = numbers;
  if (areSwapped(lat, lng)) return { allowed: 'must be lat,lng', hint: SWAPPED_HINT };
  const isPosition = numbers.length === 2 && Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
  return isPosition ? [lat, lng] : { allowed: positionAllowed };
}

/** Comma-separated decimal numbers; an empty list for any other text. */
function parseDecimals(text: string): number[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.every((part) => DECIMAL.test(part)) ? parts.map(Number) : [];
}

/** The place in the form that callers use. */
export function formatPlace(place: Place): string {
  return typeof place === 'string' ? place : place.join(',');
}
