import { type Endpoint, findEndpoint, homeOf } from '../journeys/endpoint.ts';
import { changeSeconds } from '../journeys/footpath.ts';
import { type Journey, type JourneyRequest, listJourneys } from '../journeys/journey.ts';
import type { NetworkIndex, PointNode } from '../network/network-index.ts';
import { isKnownToBeCancelled } from '../timetable/realtime.ts';
import { timetableAround } from '../timetable/timetable.ts';
import { seedOf, trait } from '../trait.ts';
import {
  dateInvalid,
  monomodal,
  noConnection,
  noMatches,
  refusal,
  sameOriginAndDestination,
  VERSION,
} from './common.ts';
import { excludedClasses, isPublished, requestedSeconds } from './parameters.ts';
import { rideLeg, type TimedRide, toTimedRide } from './ride-leg.ts';
import { type Walk, walkLeg } from './walk-leg.ts';

const JOURNEYS_PER_RESPONSE = 6;
const MAX_JOURNEYS = 20;

/** The response of `trip`. Journeys are found by planned times; with `TfNSWTR=true`, estimates are added afterwards. */
export function tripResponse(index: NetworkIndex, query: URLSearchParams, nowSeconds: number): object {
  const origin = findEndpoint(index, query.get('name_origin') ?? '');
  const destination = findEndpoint(index, query.get('name_destination') ?? '');
  if (origin === undefined) return refusal(noMatches('origin'));
  if (destination === undefined) return refusal(noMatches('destination'));
  if (homeOf(origin) !== undefined && homeOf(origin) === homeOf(destination)) return refusal(sameOriginAndDestination);

  const atSeconds = requestedSeconds(query, nowSeconds);
  if (atSeconds === undefined || !isPublished(atSeconds, nowSeconds)) return refusal(dateInvalid);

  const arriveBy = query.get('depArrMacro') === 'arr';
  const request = { origin, destination, atSeconds, arriveBy, count: requestedCount(query) };
  const excluded = excludedClasses(query);
  const isForWheelchair = query.has('wheelchair');
  const journeys = listJourneys(
    {
      index,
      timetable: timetableAround(atSeconds),
      isWanted: ({ line, wheelchairAccessible }) =>
        !excluded.has(line.product.class) && !(isForWheelchair && wheelchairAccessible === false),
      isCancelled: (run) => isKnownToBeCancelled(run, nowSeconds),
    },
    request,
  );
  if (journeys.length === 0) return refusal(noConnection);

  const realtimeSeconds = query.get('TfNSWTR') === 'true' ? nowSeconds : undefined;
  const hasEstimatesForTimetableRides =
    trait(seedOf(`${query.get('name_origin')}-${query.get('name_destination')}`), 1) < 0.5;
  return {
    version: VERSION,
    systemMessages: hasEstimatesForTimetableRides ? [monomodal] : [],
    journeys: journeys.map((journey) => journeyShape(journey, request, realtimeSeconds)),
  };
}

function requestedCount(query: URLSearchParams): number {
  const requested = Number(query.get('calcNumberOfTrips') ?? JOURNEYS_PER_RESPONSE);
  return Number.isInteger(requested) && requested > 0 ? Math.min(requested, MAX_JOURNEYS) : JOURNEYS_PER_RESPONSE;
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

/** The rides of a journey, with walk legs before, between and after them if it has any. */
function legsOf(journey: Journey, { origin, destination }: JourneyRequest, nowSeconds: number | undefined): object[] {
  const { departureSeconds, arrivalSeconds } = journey;
  const rides = journey.rides.map((ride) => toTimedRide(ride, nowSeconds));
  const [first, last] = [rides[0], rides.at(-1)];
  if (first === undefined || last === undefined) {
    return [walkLeg({ from: origin, to: destination, departureSeconds, arrivalSeconds, delaySeconds: 0 })];
  }
  const before = {
    from: origin,
    to: pointAt(first, first.fromCall),
    departureSeconds,
    arrivalSeconds: first.departureSeconds,
    delaySeconds: first.estimatedDepartureSeconds - first.departureSeconds,
  };
  const after = {
    from: pointAt(last, last.toCall),
    to: destination,
    departureSeconds: last.arrivalSeconds,
    arrivalSeconds,
    delaySeconds: last.estimatedArrivalSeconds - last.arrivalSeconds,
  };
  const isWalk = (walk: Walk) => walk.arrivalSeconds > walk.departureSeconds;
  return [
    ...[before].filter(isWalk).map(walkLeg),
    ...rides.flatMap((ride, i) => rideAndChange(ride, rides[i + 1])),
    ...[after].filter(isWalk).map(walkLeg),
  ];
}

/** A ride, and the walk to the next ride if that begins at another stop. */
function rideAndChange(ride: TimedRide, next: TimedRide | undefined): object[] {
  if (next === undefined) return [rideLeg(ride, undefined)];
  const from = pointAt(ride, ride.toCall);
  const to = pointAt(next, next.fromCall);
  if (from.at === to.at) return [rideLeg(ride, undefined)];
  const seconds = changeSeconds(from.at, to.at);
  if (from.at.home === to.at.home) return [rideLeg(ride, { to: to.at, seconds })];
  const departureSeconds = ride.arrivalSeconds;
  const delaySeconds = ride.estimatedArrivalSeconds - ride.arrivalSeconds;
  const walk = { from, to, departureSeconds, arrivalSeconds: departureSeconds + seconds, delaySeconds };
  return [rideLeg(ride, undefined), walkLeg(walk)];
}

function pointAt(ride: TimedRide, call: number): Extract<Endpoint, { kind: 'point' }> {
  return { kind: 'point', at: ride.run.pattern.points[call] as PointNode };
}
