import bindings from 'gtfs-realtime-bindings';
import { BUS, FERRY, METRO, TRAIN } from '../network/network.ts';
import type { PointNode } from '../network/network-index.ts';
import {
  actualPoint,
  cancellationOf,
  EXTRA_RUN_DELAY_SECONDS,
  expectedDelaySeconds,
  isAhead,
  isListedAnew,
  isOmitted,
  isReplaced,
  isReported,
  isTracked,
  type Occupancy,
  occupancyOf,
} from '../timetable/realtime.ts';
import {
  classOf,
  extraTripId,
  plannedMinuteSeconds,
  plannedSeconds,
  type Run,
  realtimeTripId,
  routeIdOf,
} from '../timetable/run.ts';
import { seedWith, trait } from '../trait.ts';

const { ScheduleRelationship: TRIP } = bindings.transit_realtime.TripDescriptor;
const { ScheduleRelationship: STOP } = bindings.transit_realtime.TripUpdate.StopTimeUpdate;

type StopUpdate = bindings.transit_realtime.TripUpdate.IStopTimeUpdate;

/* Trait numbers of a run; `CARRIAGE + n` is the trait number of carriage n. */
const LISTED = 15;
const SHORT = 18;
const CARRIAGE = 20;
/** A train is listed at most this long before it starts. */
export const MAX_LISTED_SECONDS = 510 * 60;

/** Protobuf tag of field 6, with wire type varint. */
const OCCUPANCY_FIELD = 6 << 3;
/** The numbers of GTFS-realtime. */
export const OCCUPANCY_NUMBERS: Record<Occupancy, number> = { MANY_SEATS: 1, FEW_SEATS: 2, STANDING_ONLY: 3 };
const PREDICTED = 7;
const SHORT_SHARE = 0.2;

/** Returns the trips of a run in the feed: usually one, two if an extra run replaces it, none if nothing is known about it. */
export function updatesOfRun(run: Run, nowSeconds: number): bindings.transit_realtime.ITripUpdate[] {
  const update = (
    scheduleRelationship: bindings.transit_realtime.TripDescriptor.ScheduleRelationship,
    stopTimeUpdate: StopUpdate[],
    tripId = realtimeTripId(run),
  ) => ({
    trip: { tripId, ...tripOf(run), scheduleRelationship },
    stopTimeUpdate,
  });
  if (!isReported(run, nowSeconds)) {
    const stops = unreportedStops(run, nowSeconds);
    return stops ? [update(TRIP.SCHEDULED, stops)] : [];
  }
  if (cancellationOf(run) === 'trip') {
    const cancelled = update(TRIP.CANCELED, []);
    const stops = isReplaced(run) ? extraStops(run, nowSeconds) : [];
    return stops.length === 0 ? [cancelled] : [cancelled, update(TRIP.ADDED, stops, extraTripId(run))];
  }
  const isOnTheWay = callsOf(run).some((call) => expectedSeconds(run, call, nowSeconds) >= nowSeconds);
  if (!isOnTheWay) return [];
  const stops = callsOf(run).flatMap((call) => updateOfCall(run, call, nowSeconds));
  return [update(isListedAnew(run) ? TRIP.REPLACEMENT : TRIP.SCHEDULED, stops)];
}

/** A train is listed without stop updates a few hours ahead; buses have "no data"; null if the run is not listed. */
function unreportedStops(run: Run, nowSeconds: number): StopUpdate[] | null {
  if (classOf(run) === TRAIN) {
    const listedSeconds = 3600 + (MAX_LISTED_SECONDS - 3600) * trait(run.seed, LISTED) ** 4;
    return run.startSeconds - nowSeconds <= listedSeconds ? [] : null;
  }
  if (classOf(run) !== BUS || !isAhead(run, nowSeconds)) return null;
  const stops = callsOf(run).flatMap((call) => noData(run, call, nowSeconds));
  return stops.length > 0 ? stops : null;
}

function updateOfCall(run: Run, call: number, nowSeconds: number): StopUpdate[] {
  if (cancellationOf(run) === call) return skippedStop(run, call, nowSeconds);
  if (!isTracked(run, nowSeconds)) return noData(run, call, nowSeconds);
  const expected = expectedSeconds(run, call, nowSeconds);
  const isPassed = expected < nowSeconds;
  // Ferries and trips with a new list of calls keep passed stops; others drop them.
  if (isPassed && classOf(run) !== FERRY && !isListedAnew(run)) return [];
  const point = actualPoint(run, call);
  if (classOf(run) !== TRAIN) {
    const time = { delay: expected - plannedSeconds(run, call), time: expected };
    return [stopUpdate(run, call, STOP.SCHEDULED, time, point)];
  }
  // The delay of a train counts from the planned minute. Only trains with a new list of calls also have a time.
  const delay = expected - plannedMinuteSeconds(run, call);
  const time = { ...(!isPassed && { delay }), ...(isListedAnew(run) && { time: expected }) };
  const occupancy = occupancyOf(run, call);
  // The standard has another meaning for field 6, so the bindings cannot write upstream's.
  const occupancyFields = occupancy && {
    $unknowns: [
      Uint8Array.of(OCCUPANCY_FIELD, OCCUPANCY_NUMBERS[occupancy]),
      ...carriagesOf(run, call, { field: PREDICTED, occupancy }),
    ],
  };
  return [{ ...stopUpdate(run, call, STOP.SCHEDULED, time, point), ...occupancyFields }];
}

/**
 * The carriages of a train or metro, each with its position. `field` has its load, which is close to that of the whole train;
 * it is missing if passengers are not counted. Empty for other modes.
 */
export function carriagesOf(
  run: Run,
  call: number,
  { field, occupancy }: { field: number; occupancy: Occupancy | undefined },
): Uint8Array[] {
  const trainLength = trait(run.seed, SHORT) < SHORT_SHARE ? 4 : 8;
  const count = { [TRAIN]: trainLength, [METRO]: 6 }[classOf(run)] ?? 0;
  return Array.from({ length: count }, (_, index) => {
    const crowding = trait(seedWith(run.seed, call), CARRIAGE + index);
    const number = occupancy && OCCUPANCY_NUMBERS[occupancy] + (crowding < 0.05 ? -1 : crowding > 0.9 ? 1 : 0);
    return ownExtension([
      2 << 3,
      index + 1,
      ...(number === undefined ? [] : [field << 3, Math.min(3, Math.max(1, number))]),
    ]);
  });
}

/** Writes upstream's extension field 1007, which the bindings lack. */
export function ownExtension(message: readonly number[]): Uint8Array {
  return Uint8Array.of(0xfa, 0x3e, message.length, ...message);
}

function skippedStop(run: Run, call: number, nowSeconds: number): StopUpdate[] {
  if (isOmitted(run) || plannedMinuteSeconds(run, call) < nowSeconds) return [];
  return [stopUpdate(run, call, STOP.SKIPPED)];
}

/** Where upstream has no data, it gives the planned time and a delay of 0. */
function noData(run: Run, call: number, nowSeconds: number): StopUpdate[] {
  if (plannedMinuteSeconds(run, call) < nowSeconds) return [];
  return [stopUpdate(run, call, STOP.NO_DATA, { delay: 0, time: plannedSeconds(run, call) })];
}

/** A trip that is in no timetable has times but no delays. */
function extraStops(run: Run, nowSeconds: number): StopUpdate[] {
  return callsOf(run).flatMap((call): StopUpdate[] => {
    const time = plannedSeconds(run, call) + EXTRA_RUN_DELAY_SECONDS;
    return time < nowSeconds ? [] : [stopUpdate(run, call, STOP.SCHEDULED, { time })];
  });
}

/** Trains have no service day and no start time. */
export function tripOf(run: Run) {
  const routeId = routeIdOf(run.pattern.line);
  if (classOf(run) === TRAIN) return { routeId };
  const startDate = new Date(run.day * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  const clock = [Math.floor(run.minute / 60), run.minute % 60, 0];
  return { routeId, startDate, startTime: clock.map((part) => String(part).padStart(2, '0')).join(':') };
}

/** Trains have no sequence. The first call has no arrival, and the last has no departure. */
function stopUpdate(
  run: Run,
  call: number,
  scheduleRelationship: bindings.transit_realtime.TripUpdate.StopTimeUpdate.ScheduleRelationship,
  time?: { delay?: number; time?: number },
  { id: stopId } = run.pattern.points[call] as PointNode,
): StopUpdate {
  const isLast = call === run.pattern.points.length - 1;
  return {
    stopId,
    ...(classOf(run) !== TRAIN && { stopSequence: call + 1 }),
    scheduleRelationship,
    ...(time && call > 0 && { arrival: time }),
    ...(time && !isLast && { departure: time }),
  };
}

function expectedSeconds(run: Run, call: number, nowSeconds: number): number {
  return plannedSeconds(run, call) + expectedDelaySeconds(run, call, nowSeconds);
}

function callsOf(run: Run): number[] {
  return run.pattern.points.map((_, call) => call);
}
