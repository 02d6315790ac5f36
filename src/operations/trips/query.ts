import { z } from 'zod';
import { MOST_STAY_MINUTES, MOST_VIA } from '../../journeys/source.ts';
import {
  ALERT_TEXTS_ADDED,
  CARRIAGES_ADDED,
  COLORS_ADDED,
  cancelledParameter,
  DELAY_ADDED,
  includeParameter,
  OCCUPANCY_ADDED,
  THROUGH_ADDED,
} from '../../transit/additional-fields.ts';
import { bookingParameter } from '../../transit/booking.ts';
import { changeParameters, toChoices, walkingParameters } from '../../transit/choices.ts';
import { MODES, modesParameter } from '../../transit/mode.ts';
import {
  booleanParameter,
  countUpTo,
  describe,
  limitParameter,
  notAllowed,
  oneOf,
  optional,
  parameterOf,
  requiredText,
  splitList,
  wholeBetween,
  withDefault,
} from '../../transit/parameter.ts';
import { formatPlace, placeParameter, stopIdParameter } from '../../transit/place.ts';
import { USUAL_ADDED } from '../../transit/punctuality.ts';
import { dateParameter, timeParameter } from '../../transit/time.ts';
import { cursorParameter } from '../cursor.ts';
import { requestedWallClock } from '../operation.ts';
import { PATH_FORMS } from './response.ts';

const pathParameter = withDefault(
  oneOf(PATH_FORMS),
  'full',
  'The geometry of legs: `full` has `[lat, lng]` pairs in `path`; `polyline` has an encoded polyline (precision 5) in `polyline` and leaves `path` empty; `none` leaves `path` empty.',
);

const MOST_CHANGES = 9;

const POSITION = 'the `id` of a place from `/v1/places/search`, or a position as `lat,lng`';

const MODES_DESCRIPTION = `Only journeys that use these modes alone; walks are always allowed. ${modesParameter.meta()?.description}`;
const WHEELCHAIR_DESCRIPTION = `Only journeys that the trip planner considers wheelchair accessible, without those on vehicles known not to be. Adds \`lifts_out\` to each journey; journeys that need a lift out of service come last.`;
const MAX_CHANGES_DESCRIPTION = `Maximum number of changes; 0 means a direct ride or a walk. Planned from the timetable where it has both ends, else a filter of the trip planner's journeys. Values above ${MOST_CHANGES} count as ${MOST_CHANGES}.`;

const viaAllowed = `must be 1 or ${MOST_VIA} stop IDs separated by commas, each with an optional stay of 0 to ${MOST_STAY_MINUTES} minutes, as in 200070@10`;

/** Text such as `200070@10,200020`. */
const viaParameter = parameterOf(requiredText(viaAllowed), (text, refuse): { stopId: string; stayMinutes: number }[] =>
  splitList(text).length === 0 || splitList(text).length > MOST_VIA
    ? refuse(viaAllowed)
    : splitList(text).map((entry) => {
        const [stop = '', stay = '0', ...more] = entry.split('@').map((part) => part.trim());
        const [stopId, stayMinutes] = [stopIdParameter.safeParse(stop).data, staySchema.safeParse(stay).data];
        const isStop = stopId !== undefined && stayMinutes !== undefined && more.length === 0;
        return isStop ? { stopId, stayMinutes } : refuse(notAllowed(viaAllowed, [entry]), { isComplete: true });
      }),
).meta({
  type: 'array',
  items: { type: 'string' },
  minItems: 1,
  maxItems: MOST_VIA,
  description: `Up to ${MOST_VIA} stop IDs on the way, in order, each with the minimum stay in minutes after \`@\`: \`200070@10,200020\`. Without a stay you may remain in the vehicle. Only the timetable plans such journeys.`,
  examples: [['200070@10']],
});
const staySchema = wholeBetween(0, MOST_STAY_MINUTES);

export const tripsQuery = z
  .object({
    from: describe(placeParameter, `The origin: a stop ID, ${POSITION}.`, '202020'),
    to: describe(placeParameter, `The destination, different from the origin: a stop ID, ${POSITION}.`, '209573'),
    date: optional(dateParameter),
    time: optional(timeParameter),
    arrive_by: withDefault(booleanParameter, 'false', 'Arrive before the date and time, instead of departing then.'),
    limit: limitParameter(6, '5', 'journeys'),
    path: pathParameter,
    modes: withDefault(modesParameter, 'all', MODES_DESCRIPTION),
    wheelchair: withDefault(booleanParameter, 'false', WHEELCHAIR_DESCRIPTION),
    max_changes: optional(countUpTo(MOST_CHANGES, 0), MAX_CHANGES_DESCRIPTION, 1),
    booking: bookingParameter,
    via: optional(viaParameter),
    ...walkingParameters,
    ...changeParameters,
    cursor: cursorParameter,
    cancelled: cancelledParameter(
      'Journeys with a cancelled leg come last and do not count towards `limit`; there may be no others.',
    ),
    include: includeParameter({
      ids: '`journey_id` to each journey, `line_id`, `trip_id`, `run_id`, `alert_ids` and `on_demand` to each leg, and `parent_stop_id` to its ends.',
      colors: COLORS_ADDED,
      alert_texts: ALERT_TEXTS_ADDED,
      calls:
        '`calls` to each leg: every stop of the vehicle in order, including both ends, with times and platform. Uses live times of the realtime feeds if they are newer.',
      access:
        '`vehicle_accessible`, `bikes_allowed` and `needs_booking` to each leg, and `stop_accessible` to its ends.',
      carriages: CARRIAGES_ADDED,
      through: THROUGH_ADDED,
      changes:
        '`change_ratings` to each journey: the time to spare at each change, and whether that is `on_time`, `tight` or `at_risk`.',
      delay: DELAY_ADDED,
      occupancy: OCCUPANCY_ADDED,
      usual: USUAL_ADDED.replace('this departure', 'the ride'),
      alternatives:
        '`alternatives` to each ride: the next two departures within a day from the same stop or station to the same stop or station, with which the changes of the journey still work.',
    }),
  })
  .refine(({ from, to }) => !isSamePlace(from, to), {
    path: ['to'],
    message: 'must differ from `from`',
    when: () => true,
  })
  .refine(({ from, via = [], to }) => !hasRepeats(from, via, to), {
    path: ['via'],
    message: 'must name stops other than `from`, `to` and the one before',
  });

export type TripsQuery = z.infer<typeof tripsQuery>;

/** Builds the upstream request. Throws `DATE_OUT_OF_RANGE` for a day before yesterday. */
export function toTripRequest(query: TripsQuery, now: number) {
  const { from, to, via, date, time, arrive_by, modes, wheelchair, booking } = query;
  return {
    kind: 'trip',
    from,
    to,
    via,
    at: requestedWallClock({ date, time }, now),
    isArrival: arrive_by,
    modes,
    isAccessible: wheelchair,
    choices: toChoices(query),
    withoutBooking: booking === 'exclude',
  } as const;
}

/** The parameters that restrict which journeys are listed. */
export function listConditions(query: TripsQuery): string[] {
  const { via, modes, wheelchair, max_changes, max_walk, min_change, booking } = query;
  return [
    ...(via ? ['via'] : []),
    ...(modes.length < MODES.length ? ['modes'] : []),
    ...(wheelchair ? ['wheelchair'] : []),
    ...(max_changes === undefined ? [] : ['max_changes']),
    ...(max_walk === undefined ? [] : ['max_walk']),
    ...(min_change === undefined ? [] : ['min_change']),
    ...(booking === 'exclude' ? ['booking'] : []),
  ];
}

/** A place that failed validation is still raw text. It already has an error, so it is not compared. */
function isSamePlace(from: unknown, to: unknown): boolean {
  const [one, other] = [from, to].map(parsePlace);
  return one !== undefined && one === other;
}

/** Whether a place of `via` is the one before or after it: nobody travels between them. */
function hasRepeats(from: unknown, via: readonly { stopId: string }[], to: unknown): boolean {
  const places = [from, ...via.map(({ stopId }) => stopId), to];
  return via.length > 0 && places.some((place, index) => index > 0 && isSamePlace(place, places[index - 1]));
}

function parsePlace(place: unknown): string | undefined {
  if (Array.isArray(place)) return place.join(',');
  const read = placeParameter.safeParse(place);
  return read.success ? formatPlace(read.data) : undefined;
}
