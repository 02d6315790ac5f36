import { mayBeStop } from '../efa/known-stop.ts';
import { efaJourneySchema, type TripPayload } from '../efa/payload.ts';
import { type LeftOutCounts, mapRecords, unusableAnswer } from '../efa/record.ts';
import { findUnknownStopMessage, saysDateInvalid, saysSamePlace } from '../efa/system-message.ts';
import { beyondTimetable, noJourneys, unknownStop } from '../error-messages.ts';
import { ApiError } from '../errors.ts';
import type { WallClock } from '../transit/time.ts';
import { destinationOf, type Journey, originOf } from './journey.ts';
import { mapLeg } from './leg.ts';
import { createPositions } from './positions.ts';
import { joinLegs } from './walk.ts';
import { timeWalks } from './walk-times.ts';

/** The stops, and the time; null means now. */
interface Asked {
  from: string;
  to: string;
  at: WallClock | null;
}

/**
 * Throws `STOP_NOT_FOUND`, `DATE_OUT_OF_RANGE` or `NO_JOURNEYS_FOUND` when the answer has no journeys, by its cause,
 * `NO_JOURNEYS_FOUND` when all of its journeys are cancelled, and `UPSTREAM_ERROR` when they are those of other stops.
 */
export async function mapJourneys(
  payload: TripPayload,
  asked: Asked,
): Promise<{ journeys: Journey[]; leftOut: LeftOutCounts }> {
  const findElsewhere = createPositions(payload.journeys);
  const { kept, leftOut } = await mapRecords(payload.journeys, efaJourneySchema, ({ legs }) => ({
    legs: timeWalks(joinLegs(legs.map((leg) => mapLeg(leg, findElsewhere)))),
  }));
  if (kept.length === 0) throw whyNoJourneys(payload, asked);
  const areAsked =
    kept.some((journey) => mayBeStop(originOf(journey).ids, asked.from)) &&
    kept.some((journey) => mayBeStop(destinationOf(journey).ids, asked.to));
  if (!areAsked) throw unusableAnswer(`the journeys are not those from ${asked.from} to ${asked.to}`);
  return { journeys: kept, leftOut };
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
