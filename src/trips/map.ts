import { efaJourneySchema, type TripPayload } from '../efa/payload.ts';
import { bestKnown, type PlannedAndRealtime } from '../efa/realtime.ts';
import { type LeftOutCounts, mapRecords } from '../efa/record.ts';
import { findUnknownStopMessage, saysDateInvalid, saysSamePlace } from '../efa/system-message.ts';
import { beyondTimetable, noJourneys, unknownStop } from '../error-messages.ts';
import { ApiError } from '../errors.ts';
import { formatTimestamp, minutesBetween, type WallClock } from '../transit/time.ts';
import type { JourneyBody, LegBody } from './journey.ts';
import { type Leg, mapLeg } from './leg.ts';
import { joinLegs } from './walk.ts';

/** A journey as mapped: its legs join, its ends carry the best time known. */
export interface Journey {
  legs: Leg[];
  start: PlannedAndRealtime;
  end: PlannedAndRealtime;
}

/**
 * Throws `STOP_NOT_FOUND`, `DATE_OUT_OF_RANGE` or `NO_JOURNEYS_FOUND` when the answer has no journeys, by its cause,
 * and `NO_JOURNEYS_FOUND` when all of its journeys are cancelled.
 */
export function mapJourneys(
  payload: TripPayload,
  { from, to, at }: { from: string; to: string; at: WallClock | null },
): { journeys: Journey[]; leftOut: LeftOutCounts } {
  if (payload.journeys.length === 0) throw whyNoJourneys(payload, { from, to, at });
  const { kept, leftOut } = mapRecords(payload.journeys, efaJourneySchema, ({ legs }) => {
    const joined = joinLegs(legs.map(mapLeg));
    return { legs: joined, start: journeyStart(joined), end: journeyEnd(joined) };
  });
  if (kept.length === 0) throw whyNoJourneys(payload, { from, to, at });
  return { journeys: kept, leftOut };
}

/** The journey as callers see it. */
export function toJourneyBody({ legs, start, end }: Journey): JourneyBody {
  return {
    departs_at: formatTimestamp(start.planned),
    arrives_at: formatTimestamp(end.planned),
    departs_at_realtime: start.realtime && formatTimestamp(start.realtime),
    arrives_at_realtime: end.realtime && formatTimestamp(end.realtime),
    duration_minutes: Math.max(0, Math.round(minutesBetween(bestKnown(start), bestKnown(end)))),
    changes: countChanges(legs),
    is_live: legs.some((leg) => leg.isLive),
    legs: legs.map(toLegBody),
  };
}

/**
 * What the journeys themselves call the stop: the name at that very point, else the one most of them use (some begin
 * at a light rail stop or a wharf of the same place).
 */
export function findEndName(journeys: readonly Journey[], stopId: string, end: 'origin' | 'destination'): string {
  const ends = journeys.map(({ legs }) => (legs.at(end === 'origin' ? 0 : -1) as Leg)[end]);
  const names = ends.map(({ name, parent }) => (parent?.stopId === stopId ? parent.name : name));
  const count = (name: string) => names.filter((other) => other === name).length;
  const mostUsed = names.reduce((best, name) => (count(name) > count(best) ? name : best), names[0] ?? stopId);
  return ends.find((one) => one.stopId === stopId)?.name ?? mostUsed;
}

function toLegBody(leg: Leg): LegBody {
  const { origin, destination } = leg;
  return {
    mode: leg.mode,
    route: leg.route,
    line_name: leg.lineName,
    direction: leg.direction,
    origin: {
      stop_id: origin.stopId,
      name: origin.name,
      platform: origin.platform,
      lat: origin.position[0],
      lng: origin.position[1],
      departs_at: formatTimestamp(origin.planned),
      departs_at_realtime: origin.realtime && formatTimestamp(origin.realtime),
    },
    destination: {
      stop_id: destination.stopId,
      name: destination.name,
      platform: destination.platform,
      lat: destination.position[0],
      lng: destination.position[1],
      arrives_at: formatTimestamp(destination.planned),
      arrives_at_realtime: destination.realtime && formatTimestamp(destination.realtime),
    },
    duration_minutes: leg.durationMinutes,
    distance_metres: leg.distanceMetres,
    stops: leg.stops,
    is_live: leg.isLive,
    path: leg.path,
    alerts: leg.alerts,
  };
}

/** Live when the first ride is; a walk before it moves with it. */
function journeyStart(legs: readonly Leg[]): PlannedAndRealtime {
  const { planned } = (legs[0] as Leg).origin;
  const ride = legs.find((leg) => leg.mode !== 'walk')?.origin;
  return { planned, realtime: ride?.realtime ? shifted(ride.realtime, ride.planned, planned) : null };
}

/**
 * Live when the last ride is; a walk after it moves with it. How far is counted from where that walk begins: upstream
 * sometimes plans it behind the delay of the ride already.
 */
function journeyEnd(legs: readonly Leg[]): PlannedAndRealtime {
  const { planned } = (legs.at(-1) as Leg).destination;
  const last = legs.findLastIndex((leg) => leg.mode !== 'walk');
  const ride = legs[last]?.destination;
  const leaves = legs[last + 1]?.origin.planned ?? planned;
  return { planned, realtime: ride?.realtime ? shifted(ride.realtime, leaves, planned) : null };
}

/** The instant, moved by what lies between the other two. */
function shifted(instant: Date, from: Date, until: Date): Date {
  return new Date(instant.getTime() + until.getTime() - from.getTime());
}

/** Interchanges between rides. */
export function countChanges(legs: readonly Leg[]): number {
  return Math.max(0, legs.filter((leg) => leg.mode !== 'walk').length - 1);
}

function whyNoJourneys(
  { systemMessages }: TripPayload,
  { from, to, at }: { from: string; to: string; at: WallClock | null },
): ApiError {
  const unknownStopMessage = findUnknownStopMessage(systemMessages);
  if (unknownStopMessage) {
    const [, end] = /^(origin|destination)\b/.exec(unknownStopMessage.text ?? '') ?? [];
    if (end === 'origin') return unknownStop('from', from);
    if (end === 'destination') return unknownStop('to', to);
    return new ApiError(
      'STOP_NOT_FOUND',
      `from, to: the transport authority does not know one of the stops ${from} and ${to}.`,
    );
  }
  if (saysDateInvalid(systemMessages)) {
    return beyondTimetable(at?.date ?? null);
  }
  if (saysSamePlace(systemMessages)) {
    return new ApiError('NO_JOURNEYS_FOUND', `from and to, ${from} and ${to}, are the same place.`);
  }
  return noJourneys(from, to);
}
