import { mayBeStop } from '../efa/known-stop.ts';
import { efaJourneySchema, type TripPayload } from '../efa/payload.ts';
import { LeftOut, type LeftOutCounts, mapRecords, sumLeftOut, unusableAnswer } from '../efa/record.ts';
import { findUnknownStopMessage, saysDateInvalid, saysSamePlace } from '../efa/system-message.ts';
import { beyondTimetable, noJourneys, unknownStop } from '../error-messages.ts';
import { ApiError } from '../errors.ts';
import type { AskedFields } from '../transit/additional-fields.ts';
import type { WallClock } from '../transit/time.ts';
import { destinationOf, isCancelled, type Journey, originOf } from './journey.ts';
import { type FindElsewhere, isCancelledRide, mapLeg } from './leg.ts';
import { createPositions } from './positions.ts';
import { joinLegs } from './walk.ts';
import { timeWalks } from './walk-times.ts';

/** The stops, and the time; null means now. */
interface Asked extends Pick<AskedFields, 'cancelled'> {
  from: string;
  to: string;
  at: WallClock | null;
}

/**
 * Throws `STOP_NOT_FOUND`, `DATE_OUT_OF_RANGE` or `NO_JOURNEYS_FOUND` when the answer has no journeys, by its cause,
 * `NO_JOURNEYS_FOUND` when all of its journeys are cancelled and those are not asked for, and `UPSTREAM_ERROR` when they
 * are those of other stops.
 */
export function mapJourneys(payload: TripPayload, asked: Asked): { journeys: Journey[]; leftOut: LeftOutCounts } {
  const findElsewhere = createPositions(payload.journeys);
  const { kept, leftOut } = mapRecords(payload.journeys, efaJourneySchema, ({ legs }) =>
    mapJourney(legs, findElsewhere),
  );
  const shown = asked.cancelled === 'include' ? kept : kept.filter((journey) => !isCancelled(journey));
  if (shown.length === 0) throw whyNoJourneys(payload, asked);
  const areAsked =
    shown.some((journey) => mayBeStop(originOf(journey).ids, asked.from)) &&
    shown.some((journey) => mayBeStop(destinationOf(journey).ids, asked.to));
  if (!areAsked) throw unusableAnswer(`the journeys are not those from ${asked.from} to ${asked.to}`);
  const notShown = kept.length - shown.length;
  return { journeys: shown, leftOut: notShown > 0 ? sumLeftOut([leftOut, { cancelled: notShown }]) : leftOut };
}

function mapJourney(legs: readonly unknown[], findElsewhere: FindElsewhere): Journey {
  try {
    return { legs: timeWalks(joinLegs(legs.map((leg) => mapLeg(leg, findElsewhere)))) };
  } catch (error) {
    // What is missing from a cancelled journey is no fault of the answer.
    throw legs.some(isCancelledRide) ? new LeftOut('cancelled', { cause: error }) : error;
  }
}

function whyNoJourneys({ systemMessages }: TripPayload, { from, to, at }: Asked): ApiError {
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
  if (saysDateInvalid(systemMessages)) return beyondTimetable(at?.date ?? null);
  if (saysSamePlace(systemMessages)) {
    return new ApiError('NO_JOURNEYS_FOUND', `from and to, ${from} and ${to}, are the same place.`);
  }
  return noJourneys(from, to);
}
