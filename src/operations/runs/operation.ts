import { z } from 'zod';
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { notIssued, unknownRun } from '../../errors/messages.ts';
import { routeOf } from '../../routes.ts';
import {
  CARRIAGES_ADDED,
  DELAY_ADDED,
  includeParameter,
  OCCUPANCY_ADDED,
  toVehicleAccessBody,
  vehicleAccessFields,
} from '../../transit/additional-fields.ts';
import { type Call, callSchema, toCallBody } from '../../transit/call.ts';
import { nullableLineIdField } from '../../transit/line-id.ts';
import { modeSchema } from '../../transit/mode.ts';
import { describe } from '../../transit/parameter.ts';
import { runIdParameter, writeRunId } from '../../transit/run-id.ts';
import { field, flag, list, record, text, textOrNull } from '../../transit/schema.ts';
import { formatTimestamp, timestampSchema } from '../../transit/time.ts';
import { defineOperation } from '../operation.ts';

/** A run stays available this long after its end, so that riders can check once more. */
const ENDED_MS = 10 * MINUTE_MS;
/** A run with only one known departure counts as ended this long after it. */
const UNLISTED_MS = 3 * HOUR_MS;

const STATUSES = ['not_started', 'at_stop', 'between_stops', 'ended', 'cancelled', 'unknown'] as const;

const runResponse = record('Run', 'A vehicle on its way from its first stop to its last.', {
  run_id: text('As requested', 'MSAyMDAwNzAgMCBodDluZyAxMS1CLjEyNTcuMTUyLjEyNC5CLjguOTAwMDI3MTE5ZxrLgYX73A'),
  trip_id: text('Run ID, as in `trip_id` of boards and journeys', '08-B.775.17.492'),
  route: text('Short route name', 'T4'),
  mode: modeSchema,
  line_id: nullableLineIdField,
  destination: text('Headsign', 'Bondi Junction'),
  through_to: textOrNull(
    'The headsign under which the vehicle goes on with its riders on board; null if it does not, or still shows the same place',
  ),
  retrieved_at: field(timestampSchema, 'Timestamp (UTC) of the oldest live data in this response'),
  is_live: flag('Whether the vehicle is tracked'),
  cancelled: flag('Whether the run is cancelled'),
  wheelchair_accessible: flag('Wheelchair access of the departure that `run_id` identifies'),
  ...vehicleAccessFields,
  alerts: list(z.string(), 'Disruption notices of that departure, and a hint if it has no fixed times, as plain text'),
  status: field(
    z.enum(STATUSES),
    'Where the vehicle is, by the best-known times of its calls; `unknown` if these are not listed',
  ),
  position: textOrNull(
    'The same as text; null unless the vehicle is on its way',
    'between Redfern Station and Central Station',
  ),
  last_stop_id: textOrNull(
    'The stop where the vehicle is or that it last left; null before the first known one',
    '2000336',
  ),
  next_stop_id: textOrNull('The next stop; null after the last one', '2000393'),
  calls: field(
    z.array(callSchema).nullable(),
    'Stops of the run in order, from its first stop if known. Skipped stops are `cancelled`. Null if unknown',
  ),
  next_run_id: textOrNull(
    'ID for `/v1/runs/{run_id}` of the run that the vehicle continues as; null if none is known',
    null,
  ),
});

const exampleBody: z.infer<typeof runResponse> = {
  run_id: 'MSAyMDAwNzAgMCBodDluZyAxMS1CLjEyNTcuMTUyLjEyNC5CLjguOTAwMDI3MTE5ZxrLgYX73A',
  trip_id: '11-B.1257.152.124.B.8.90002711',
  route: 'T1',
  mode: 'train',
  line_id: 'train_T1',
  destination: 'Berowra via Gordon',
  through_to: null,
  retrieved_at: '2026-11-20T02:00:20Z',
  is_live: true,
  cancelled: false,
  wheelchair_accessible: true,
  alerts: [],
  status: 'between_stops',
  position: 'between Town Hall Station and Wynyard Station',
  last_stop_id: '2000393',
  next_stop_id: '2000404',
  calls: [
    {
      stop_id: '2000393',
      name: 'Town Hall Station',
      platform: 'Platform 3',
      lat: -33.87362,
      lng: 151.20679,
      arrives_at: null,
      arrives_at_realtime: null,
      departs_at: '2026-11-20T01:58:00Z',
      departs_at_realtime: '2026-11-20T01:59:00Z',
      occupancy: null,
      cancelled: false,
    },
    {
      stop_id: '2000404',
      name: 'Wynyard Station',
      platform: 'Platform 4',
      lat: -33.86579,
      lng: 151.2058,
      arrives_at: '2026-11-20T02:00:00Z',
      arrives_at_realtime: '2026-11-20T02:01:00Z',
      departs_at: null,
      departs_at_realtime: null,
      occupancy: 'MANY_SEATS',
      cancelled: false,
    },
  ],
  next_run_id: null,
};

/** `GET /v1/runs/{run_id}` */
export const runOperation = defineOperation({
  ...routeOf('getRun'),
  tag: 'Journeys',
  summary: 'Follow a run',
  description:
    'One run: its stops with planned and live times, and where the vehicle is now. Get the `run_id` from a departure or a ride of a journey with `include=ids`. If the run has ended or is no longer listed, the response is 404 `RUN_NOT_FOUND`.',
  query: z.object({
    run_id: describe(runIdParameter, 'The `run_id` from a board or journey with `include=ids`.', exampleBody.run_id),
    include: includeParameter({
      access: '`vehicle_accessible` and `bikes_allowed`.',
      carriages: CARRIAGES_ADDED,
      occupancy: OCCUPANCY_ADDED,
      delay: DELAY_ADDED,
    }),
  }),
  body: runResponse,
  example: { query: `run_id=${exampleBody.run_id}`, body: exampleBody },
  tool: {
    description:
      'Follows one vehicle: where it is now and when it reaches each of its stops. Get the `run_id` from a departure of getDepartures or a ride of planTrips with `include` `ids`.',
  },
  stream: {
    id: 'streamRun',
    summary: 'A run as a stream',
    description:
      'The run as server-sent events, like `/v1/departures/stream`. A `board` event with the whole `/v1/runs/{run_id}` response is sent at the start and on every change. The last event is `end`, with `RUN_NOT_FOUND` some minutes after the run has ended.',
  },

  async handle({ run_id: start, include }, { queryUpstream, runs, lines, now, ids }) {
    if (!ids.isSigned('run', start.id)) throw notIssued('RUN_NOT_FOUND', 'run_id');
    const found = await runs.fetch(queryUpstream, start);
    if (!found) throw unknownRun(null);
    const { departure, freshness } = found;
    const sentAt = now();
    const known = found.areListed ? found.calls : null;
    const endsAt = known ? endOf(known) : departure.plannedAt + UNLISTED_MS;
    if (endsAt < sentAt - ENDED_MS) throw unknownRun(known && formatTimestamp(endsAt));
    const running = (known ?? []).filter((call) => !call.isCancelled);
    const isOff = departure.isCancelled
      ? running.length === 0 || !found.isByFeed
      : known !== null && running.length === 0;
    const body: z.infer<typeof runResponse> = {
      run_id: start.id,
      trip_id: start.runId,
      route: departure.route,
      mode: departure.mode,
      line_id: lines.findIdOf(departure),
      destination: departure.destination,
      through_to: departure.throughTo ?? null,
      retrieved_at: formatTimestamp(freshness.retrievedAt),
      is_live: found.asOf !== null,
      cancelled: isOff,
      wheelchair_accessible: departure.isWheelchairAccessible,
      ...toVehicleAccessBody(departure.access, include),
      alerts: departure.alerts,
      ...(isOff ? nowhere('cancelled') : whereIs(running, sentAt)),
      calls: known?.map((call) => toCallBody(call, include)) ?? null,
      next_run_id: found.next && writeRunId(found.next, ids),
    };
    const moments = running.flatMap((call) => [reaches(call), leaves(call), endsAt + ENDED_MS]);
    const changesAt = Math.min(...moments.filter((moment) => moment > sentAt));
    const notices = found.lacksFeed ? [{ text: `No live times at present: ${departure.mode}.` }] : [];
    return { body, freshness, changesAt, notices };
  },
});

/** The best-known arrival, or the departure if there is none. */
function reaches({ arrival, departure }: Call): number {
  return bestKnownAt(arrival ?? departure);
}

/** The best-known departure, or the arrival if there is none. */
function leaves(call: Call): number {
  return Math.max(bestKnownAt(call.departure ?? call.arrival), reaches(call));
}

function bestKnownAt(time: Call['arrival']): number {
  return time?.realtimeAt ?? time?.plannedAt ?? 0;
}

function endOf(calls: readonly Call[]): number {
  return Math.max(...calls.map(reaches));
}

function nowhere(status: (typeof STATUSES)[number]) {
  return { status, position: null, last_stop_id: null, next_stop_id: null };
}

function whereIs(calls: readonly Call[], now: number) {
  const reached = calls.findLastIndex((call) => reaches(call) <= now);
  const [last, next] = [calls[reached], calls[reached + 1]];
  const stops = { last_stop_id: last?.stopId ?? null, next_stop_id: next?.stopId ?? null };
  if (calls.length < 2) return nowhere('unknown');
  if (!last) return { status: 'not_started' as const, position: null, ...stops };
  if (!next) return { status: 'ended' as const, position: null, ...stops };
  if (leaves(last) > now) return { status: 'at_stop' as const, position: `at ${last.name}`, ...stops };
  return { status: 'between_stops' as const, position: `between ${last.name} and ${next.name}`, ...stops };
}
