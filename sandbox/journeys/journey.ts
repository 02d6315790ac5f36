import { distanceMetres } from '../network/network.ts';
import { plannedSeconds } from '../timetable/run.ts';
import { type Endpoint, entrancesOf } from './endpoint.ts';
import { STOP_REACH_METRES, walkSeconds } from './footpath.ts';
import { type Found, type Ride, type Search, searchRounds } from './journey-search.ts';

/** A journey from origin to destination; without rides, it is a walk. Times are planned times in epoch seconds. */
export interface Journey {
  departureSeconds: number;
  arrivalSeconds: number;
  rides: readonly Ride[];
  /** Upstream's flag for a journey beyond the requested number. */
  isAdditional: boolean;
}

/** A request to `trip`, with its ends resolved. Times are epoch seconds. */
export interface JourneyRequest {
  origin: Endpoint;
  destination: Endpoint;
  atSeconds: number;
  /** Whether `atSeconds` is the arrival; otherwise it is the departure. */
  arriveBy: boolean;
  count: number;
}

const HORIZON_SECONDS = 30 * 3600;

/**
 * Finds the Pareto set of departure and arrival: no journey leaves later and arrives earlier than another. Earliest first for
 * a departure time, latest first for an arrival time. If the ends are within walking distance, the walk comes first.
 */
export function listJourneys(search: Search, request: JourneyRequest): Journey[] {
  const walk = walkBetween(request);
  const journeyRides = listRides(search, request);
  if (walk === undefined) return journeyRides;
  const longest = walk.arrivalSeconds - walk.departureSeconds;
  const rides = journeyRides.filter((journey) => journey.arrivalSeconds - journey.departureSeconds < longest);
  return [walk, ...rides.slice(0, request.count - 1)];
}

/**
 * Finds the earliest arrival for a departure time, then the latest departure with that arrival; the next search starts just
 * after it. For an arrival time, the directions are swapped.
 */
function listRides(search: Search, { origin, destination, atSeconds, arriveBy, count }: JourneyRequest): Journey[] {
  const ends = [entrancesOf(search.index, origin), entrancesOf(search.index, destination)] as const;
  const [firstDirection, secondDirection] = arriveBy
    ? (['backward', 'forward'] as const)
    : (['forward', 'backward'] as const);
  const [near, far] = arriveBy ? [ends[1], ends[0]] : ends;
  const sign = arriveBy ? -1 : 1;
  const limit = atSeconds + sign * HORIZON_SECONDS;
  const journeys: Journey[] = [];
  const additional: Journey[] = [];
  for (let at = atSeconds; journeys.length < count; ) {
    const { journeys: ways, ready } = searchRounds(search, firstDirection, at, near, far, limit);
    const best = ways.at(-1);
    if (best === undefined) break;
    const back = searchRounds(search, secondDirection, best.endSeconds, far, near, at - sign, ready);
    const shortest = back.journeys.at(-1) ?? best;
    const journey = journeyOf(shortest);
    const [simplest = best] = ways;
    // The journey with the fewest changes, if it is slower than the fastest.
    if (!arriveBy && journeys.length === 0 && simplest !== best)
      additional.push({ ...journeyOf(simplest), isAdditional: true });
    journeys.push(journey);
    at = arriveBy ? journey.arrivalSeconds - 1 : journey.departureSeconds + 1;
  }
  journeys.push(...additional.filter((other) => !journeys.some((journey) => isSameWay(journey, other))));
  return arriveBy ? journeys : journeys.sort((a, b) => a.departureSeconds - b.departureSeconds);
}

function journeyOf(rides: Found): Journey {
  const firstRide = rides.rides[0] as Ride;
  const lastRide = rides.rides.at(-1) as Ride;
  return {
    departureSeconds: plannedSeconds(firstRide.run, firstRide.fromCall) - rides.first.walkSeconds,
    arrivalSeconds: plannedSeconds(lastRide.run, lastRide.toCall) + rides.last.walkSeconds,
    rides: rides.rides,
    isAdditional: false,
  };
}

function isSameWay(a: Journey, b: Journey): boolean {
  return a.rides.length === b.rides.length && a.rides.every(({ run }, i) => run === b.rides[i]?.run);
}

function walkBetween(request: JourneyRequest): Journey | undefined {
  const { origin, destination } = request;
  if (distanceMetres(origin.at, destination.at) > STOP_REACH_METRES) return undefined;
  const seconds = walkSeconds(origin.at, destination.at);
  const departureSeconds = request.arriveBy ? request.atSeconds - seconds : request.atSeconds;
  return { departureSeconds, arrivalSeconds: departureSeconds + seconds, rides: [], isAdditional: false };
}
