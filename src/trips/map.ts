import { efaJourneySchema, type TripPayload } from '../efa/payload.ts';
import { type LeftOutCounts, mapRecords, unusableAnswer } from '../efa/record.ts';
import { findUnknownStopMessage, saysDateInvalid, saysSamePlace } from '../efa/system-message.ts';
import { beyondTimetable, noJourneys, unknownPosition, unknownStop } from '../error-messages.ts';
import { ApiError } from '../errors.ts';
import { formatPlace, type Place } from '../transit/place.ts';
import type { WallClock } from '../transit/time.ts';
import { identifyEnds, isAsked } from './ends.ts';
import { destinationOf, type Journey, originOf } from './journey.ts';
import { mapLeg } from './leg.ts';
import { createPositions } from './positions.ts';
import { joinLegs } from './walk.ts';
import { timeWalks } from './walk-times.ts';

/** The places, and the time; null means now. */
interface Asked {
  from: Place;
  to: Place;
  at: WallClock | null;
  /** Names of the parameters that each journey has to fit. */
  conditions?: readonly string[];
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
  const { from, to } = asked;
  const areAsked =
    kept.some((journey) => isAsked(originOf(journey), from)) &&
    kept.some((journey) => isAsked(destinationOf(journey), to));
  if (!areAsked) throw unusableAnswer(`the journeys are not those from ${formatPlace(from)} to ${formatPlace(to)}`);
  return { journeys: kept.map((journey) => identifyEnds(journey, from, to)), leftOut };
}

function whyNoJourneys({ systemMessages }: TripPayload, asked: Asked): ApiError {
  const from = formatPlace(asked.from);
  const to = formatPlace(asked.to);
  const unknownStopMessage = findUnknownStopMessage(systemMessages);
  if (unknownStopMessage) {
    const [, end] = /^(origin|destination)\b/.exec(unknownStopMessage.text ?? '') ?? [];
    if (end === 'origin') return unknownPlace('from', asked.from);
    if (end === 'destination') return unknownPlace('to', asked.to);
    return new ApiError(
      'STOP_NOT_FOUND',
      `from, to: the transport authority does not know one of the places ${from} and ${to}.`,
    );
  }
  if (saysDateInvalid(systemMessages)) return beyondTimetable(asked.at?.date ?? null);
  if (saysSamePlace(systemMessages)) {
    return new ApiError('NO_JOURNEYS_FOUND', `from and to, ${from} and ${to}, are the same place.`);
  }
  return noJourneys(from, to, asked.conditions);
}

function unknownPlace(parameter: string, place: Place): ApiError {
  return typeof place === 'string' ? unknownStop(parameter, place) : unknownPosition(parameter, formatPlace(place));
}
