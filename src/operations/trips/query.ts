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

/** These are written as upstream's manual has them, see "Not settled" in docs/upstream-notes.md. */
const UNTRIED = 'Not yet tried on the real authority.';
const POSITION =
  'the `id` of a place from `/v1/places/search`, or a position as `lat,lng` (neither has been tried on the real authority yet)';

const MODES_DESCRIPTION = `Only journeys whose vehicles are all of these modes; walks are always allowed. ${modesParameter.meta()?.description}`;
const WHEELCHAIR_DESCRIPTION = `Only journeys that the authority plans for a wheelchair, without those with a vehicle that is known not to take one. ${UNTRIED}`;
const MAX_CHANGES_DESCRIPTION = `Only journeys with at most so many changes, of those that the authority finds at this time; 0 is a direct ride or a walk. More is taken as ${MOST_CHANGES}.`;

export const tripsQuery = z
  .object({
    from: describe(placeParameter, `The origin: a stop identifier, ${POSITION}.`, '202020'),
    to: describe(placeParameter, `The destination, another place: a stop identifier, ${POSITION}.`, '209573'),
    date: optional(dateParameter),
    time: optional(timeParameter),
    arrive_by: withDefault(describe(booleanParameter, 'Arrive by date and time, instead of departing then.'), 'false'),
    limit: describe(withDefault(countUpTo(6), '5'), 'How many journeys to choose from. More is taken as 6.'),
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
        '`calls` to each leg: where the vehicle stops, in order and with both ends, each with its times and platform. Live times are those of the realtime feeds where these are newer.',
      access: '`vehicle_accessible` to each leg, and `stop_accessible` to its ends.',
      carriages: CARRIAGES_ADDED,
    }),
  })
  .refine(({ from, to }) => !isSamePlace(from, to), {
    path: ['to'],
    message: 'must be another place than `from`',
    when: () => true,
  });

export type TripsQuery = z.infer<typeof tripsQuery>;

/** Makes the request to upstream. Throws `DATE_OUT_OF_RANGE` for a day gone by. */
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

/** The parameters that narrow down which journeys are shown. */
export function listConditions({ modes, wheelchair, max_changes }: TripsQuery): string[] {
  return [
    ...(modes.length < MODES.length ? ['modes'] : []),
    ...(wheelchair ? ['wheelchair'] : []),
    ...(max_changes === undefined ? [] : ['max_changes']),
  ];
}

/** A place that is not right is still as received; it is told so, and not compared. */
function isSamePlace(from: unknown, to: unknown): boolean {
  const [one, other] = [from, to].map(readPlace);
  return one !== undefined && one === other;
}

function readPlace(place: unknown): string | undefined {
  if (Array.isArray(place)) return place.join(',');
  const read = placeParameter.safeParse(place);
  return read.success ? formatPlace(read.data) : undefined;
}
