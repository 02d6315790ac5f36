import { z } from 'zod';
import {
  ALERT_TEXTS_ADDED,
  CARRIAGES_ADDED,
  COLORS_ADDED,
  cancelledParameter,
  includeParameter,
} from '../../transit/additional-fields.ts';
import { modesParameter, routesParameter } from '../../transit/mode.ts';
import { countUpTo, describe, optional, withDefault } from '../../transit/parameter.ts';
import { stopIdParameter } from '../../transit/place.ts';
import { dateParameter, leadParameter, timeParameter } from '../../transit/time.ts';
import { cursorParameter } from '../cursor.ts';
import { askedWallClock } from '../operation.ts';

const ACCESS_ADDED = '`vehicle_accessible` and `stop_accessible`, of which `wheelchair_accessible` is made.';

export const departuresQuery = z.object({
  stop: describe(stopIdParameter, 'Stop identifier, from the stop search or from nearby.', '200070'),
  limit: describe(
    withDefault(countUpTo(50), '10'),
    'How many departures, counted after the filters. More is taken as 50.',
  ),
  modes: withDefault(modesParameter, 'bus'),
  routes: optional(routesParameter),
  lead: optional(
    describe(
      leadParameter,
      'How many minutes it takes to get to the stop: what leaves sooner, by the best-known time, is left out. Counted from now, or from `date` and `time`.',
      7,
    ),
  ),
  per_route: optional(
    describe(
      countUpTo(50),
      'Only the next so many of each route and headsign, of those that the other filters leave. They are looked for as `routes` are. More is taken as 50.',
      2,
    ),
  ),
  to: optional(
    describe(
      stopIdParameter,
      'Only what stops there afterwards, each with `arrives_at` and `arrives_at_realtime` there. A station stands for its platforms. They are looked for as `routes` are.',
      '200020',
    ),
  ),
  date: optional(dateParameter),
  time: optional(timeParameter),
  cancelled: cancelledParameter('They keep their place and count towards `limit`, not towards `per_route`.'),
  include: includeParameter({
    ids: '`trip_id`, `run_id` and `alert_ids` to each departure.',
    colors: COLORS_ADDED,
    alert_texts: ALERT_TEXTS_ADDED,
    access: ACCESS_ADDED,
    calls: '`calls` to each departure: where the vehicle stops, from here to the end of its run.',
    carriages: CARRIAGES_ADDED,
  }),
  cursor: cursorParameter,
});

/** Arrivals take no parameter that is about getting on. */
const { lead: _lead, per_route: _perRoute, to: _to, ...ofBoth } = departuresQuery.shape;

export const arrivalsQuery = z.object({
  ...ofBoth,
  limit: describe(
    withDefault(countUpTo(50), '10'),
    'How many arrivals, counted after the filters. More is taken as 50.',
  ),
  include: includeParameter({
    ids: '`trip_id` and `alert_ids` to each arrival.',
    colors: COLORS_ADDED,
    alert_texts: ALERT_TEXTS_ADDED,
    access: ACCESS_ADDED,
  }),
});

export type DeparturesQuery = z.infer<typeof departuresQuery>;

/** Makes the request to upstream. Throws `DATE_OUT_OF_RANGE` for a day gone by. */
export function toDeparturesRequest({ stop, modes, date, time }: DeparturesQuery, now: Date) {
  return { kind: 'departureMonitor', stopId: stop, modes, at: askedWallClock({ date, time }, now) } as const;
}
