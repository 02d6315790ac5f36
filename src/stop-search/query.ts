import { z } from 'zod';
import { countUpTo, requiredText, withDefault } from '../transit/parameter.ts';

const MAX_LENGTH = 100;
const allowed = `must be 1 to ${MAX_LENGTH} characters, not all of them blank`;

/** `q` is kept as received, for the answer; `toStopSearchQuestion` trims it. */
export const stopSearchQuery = z.object({
  q: requiredText('a part of a stop name').refine((q) => q.trim() !== '' && q.trim().length <= MAX_LENGTH, allowed),
  limit: withDefault(countUpTo(50), '10'),
});

export type StopSearchQuery = z.infer<typeof stopSearchQuery>;

export function toStopSearchQuestion({ q }: StopSearchQuery) {
  return { text: q.trim() };
}
