import { z } from 'zod';
import {
  ALERT_TEXTS_ADDED,
  CARRIAGES_ADDED,
  COLORS_ADDED,
  cancelledParameter,
  includeParameter,
} from '../../transit/additional-fields.ts';
import { MODES, modesParameter } from '../../transit/mode.ts';
import { booleanParameter, countUpTo, describe, oneOf, optional, withDefault } from '../../transit/parameter.ts';
import { formatPlace, placeParameter } from '../../transit/place.ts';
import { dateParameter, timeParameter } from '../../transit/time.ts';
import { cursorParameter } from '../cursor.ts';
import { askedWallClock } from '../operation.ts';
import { PATH_FORMS } from './response.ts';

const pathParameter = describe(
  withDefault(oneOf(PATH_FORMS), 'full'),
  'The geometry of legs: `full` has `[lat, lng]` pairs in `path`; `polyline` has an encoded polyline (precision 5) in `polyline` and leaves `path` empty; `none` leaves `path` empty.',
);

const MOST_CHANGES = 9;

/** These are sent as upstream's manual describes. See "Not settled" in docs/upstream-notes.md. */
const UNTRIED = 'Not yet tested against the real trip planner.';
const POSITION =
  'the `id` of a place from `/v1/places/search`, or a position as `lat,lng` (neither has been tested against the real trip planner yet)';

const MODES_DESCRIPTION = `Only journeys that use these modes alone; walks are always allowed. ${modesParameter.meta()?.description}`;
const WHEELCHAIR_DESCRIPTION = `Only journeys that the trip planner considers wheelchair accessible, without those on vehicles known not to be. Adds \`lifts_out\` to each journey; journeys that need a lift out of service come last. ${UNTRIED}`;
const MAX_CHANGES_DESCRIPTION = `Maximum number of changes; 0 means a direct ride or a walk. Filters the journeys found for this time. Values above ${MOST_CHANGES} count as ${MOST_CHANGES}.`;

export const tripsQuery = z
  .object({
    from: describe(placeParameter, `The origin: a stop ID, ${POSITION}.`, '202020'),
    to: describe(placeParameter, `The destination, different from the origin: a stop ID, ${POSITION}.`, '209573'),
    date: optional(dateParameter),
    time: optional(timeParameter),
    arrive_by: withDefault(describe(booleanParameter, 'Arrive by date and time, instead of departing then.'), 'false'),
    limit: describe(withDefault(countUpTo(6), '5'), 'Maximum number of journeys. Values above 6 count as 6.'),
    path: pathParameter,
    modes: describe(withDefault(modesParameter, 'all'), MODES_DESCRIPTION),
    wheelchair: withDefault(describe(booleanParameter, WHEELCHAIR_DESCRIPTION), 'false'),
    max_changes: optional(describe(countUpTo(MOST_CHANGES, 0), MAX_CHANGES_DESCRIPTION, 1)),
    cursor: cursorParameter,
    cancelled: cancelledParameter(
      'Journeys with a cancelled leg come last and do not count towards `limit`; there may be no others.',
    ),
    include: includeParameter({
      ids: '`journey_id` to each journey, `trip_id`, `run_id`, `alert_ids` and `on_demand` to each leg, and `parent_stop_id` to its ends.',
      colors: COLORS_ADDED,
      alert_texts: ALERT_TEXTS_ADDED,
      calls:
        '`calls` to each leg: every stop of the vehicle in order, including both ends, with times and platform. Uses live times of the realtime feeds if they are newer.',
      access: '`vehicle_accessible` to each leg, and `stop_accessible` to its ends.',
      carriages: CARRIAGES_ADDED,
    }),
  })
  .refine(({ from, to }) => !isSamePlace(from, to), {
    path: ['to'],
    message: 'must differ from `from`',
    when: () => true,
  });

export type TripsQuery = z.infer<typeof tripsQuery>;

/** Builds the upstream request. Throws `DATE_OUT_OF_RANGE` for a past day. */
export function toTripRequest({ from, to, date, time, arrive_by, modes, wheelchair }: TripsQuery, now: Date) {
  return {
    kind: 'trip',
    from,
    to,
    at: askedWallClock({ date, time }, now),
    isArrival: arrive_by,
    modes,
    isAccessible: wheelchair,
  } as const;
}

/** The parameters that restrict which journeys are listed. */
export function listConditions({ modes, wheelchair, max_changes }: TripsQuery): string[] {
  return [
    ...(modes.length < MODES.length ? ['modes'] : []),
    ...(wheelchair ? ['wheelchair'] : []),
    ...(max_changes === undefined ? [] : ['max_changes']),
  ];
}

/** A place that failed validation is still raw text. It already has an error, so it is not compared. */
function isSamePlace(from: unknown, to: unknown): boolean {
  const [one, other] = [from, to].map(readPlace);
  return one !== undefined && one === other;
}

function readPlace(place: unknown): string | undefined {
  if (Array.isArray(place)) return place.join(',');
  const read = placeParameter.safeParse(place);
  return read.success ? formatPlace(read.data) : undefined;
}
