import { z } from 'zod';
import { countUpTo, describe, requiredText, withDefault } from '../transit/parameter.ts';

const MAX_LENGTH = 100;
const allowed = `must be 1 to ${MAX_LENGTH} characters, not all of them blank`;
/** Control characters occur in no stop's name, and upstream may read a NUL as the end of the text. */
const CONTROL = /\p{Cc}/u;
/** Left in the query where the bytes are not UTF-8. No stop's name has it. */
const UNDECODED = /%[\dA-F]{2}/i;

/** `q` is kept as received, because the response repeats it; `toStopSearchRequest` trims it. */
export const stopSearchQuery = z.object({
  q: requiredText('a part of a stop name')
    .refine((q) => q.trim() !== '' && Array.from(q.trim()).length <= MAX_LENGTH, allowed)
    .refine((q) => !CONTROL.test(q), 'must hold no control characters')
    .refine((q) => !UNDECODED.test(q), 'must be percent-encoded as UTF-8')
    .meta({
      type: 'string',
      minLength: 1,
      maxLength: MAX_LENGTH,
      description: `A part of a stop name, up to ${MAX_LENGTH} characters.`,
      examples: ['town hall'],
    }),
  limit: describe(withDefault(countUpTo(50), '10'), 'How many stops, the best match first. More is taken as 50.'),
});

export type StopSearchQuery = z.infer<typeof stopSearchQuery>;

export function toStopSearchRequest({ q }: StopSearchQuery) {
  return { kind: 'stopFinder', text: q.trim() } as const;
}
