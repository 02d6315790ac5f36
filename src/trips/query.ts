import { z } from 'zod';
import { countUpTo, optional, requiredText, withDefault } from '../transit/parameter.ts';
import { stopIdParameter } from '../transit/stop.ts';
import { askedWallClock, dateParameter, timeParameter } from '../transit/time.ts';

const arriveByParameter = requiredText('true or false').pipe(
  z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'must be true or false' }),
);

export const tripsQuery = z
  .object({
    from: stopIdParameter,
    to: stopIdParameter,
    date: optional(dateParameter),
    time: optional(timeParameter),
    arrive_by: withDefault(arriveByParameter, 'false'),
    limit: withDefault(countUpTo(6), '5'),
  })
  .refine(({ from, to }) => !/^[Gg]?\d+$/.test(from) || from !== to, {
    path: ['to'],
    message: 'must be another stop than from',
    when: () => true,
  });

export type TripsQuery = z.infer<typeof tripsQuery>;

/** What to ask the authority. Throws `DATE_OUT_OF_RANGE` for a day gone by. */
export function toTripQuestion({ from, to, date, time, arrive_by }: TripsQuery, now: Date) {
  return { from, to, at: askedWallClock({ date, time }, now), isArrival: arrive_by };
}
