import { distanceMetres } from '../network/network.ts';
import { plannedSeconds } from '../timetable/run.ts';
import { type Endpoint, entrancesOf, positionOf } from './endpoint.ts';
import { STOP_REACH_METRES, walkSeconds } from './footpath.ts';
import { type Entrance, type Found, type Ride, type Search, searchRounds } from './journey-search.ts';

/** One way from origin to destination; without rides, a walk. Planned times in epoch seconds. */
export interface Journey {
  departureSeconds: number;
  arrivalSeconds: number;
  rides: readonly Ride[];
  /** Upstream's mark for a journey beyond the wanted number. */
  isAdditional: boolean;
}

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
 * Journeys in which a later departure always means a later arrival (a Pareto set). With a departure time, earliest
 * first; with an arrival time, latest first. Between two near places the walk comes first.
 */
export function findJourneys(search: Search, request: JourneyRequest): Journey[] {
  const starts = entrancesOf(search.index, request.origin);
  const goals = entrancesOf(search.index, request.destination);
  const walk = walkBetween(request);
  const found = request.arriveBy
    ? arrivingJourneys(search, request, starts, goals)
    : departingJourneys(search, request, starts, goals);
  const longest = walk === undefined ? Infinity : walk.arrivalSeconds - walk.departureSeconds;
  const rides = found.filter((journey) => journey.arrivalSeconds - journey.departureSeconds < longest);
  return walk === undefined ? rides : [walk, ...rides.slice(0, request.count - 1)];
}

function departingJourneys(
  search: Search,
  request: JourneyRequest,
  starts: readonly Entrance[],
  goals: readonly Entrance[],
): Journey[] {
  const limit = request.atSeconds + HORIZON_SECONDS;
  const journeys: Journey[] = [];
  let additional: Journey | undefined;
  for (let at = request.atSeconds; journeys.length < request.count; ) {
    const ways = searchRounds(search, 'forward', at, starts, goals, limit);
    const earliest = ways.at(-1);
    if (earliest === undefined) break;
    const latest = searchRounds(search, 'backward', earliest.endSeconds, goals, starts, at - 1).at(-1) ?? earliest;
    const journey = journeyOf(latest);
    const [simplest = earliest] = ways;
    // The way with the fewest changes, where it is slower than the fastest.
    if (journeys.length === 0 && simplest !== earliest) additional = { ...journeyOf(simplest), isAdditional: true };
    journeys.push(journey);
    at = journey.departureSeconds + 1;
  }
  if (additional !== undefined && !journeys.some((journey) => isSameWay(journey, additional)))
    journeys.push(additional);
  return journeys.sort((a, b) => a.departureSeconds - b.departureSeconds);
}

function arrivingJourneys(
  search: Search,
  request: JourneyRequest,
  starts: readonly Entrance[],
  goals: readonly Entrance[],
): Journey[] {
  const limit = request.atSeconds - HORIZON_SECONDS;
  const journeys: Journey[] = [];
  for (let at = request.atSeconds; journeys.length < request.count; ) {
    const latest = searchRounds(search, 'backward', at, goals, starts, limit).at(-1);
    if (latest === undefined) break;
    const earliest = searchRounds(search, 'forward', latest.endSeconds, starts, goals, at + 1).at(-1) ?? latest;
    const journey = journeyOf(earliest);
    journeys.push(journey);
    at = journey.arrivalSeconds - 1;
  }
  return journeys;
}

function journeyOf(found: Found): Journey {
  const firstRide = found.rides[0] as Ride;
  const lastRide = found.rides.at(-1) as Ride;
  return {
    departureSeconds: plannedSeconds(firstRide.run, firstRide.fromCall) - found.first.walkSeconds,
    arrivalSeconds: plannedSeconds(lastRide.run, lastRide.toCall) + found.last.walkSeconds,
    rides: found.rides,
    isAdditional: false,
  };
}

function isSameWay(a: Journey, b: Journey | undefined): boolean {
  return (
    a.rides.length === b?.rides.length &&
    a.rides.every((ride, i) => {
      const other = b.rides[i];
      return ride.run.pattern === other?.run.pattern && ride.run.startSeconds === other.run.startSeconds;
    })
  );
}

function walkBetween(request: JourneyRequest): Journey | undefined {
  const from = positionOf(request.origin);
  const to = positionOf(request.destination);
  if (distanceMetres(from, to) > STOP_REACH_METRES) return undefined;
  const seconds = walkSeconds(from, to);
  const departureSeconds = request.arriveBy ? request.atSeconds - seconds : request.atSeconds;
  return { departureSeconds, arrivalSeconds: departureSeconds + seconds, rides: [], isAdditional: false };
}
