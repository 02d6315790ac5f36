import { unexpectedResponse } from '../../efa/failure.ts';
import {
  findUnknownStopMessage,
  parseJourney,
  saysDateInvalid,
  saysSamePlace,
  type TripPayload,
} from '../../efa/payload.ts';
import { mapRecords } from '../../efa/response/record.ts';
import { ApiError } from '../../errors/api-error.ts';
import {
  beyondTimetable,
  invalidParameters,
  noJourneys,
  unknownPlace,
  unknownPosition,
  unknownStop,
} from '../../errors/messages.ts';
import type { StopLookup } from '../../stops/register.ts';
import { destinationOf, isCancelled, isOnDemand, type Journey, originOf } from '../../transit/journey.ts';
import { LeftOut, type LeftOutCounts, sumLeftOut } from '../../transit/left-out.ts';
import { formatPlace, isPlaceId, outsideNotice, type Place } from '../../transit/place.ts';
import type { JourneyQuery } from '../source.ts';
import { joinLegs, timeWalks } from '../walks.ts';
import { goesElsewhere, identifyEnds, isRequestedEnd } from './ends.ts';
import { isCancelledRide, mapLeg } from './leg.ts';
import { createPositions, type KnownPositions } from './leg-end.ts';

type RequestedJourneys = Pick<JourneyQuery, 'from' | 'to' | 'at' | 'cancelled' | 'conditions'>;

/**
 * Maps the journeys of a response. Throws `STOP_NOT_FOUND`, `DATE_OUT_OF_RANGE` or `NO_JOURNEYS_FOUND` if there are none,
 * depending on the cause; `NO_JOURNEYS_FOUND` if all are cancelled and the query excludes those; `UPSTREAM_ERROR` if the
 * journeys are between other places.
 */
export async function mapJourneys(
  payload: TripPayload,
  requested: RequestedJourneys,
  stops: StopLookup,
): Promise<{ journeys: Journey[]; leftOut: LeftOutCounts }> {
  const knownPositions: KnownPositions = {
    inResponse: createPositions(payload.journeys),
    ofStop(stopId) {
      const stop = stops.get(stopId);
      return stop && [stop.lat, stop.lng];
    },
  };
  const { kept: journeys, leftOut } = await mapRecords(payload.journeys, parseJourney, ({ legs, isAdditional }) => ({
    ...mapJourney(legs, knownPositions),
    isAdditional,
  }));
  const { from, to } = requested;
  const ends = journeys.flatMap((journey) => [originOf(journey), destinationOf(journey)]);
  const positionOf = (stopId: string) =>
    knownPositions.ofStop(stopId) ?? ends.find(({ ids }) => ids.includes(stopId))?.position ?? null;
  // On-demand rides sometimes end at another stop of their area, so leave those out.
  const arriving = journeys.filter((journey) => !isOnDemand(journey) || !goesElsewhere(journey, from, to, positionOf));
  const shownJourneys =
    requested.cancelled === 'include' ? arriving : arriving.filter((journey) => !isCancelled(journey));
  if (shownJourneys.length === 0) throw whyNoJourneys(payload, requested, arriving.length);
  const areRequested =
    shownJourneys.some((journey) => isRequestedEnd(originOf(journey), from)) &&
    shownJourneys.some((journey) => isRequestedEnd(destinationOf(journey), to));
  if (!areRequested) throw unexpectedResponse(`the journeys are not from ${formatPlace(from)} to ${formatPlace(to)}`);
  const elsewhere = journeys.length - arriving.length;
  const cancelled = arriving.length - shownJourneys.length;
  return {
    journeys: shownJourneys.map((journey) => identifyEnds(journey, from, to)),
    leftOut: sumLeftOut([
      leftOut,
      elsewhere > 0 ? { 'ends elsewhere': elsewhere } : {},
      cancelled > 0 ? { cancelled } : {},
    ]),
  };
}

function mapJourney(legs: readonly unknown[], positions: KnownPositions): Journey {
  try {
    return { legs: timeWalks(joinLegs(legs.map((leg) => mapLeg(leg, positions)))) };
  } catch (error) {
    // A cancelled journey may lack fields; that does not make the response invalid.
    throw legs.some(isCancelledRide) ? new LeftOut('cancelled', { cause: error }) : error;
  }
}

function whyNoJourneys({ systemMessages }: TripPayload, requested: RequestedJourneys, cancelled: number): ApiError {
  const from = formatPlace(requested.from);
  const to = formatPlace(requested.to);
  const unknownStopMessage = findUnknownStopMessage(systemMessages);
  if (unknownStopMessage) {
    const [, end] = /^(origin|destination)\b/.exec(unknownStopMessage.text ?? '') ?? [];
    if (end === 'origin') return unknownEnd('from', requested.from);
    if (end === 'destination') return unknownEnd('to', requested.to);
    return new ApiError(
      'STOP_NOT_FOUND',
      `Transport for NSW does not know one of \`from\` (${from}) and \`to\` (${to}).`,
    );
  }
  if (saysDateInvalid(systemMessages)) return beyondTimetable(requested.at?.date ?? null);
  if (saysSamePlace(systemMessages)) {
    const hint = `Transport for NSW treats ${from} and ${to} as the same place.`;
    return invalidParameters([{ parameter: 'to', allowed: 'must differ from `from`', hint }]);
  }
  const outside = [requested.from, requested.to].map(outsideHint).filter((hint) => hint !== '');
  const hint =
    cancelled > 0 ? 'Cancelled journeys are left out by default. To list them: cancelled=include.' : outside.join(' ');
  return noJourneys('planner', from, to, { conditions: requested.conditions, hint });
}

function unknownEnd(parameter: string, place: Place): ApiError {
  if (typeof place !== 'string') return unknownPosition(parameter, formatPlace(place), outsideHint(place));
  return isPlaceId(place) ? unknownPlace(place) : unknownStop(place);
}

function outsideHint(place: Place): string {
  return typeof place === 'string' ? '' : (outsideNotice(...place) ?? '');
}
