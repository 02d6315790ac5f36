import type { Authority } from '../authority.ts';
import { findEndpoint, homeOf } from '../journeys/endpoint.ts';
import { findJourneys, type Journey, type JourneyRequest } from '../journeys/journey.ts';
import { isKnownToBeCut } from '../timetable/realtime.ts';
import { seedOf, trait } from '../trait.ts';
import { excludedClasses } from './exclusion.ts';
import { legsOf } from './journey-legs.ts';
import {
  dateInvalid,
  monomodal,
  noConnection,
  noMatches,
  type SystemMessage,
  sameOriginAndDestination,
  VERSION,
} from './system-message.ts';
import { askedSeconds, isPublished } from './time.ts';

const JOURNEYS_PER_ANSWER = 6;
const MOST_JOURNEYS = 20;

/** Answer of `trip`. Journeys are found by planned times. With `TfNSWTR=true` estimates are added afterwards. */
export function tripResponse(authority: Authority, query: URLSearchParams, nowSeconds: number): object {
  const origin = findEndpoint(authority.index, query.get('name_origin') ?? '');
  const destination = findEndpoint(authority.index, query.get('name_destination') ?? '');
  if (origin === undefined) return refusal(noMatches('origin'));
  if (destination === undefined) return refusal(noMatches('destination'));
  if (homeOf(origin) !== undefined && homeOf(origin) === homeOf(destination)) return refusal(sameOriginAndDestination);

  const atSeconds = askedSeconds(query, nowSeconds);
  if (atSeconds === undefined || !isPublished(atSeconds, nowSeconds)) return refusal(dateInvalid);

  const arriveBy = query.get('depArrMacro') === 'arr';
  const request = { origin, destination, atSeconds, arriveBy, count: askedCount(query) };
  const excluded = excludedClasses(query);
  const isForWheelchair = query.has('wheelchair');
  const journeys = findJourneys(
    {
      index: authority.index,
      timetable: authority.timetableAround(atSeconds),
      footpaths: authority.footpaths,
      isWanted: ({ line, pattern }) =>
        !excluded.has(line.product.class) && !(isForWheelchair && pattern.wheelchairAccessible === false),
      isCut: (run) => isKnownToBeCut(run, nowSeconds),
    },
    request,
  );
  if (journeys.length === 0) return refusal(noConnection);

  const realtimeSeconds = query.get('TfNSWTR') === 'true' ? nowSeconds : undefined;
  const isChatty = trait(seedOf(`${query.get('name_origin')}-${query.get('name_destination')}`), 1) < 0.5;
  return {
    version: VERSION,
    systemMessages: isChatty ? [monomodal] : [],
    journeys: journeys.map((journey) => journeyShape(journey, request, realtimeSeconds)),
  };
}

function refusal(message: SystemMessage): object {
  return { version: VERSION, systemMessages: [message] };
}

function askedCount(query: URLSearchParams): number {
  const asked = Number(query.get('calcNumberOfTrips') ?? JOURNEYS_PER_ANSWER);
  return Number.isInteger(asked) && asked > 0 ? Math.min(asked, MOST_JOURNEYS) : JOURNEYS_PER_ANSWER;
}

function journeyShape(journey: Journey, request: JourneyRequest, nowSeconds: number | undefined): object {
  return {
    ...(journey.rides.length > 0 && { rating: 0 }),
    isAdditional: journey.isAdditional,
    interchanges: Math.max(0, journey.rides.length - 1),
    legs: legsOf(journey, request, nowSeconds),
    fare: { tickets: [] },
    daysOfService: { rvb: journey.rides.length > 0 ? '3C7CE00000000F3E'.padEnd(80, '0') : '' },
  };
}
