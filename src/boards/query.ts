import { z } from 'zod';
import { requiredText, splitList } from '../transit/parameter.ts';
import { stopIdParameter } from '../transit/stop.ts';

export const MAX_STOPS = 20;
/** How many malformed identifiers a message names. */
const MAX_NAMED = 5;

const allowed = `must be 1 to ${MAX_STOPS} stop identifiers with commas between`;

/** Repeats are folded; the order stays. */
const stopsParameter = requiredText(allowed)
  .transform((text, context): string[] => {
    const stops = [...new Set(splitList(text.toUpperCase()))];
    const malformed = stops.filter((stop) => !stopIdParameter.safeParse(stop).success).slice(0, MAX_NAMED);
    if (stops.length >= 1 && stops.length <= MAX_STOPS && malformed.length === 0) return stops;
    const culprits = malformed.map((stop) => `"${stop}"`).join(', ');
    context.issues.push({ code: 'custom', input: text, message: culprits ? `${allowed}; not ${culprits}` : allowed });
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
