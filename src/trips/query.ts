import { z } from 'zod';
import { askedWallClock } from '../asked-time.ts';
import { cancelledParameter, includeParameter } from '../transit/additional-fields.ts';
import { countUpTo, describe, oneOf, optional, requiredText, withDefault } from '../transit/parameter.ts';
import { stopIdParameter } from '../transit/stop.ts';
import { dateParameter, timeParameter } from '../transit/time.ts';
import { PATH_FORMS } from './path.ts';

const arriveByParameter = requiredText('true or false')
  .pipe(z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'must be true or false' }))
  .meta({ type: 'boolean', description: 'Arrive by date and time, instead of departing then.' });

const pathParameter = describe(
  withDefault(oneOf(PATH_FORMS), 'full'),
  'The geometry of legs: `full` has `[lat, lng]` pairs in `path`; `polyline` has an encoded polyline (precision 5) in `polyline` and leaves `path` empty; `none` leaves `path` empty.',
);

export const tripsQuery = z
  .object({
    from: describe(stopIdParameter, 'Stop identifier of the origin.', '202020'),
    to: describe(stopIdParameter, 'Stop identifier of the destination; another one.', '209573'),
    date: optional(dateParameter),
    time: optional(timeParameter),
    arrive_by: withDefault(arriveByParameter, 'false'),
    limit: describe(withDefault(countUpTo(6), '5'), 'How many journeys to choose from. More is taken as 6.'),
    path: pathParameter,
    cancelled: cancelledParameter(
      'Journeys with a cancelled leg come last and do not count towards `limit`; there may be no others.',
    ),
    include: includeParameter('`trip_id` with each leg, and `parent_stop_id` with its ends.'),
  })
  .refine(({ from, to }) => !/^[Gg]?\d+$/.test(from) || from !== to, {
    path: ['to'],
    message: 'must be another stop than from',
    when: () => true,
  });

export type TripsQuery = z.infer<typeof tripsQuery>;

/** What to ask the authority. Throws `DATE_OUT_OF_RANGE` for a day gone by. */
export function toTripQuestion({ from, to, date, time, arrive_by }: TripsQuery, now: Date) {
  return { kind: 'trip', from, to, at: askedWallClock({ date, time }, now), isArrival: arrive_by } as const;
}
