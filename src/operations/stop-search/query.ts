import { z } from 'zod';
import { describe, limitParameter, optional, requiredText } from '../../transit/parameter.ts';
import { positionParameter } from '../../transit/place.ts';

const MAX_LENGTH = 100;
const allowed = `must be 1 to ${MAX_LENGTH} characters`;
/** No stop name has control characters, and upstream may treat a NUL as the end of the text. */
const CONTROL = /\p{Cc}/u;
/** A percent escape left in the query means that its bytes are not UTF-8. No stop name has one. */
const UNDECODED = /%[\dA-F]{2}/i;

/** The text of a search. `required` describes it in messages. */
export function searchText(required: string) {
  return requiredText(required)
    .refine((q) => q.trim() !== '', { error: `${allowed}, but is blank`, abort: true, params: { isComplete: true } })
    .refine((q) => Array.from(q.trim()).length <= MAX_LENGTH, allowed)
    .refine((q) => !CONTROL.test(q), 'must not contain control characters')
    .refine((q) => !UNDECODED.test(q), 'must be percent-encoded as UTF-8')
    .meta({ type: 'string', minLength: 1, maxLength: MAX_LENGTH });
}

export const stopSearchQuery = searchQuery('stops', {
  required: 'a part of a stop name',
  description: 'A part of a stop name',
  example: 'town hall',
});

export const placesQuery = searchQuery('places', {
  required: 'a part of the name of a place',
  description: 'A part of a name, or an address',
  example: 'opera house',
});

function searchQuery(subject: string, text: { required: string; description: string; example: string }) {
  return z.object({
    // The response repeats the text as received; `toStopSearchRequest` trims it.
    q: describe(searchText(text.required), `${text.description}, up to ${MAX_LENGTH} characters.`, text.example),
    limit: limitParameter(50, '10', `${subject}, best match first`),
    near: optional(
      positionParameter,
      'A position as `lat,lng`. Among good matches, nearer ones come first.',
      '-33.8731,151.2069',
    ),
  });
}

export type StopSearchQuery = z.infer<typeof stopSearchQuery>;

export function toStopSearchRequest({ q }: StopSearchQuery) {
  return { kind: 'stopFinder', text: q.trim() } as const;
}
