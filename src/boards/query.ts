import { z } from 'zod';
import { notAllowed, requiredText, splitList } from '../transit/parameter.ts';
import { stopIdParameter } from '../transit/stop.ts';

export const MAX_STOPS = 20;

const allowed = `must be 1 to ${MAX_STOPS} stop identifiers with commas between`;

/** Repeats are folded; the order stays. */
const stopsParameter = requiredText(allowed)
  .transform((text, context): string[] => {
    const stops = [...new Set(splitList(text.toUpperCase()))];
    const malformed = splitList(text).filter((stop) => !stopIdParameter.safeParse(stop).success);
    if (stops.length >= 1 && stops.length <= MAX_STOPS && malformed.length === 0) return stops;
    context.issues.push({ code: 'custom', input: text, message: notAllowed(allowed, text, malformed) });
    return z.NEVER;
  })
  .meta({
    type: 'string',
    description: `Up to ${MAX_STOPS} stop identifiers with commas between. A stop named twice is answered and counted once.`,
    examples: ['200070,200020'],
  });

/** `stops` in place of `stop`; all other parameters as they are for one stop, for each of the stops. */
export function boardsQuery(oneStop: z.ZodObject) {
  const { stop: _, ...others } = oneStop.shape;
  return z.object({ stops: stopsParameter, ...others });
}
