import type { PointNode } from '../network/network-index.ts';
import {
  actualPoint,
  cancellationOf,
  EXTRA_RUN_DELAY_SECONDS,
  isListedAnew,
  isOmitted,
  isReplaced,
} from '../timetable/alteration.ts';
import { expectedDelaySeconds } from '../timetable/punctuality.ts';
import { isAhead, isReported, isTracked, type Occupancy, occupancyOf } from '../timetable/realtime.ts';
import { plannedMinuteSeconds, plannedSeconds, type Run } from '../timetable/run.ts';
import { extraTripId, realtimeTripId } from '../timetable/trip-id.ts';
import { trait } from '../trait.ts';
import type { StopTime, StopUpdate, TripUpdate } from './trip-update.ts';

/** The number of a run's trait. */
const LISTED = 15;
/** A train is listed at most this long before it starts. */
export const LONGEST_LISTED_SECONDS = 510 * 60;

const TRAIN = 1;
const BUS = 5;
const FERRY = 9;
const OCCUPANCY_NUMBERS: Record<Occupancy, number> = { MANY_SEATS: 1, FEW_SEATS: 2, STANDING_ONLY: 3 };

/** What a feed says of a run: one trip, two where an extra run replaces it, none where nothing is known of it. */
export function updatesOfRun(run: Run, nowSeconds: number): TripUpdate[] {
  const trip = { tripId: realtimeTripId(run), ...tripOf(run) };
  if (!isReported(run, nowSeconds)) return unreported(run, nowSeconds).map((stops) => ({ ...trip, ...stops }));
  if (cancellationOf(run) === 'trip') {
    const cancelled: TripUpdate = { ...trip, relationship: 'canceled', stopUpdates: [] };
    const stopUpdates = isReplaced(run) ? extraStops(run, nowSeconds) : [];
    if (stopUpdates.length === 0) return [cancelled];
    return [cancelled, { ...trip, tripId: extraTripId(run), relationship: 'added', stopUpdates }];
  }
  const relationship = isListedAnew(run) ? 'replacement' : 'scheduled';
  const stopUpdates = callsOf(run).flatMap((call) => updateOfCall(run, call, nowSeconds));
  const isOnTheWay = callsOf(run).some((call) => expectedSeconds(run, call, nowSeconds) >= nowSeconds);
  return isOnTheWay ? [{ ...trip, relationship, stopUpdates }] : [];
}

/** Trains are listed without stop updates, some hours ahead; of buses it is said that there is no data. */
function unreported(run: Run, nowSeconds: number): Pick<TripUpdate, 'relationship' | 'stopUpdates'>[] {
  if (classOf(run) === TRAIN) {
    const listedSeconds = 3600 + (LONGEST_LISTED_SECONDS - 3600) * trait(run.seed, LISTED) ** 4;
    return run.startSeconds - nowSeconds <= listedSeconds ? [{ relationship: 'scheduled', stopUpdates: [] }] : [];
  }
  if (classOf(run) !== BUS || !isAhead(run, nowSeconds)) return [];
  const stopUpdates = callsOf(run).flatMap((call) => noData(run, call, nowSeconds));
  return stopUpdates.length > 0 ? [{ relationship: 'scheduled', stopUpdates }] : [];
}

function updateOfCall(run: Run, call: number, nowSeconds: number): StopUpdate[] {
  if (cancellationOf(run) === call) return skipped(run, call, nowSeconds);
  if (!isTracked(run, nowSeconds)) return noData(run, call, nowSeconds);
  const expected = expectedSeconds(run, call, nowSeconds);
  const isPassed = expected < nowSeconds;
  // Ferries and trips that are listed anew keep the stops that they have passed; the others lose them.
  if (isPassed && classOf(run) !== FERRY && !isListedAnew(run)) return [];
  const place = { ...placeOf(run, call, actualPoint(run, call)), relationship: 'scheduled' } as const;
  if (classOf(run) !== TRAIN) {
    return [{ ...place, ...timesOf(run, call, delayedTime(expected, plannedSeconds(run, call))) }];
  }
  // The delay of a train is counted from the planned minute, and has no time beside it where the trip is scheduled.
  const { delaySeconds } = delayedTime(expected, plannedMinuteSeconds(run, call));
  const occupancy = occupancyOf(run, call);
  const time = {
    ...(!isPassed && { delaySeconds }),
    ...(isListedAnew(run) && { epochSeconds: expected }),
  };
  const counted = occupancy === undefined ? {} : { occupancy: OCCUPANCY_NUMBERS[occupancy] };
  return [{ ...place, ...timesOf(run, call, time), ...counted }];
}

function skipped(run: Run, call: number, nowSeconds: number): StopUpdate[] {
  if (isOmitted(run) || plannedMinuteSeconds(run, call) < nowSeconds) return [];
  return [{ ...placeOf(run, call, plannedPoint(run, call)), relationship: 'skipped' }];
}

/** The authority gives the planned time and a delay of 0 where it has no data. */
function noData(run: Run, call: number, nowSeconds: number): StopUpdate[] {
  if (plannedMinuteSeconds(run, call) < nowSeconds) return [];
  const time = { delaySeconds: 0, epochSeconds: plannedSeconds(run, call) };
  return [{ ...placeOf(run, call, plannedPoint(run, call)), relationship: 'noData', ...timesOf(run, call, time) }];
}

/** Of a trip that is in no timetable there are times, and no delays. */
function extraStops(run: Run, nowSeconds: number): StopUpdate[] {
  return callsOf(run).flatMap((call): StopUpdate[] => {
    const epochSeconds = plannedSeconds(run, call) + EXTRA_RUN_DELAY_SECONDS;
    if (epochSeconds < nowSeconds) return [];
    const place = placeOf(run, call, plannedPoint(run, call));
    return [{ ...place, relationship: 'scheduled', ...timesOf(run, call, { epochSeconds }) }];
  });
}

function tripOf(run: Run): Pick<TripUpdate, 'routeId' | 'start'> {
  const routeId = run.pattern.line.id.replace(':', '_');
  if (classOf(run) === TRAIN) return { routeId };
  const date = new Date(run.day * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  const clock = [Math.floor(run.minute / 60), run.minute % 60, 0];
  return { routeId, start: { date, time: clock.map((part) => String(part).padStart(2, '0')).join(':') } };
}

function placeOf(run: Run, call: number, { point }: PointNode): Pick<StopUpdate, 'stopId' | 'sequence'> {
  return classOf(run) === TRAIN ? { stopId: point.id } : { stopId: point.id, sequence: call + 1 };
}

/** No arrival at the first call and no departure from the last. */
function timesOf(run: Run, call: number, time: StopTime): Pick<StopUpdate, 'arrival' | 'departure'> {
  const isLast = call === run.pattern.points.length - 1;
  return { ...(call > 0 && { arrival: time }), ...(!isLast && { departure: time }) };
}

function delayedTime(expectedSeconds: number, plannedSeconds: number): Required<StopTime> {
  return { delaySeconds: expectedSeconds - plannedSeconds, epochSeconds: expectedSeconds };
}

function expectedSeconds(run: Run, call: number, nowSeconds: number): number {
  return plannedSeconds(run, call) + expectedDelaySeconds(run, call, nowSeconds);
}

function plannedPoint(run: Run, call: number): PointNode {
  return run.pattern.points[call] as PointNode;
}

function callsOf(run: Run): number[] {
  return run.pattern.points.map((_, call) => call);
}

function classOf({ pattern }: Run): number {
  return pattern.line.product.class;
}
