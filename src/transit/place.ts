import { z } from 'zod';
import { DECIMAL, requiredText } from './parameter.ts';
import { areSwapped, type Position, SWAPPED, stopIdParameter } from './stop.ts';

/** Where a journey starts or ends: the identifier of a stop, or a position. */
export type Place = string | Position;

/** For OpenAPI. */
const PAIR_PATTERN = Array(2).fill(DECIMAL.source.slice(1, -1)).join('\\s*,\\s*');
/** A ten millionth of a degree would be written with an exponent; the seventh decimal is a centimetre. */
const DECIMALS = 6;

const positionAllowed =
  'must be lat,lng: a latitude from -90 to 90 and a longitude from -180 to 180 as decimal numbers';
const placeAllowed = 'must be a stop identifier (up to 12 digits, or G and up to 12 digits) or a position as lat,lng';

/** A stop identifier, or `lat,lng`. Anything with a comma is read as `lat,lng`. */
export const placeParameter = requiredText('a stop identifier such as 200060, or a position as lat,lng')
  .transform((text, context): Place => {
    const refuse = (message: string): never => {
      context.issues.push({ code: 'custom', input: text, message });
      return z.NEVER;
    };
    if (!text.includes(',')) return stopIdParameter.safeParse(text).data ?? refuse(placeAllowed);
    const [lat, lng] = readPair(text);
    if (areSwapped(lat, lng)) return refuse(`must be lat,lng, and lat and lng ${SWAPPED}`);
    if (!(Math.abs(lat) <= 90 && Math.abs(lng) <= 180)) return refuse(positionAllowed);
    return [Number(lat.toFixed(DECIMALS)) + 0, Number(lng.toFixed(DECIMALS)) + 0];
  })
  .meta({ type: 'string', pattern: `^\\s*([Gg]?\\d{1,12}|${PAIR_PATTERN})\\s*$` });

/** Two decimal numbers with a comma between; not numbers where the text is anything else. */
function readPair(text: string): [number, number] {
  const [first, second, ...more] = text.split(',').map((part) => part.trim());
  const areDecimals = [first, second].every((part) => DECIMAL.test(part ?? ''));
  return areDecimals && more.length === 0 ? [Number(first), Number(second)] : [Number.NaN, Number.NaN];
}

/** The place as callers write it. */
export function formatPlace(place: Place): string {
  return typeof place === 'string' ? place : place.join(',');
}
