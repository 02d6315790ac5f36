import { z } from 'zod';
import { countUpTo, describe, optional, requiredText, withDefault } from '../transit/parameter.ts';
import { positionParameter } from '../transit/place.ts';

const MAX_LENGTH = 100;
const allowed = `must be 1 to ${MAX_LENGTH} characters, not all of them blank`;
/** Control characters occur in no stop's name, and upstream may read a NUL as the end of the text. */
const CONTROL = /\p{Cc}/u;
/** Left in the query where the bytes are not UTF-8. No stop's name has it. */
const UNDECODED = /%[\dA-F]{2}/i;

/** `q` is kept as received, because the response repeats it; `toStopSearchRequest` trims it. */
export const stopSearchQuery = z.object({
  q: textParameter('a part of a stop name', 'A part of a stop name', 'town hall'),
  limit: limitOf('stops'),
  near: nearParameter(),
});

export const placesQuery = z.object({
  q: textParameter('a part of the name of a place', 'A part of a name, or an address', 'opera house'),
  limit: limitOf('places'),
  near: nearParameter(),
});

function limitOf(what: string) {
  return describe(withDefault(countUpTo(50), '10'), `How many ${what}, the best match first. More is taken as 50.`);
}

function nearParameter() {
  const description = 'A position as `lat,lng`: of good matches, those near it come first.';
  return describe(optional(positionParameter), description, '-33.8731,151.2069');
}

/** Text to search for. */
function textParameter(required: string, description: string, example: string) {
  return requiredText(required)
    .refine((q) => q.trim() !== '' && Array.from(q.trim()).length <= MAX_LENGTH, allowed)
    .refine((q) => !CONTROL.test(q), 'must hold no control characters')
    .refine((q) => !UNDECODED.test(q), 'must be percent-encoded as UTF-8')
    .meta({
      type: 'string',
      minLength: 1,
      maxLength: MAX_LENGTH,
      description: `${description}, up to ${MAX_LENGTH} characters.`,
      examples: [example],
    });
}

export type StopSearchQuery = z.infer<typeof stopSearchQuery>;

export function toStopSearchRequest({ q }: Pick<StopSearchQuery, 'q'>) {
  return { kind: 'stopFinder', text: q.trim() } as const;
}
