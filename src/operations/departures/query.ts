import { z } from 'zod';
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
import { modesParameter, routesParameter } from '../../transit/mode.ts';
import { countUpTo, describe, limitParameter, optional, withDefault } from '../../transit/parameter.ts';
import { stopIdParameter } from '../../transit/place.ts';
import { USUAL_ADDED } from '../../transit/punctuality.ts';
import { dateParameter, leadParameter, timeParameter } from '../../transit/time.ts';
import { cursorParameter } from '../cursor.ts';
import { requestedWallClock } from '../operation.ts';

const ACCESS_ADDED =
  '`vehicle_accessible` and `stop_accessible`, from which `wheelchair_accessible` is derived, and `bikes_allowed`.';

export const departuresQuery = z.object({
  stop: describe(stopIdParameter, 'Stop ID, from `/v1/stops/search` or `/v1/nearby`.', '200070'),
  limit: limitParameter(50, '10', 'departures, applied after the filters'),
  modes: withDefault(modesParameter, 'bus'),
  routes: optional(routesParameter),
  lead: optional(
    leadParameter,
    'Minutes you need to get to the stop. Departures that leave sooner, by the best-known time, are left out. Counts from now, or from `date` and `time`.',
    7,
  ),
  per_route: optional(
    countUpTo(50),
    'Maximum number of departures for each route and headsign, applied after the other filters. The search reaches as far ahead as with `routes`. Values above 50 count as 50.',
    2,
  ),
  to: optional(
    stopIdParameter,
    'Only departures that stop there later. Each has `arrives_at` and `arrives_at_realtime`. A station includes its platforms. The search reaches as far ahead as with `routes`.',
    '200020',
  ),
  date: optional(dateParameter),
  time: optional(timeParameter),
  cancelled: cancelledParameter('They keep their place and count towards `limit`, not towards `per_route`.'),
  include: includeParameter({
    ids: '`line_id`, `trip_id`, `run_id` and `alert_ids` to each departure.',
    colors: COLORS_ADDED,
    alert_texts: ALERT_TEXTS_ADDED,
    access: ACCESS_ADDED,
    delay: DELAY_ADDED,
    calls: '`calls` to each departure: its stops from here to the end of the run.',
    carriages: CARRIAGES_ADDED,
    occupancy: OCCUPANCY_ADDED,
    through: THROUGH_ADDED,
    usual: USUAL_ADDED,
  }),
  cursor: cursorParameter,
});

/** Parameters about boarding do not apply to arrivals. */
const { lead: _lead, per_route: _perRoute, to: _to, ...ofBoth } = departuresQuery.shape;

export const arrivalsQuery = z.object({
  ...ofBoth,
  limit: limitParameter(50, '10', 'arrivals, applied after the filters'),
  include: includeParameter({
    ids: '`line_id`, `trip_id` and `alert_ids` to each arrival.',
    colors: COLORS_ADDED,
    alert_texts: ALERT_TEXTS_ADDED,
    access: ACCESS_ADDED,
    delay: DELAY_ADDED,
  }),
});

export type DeparturesQuery = z.infer<typeof departuresQuery>;

/** Builds the upstream request. Throws `DATE_OUT_OF_RANGE` for a day before yesterday. */
export function toDeparturesRequest({ stop, modes, date, time }: DeparturesQuery, now: number) {
  return { kind: 'departureMonitor', stopId: stop, modes, at: requestedWallClock({ date, time }, now) } as const;
}
