import { describeHeadway } from '../boards/headway.ts';
import { findThroughHeadsign, joinRuns } from '../boards/run-calls.ts';
import { listBoardStops } from '../boards/scheduled.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import type { Turn } from '../core/turn-queue.ts';
import type { ApiError } from '../errors/api-error.ts';
import { beyondTimetable, noJourneys, noTimetable, notInTimetable } from '../errors/messages.ts';
import { type FeedAges, type FeedRequests, freshnessOfFeeds, requestFeeds } from '../realtime/live-feeds.ts';
import { type LiveRun, type LiveTimetable, publicTripId } from '../realtime/live-timetable.ts';
import { listFeedSources } from '../realtime/polling/feed-source.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { TimetableInUse } from '../timetable/update/keep-current.ts';
import type { FindAlerts, FindLiftsOut } from '../transit/alert.ts';
import { withBookingNotice } from '../transit/booking.ts';
import { isLiveCall, type RunCall } from '../transit/call.ts';
import type { Choices } from '../transit/choices.ts';
import { type Journey, LEG_DEFAULTS, type Leg, type LegEnd, rideMs } from '../transit/journey.ts';
import type { MissingTimetable } from '../transit/missing-timetable.ts';
import { MODES, type Mode } from '../transit/mode.ts';
import { distanceMetres, formatPlace, nameInPlaceId, type Place, type Position } from '../transit/place.ts';
import { positionInPlaceId } from '../transit/place-grid.ts';
import { bestKnown, type CallTime, earliestMoment, toMinute, type WallClock } from '../transit/time.ts';
import { UNKNOWN_ACCESS } from '../transit/vehicle-access.ts';
import { LONGEST_WALK_METRES, walkSeconds } from '../transit/walking.ts';
import type { JourneyEngine } from './engine.ts';
import type {
  EngineEnd,
  EngineJourney,
  EnginePart,
  EngineRide,
  EngineViaPart,
  EngineViaQuery,
  SearchName,
  SearchQuery,
} from './engine-messages.ts';
import { withNewestTimetable } from './engines.ts';
import { stopsWithoutLift } from './lifts.ts';
import {
  type FoundJourneys,
  type JourneyQuery,
  needsTimetable,
  type RiderQuery,
  type TimetableJourneys,
} from './source.ts';
import { timeWalks } from './walks.ts';

/** The longest walk to a wharf, and between wharves. They are short because the straight line may cross water. */
const WHARF_REACH_METRES = [500, 150] as const;
const MAX_JOURNEYS = 6;
export const DEFAULT_CHANGES = 6;
/** The timetable must cover the time from this long before the requested one to this long after it. */
const COVERED_MS = HOUR_MS / 2;

export interface TimetableSearch {
  timetable: TimetableInUse & { missing(): MissingTimetable };
  engines: { get(timetable: Timetable): Pick<JourneyEngine, 'search'> };
  feeds: (FeedRequests & FeedAges) | null;
  listAlerts?: FindAlerts | undefined;
  listLiftsOut?: FindLiftsOut | undefined;
  now: () => number;
}

/** An end of a journey: its position, and the stops reachable from it. */
export interface End extends EngineEnd, WalkEnd {
  place: Place;
  position: Position;
  /** The requested stop (for a group of poles, `G…`, one of them); null for a position. */
  stop: number | null;
  name: string | null;
}

interface WalkEnd {
  position: Position;
  /** Whether only ferries serve the place. */
  isWharf: boolean;
}

/** The part of an end that a search needs. */
export function toEngineEnd({ stops, withAround, position }: End): Required<EngineEnd> {
  return { stops, withAround, position };
}

/** Returns the timetable with feeds as a source of journeys. */
export function timetableJourneys(options: TimetableSearch): TimetableJourneys {
  const { listAlerts: findAlerts = () => [], now } = options;

  function resolve(query: JourneyQuery) {
    const timetable = options.timetable.get();
    const from = timetable && findEnd(timetable, query.from, query.choices);
    const to = timetable && findEnd(timetable, query.to, query.choices);
    return timetable && from && to ? { timetable, from, to } : null;
  }

  const lastDay = () => options.timetable.get()?.lastDay() ?? null;

  function covers(query: JourneyQuery): boolean {
    const ends = resolve(query);
    if (!ends) return false;
    return coversEnds(ends.timetable, [ends.from, ends.to], { at: momentOf(query.at, now()), modes: query.modes });
  }

  /**
   * The error for a query whose ends the timetable lacks. With `via` or choices no other source is tried, so it names the missing
   * stop.
   */
  function toSearchError(query: JourneyQuery): ApiError {
    const { from, to, at } = query;
    const timetable = options.timetable.get();
    if (!needsTimetable(query)) return beyondTimetable(at?.date ?? null, lastDay());
    if (!timetable) return noTimetable(options.timetable.missing());
    return findEnd(timetable, from, query.choices)
      ? notInTimetable('to', formatPlace(to))
      : notInTimetable('from', formatPlace(from));
  }

  async function fetchOnce(query: JourneyQuery, turn?: Turn): Promise<FoundJourneys> {
    const ends = resolve(query);
    if (!ends) throw toSearchError(query);
    const { timetable, from, to } = ends;
    if (needsTimetable(query) && !covers(query)) throw beyondTimetable(query.at?.date ?? null, lastDay());
    const { common, search, freshness: freshnessAsOf } = await beginSearch(options, timetable, query, turn);
    const { isArrival, choices, maxChanges, withoutBooking = false } = query;
    const engineQuery = { ...common, withoutBooking, isArrival };
    const shown = { listAlerts: findAlerts, notBefore: isArrival ? undefined : common.at };
    const { journeys, asOf, isPartial = false } = await (query.via?.length ? searchVia(query.via) : searchDirect());
    if (journeys.length === 0 && !query.mayBeNone) {
      const [start, end] = [formatPlace(query.from), formatPlace(query.to)];
      throw noJourneys('timetable', start, end, { conditions: query.conditions });
    }
    const freshness = freshnessAsOf(asOf);
    return {
      journeys,
      leftOut: {},
      freshness: isPartial ? { ...freshness, freshUntil: now(), staleUntil: now() } : freshness,
      origin: { source: 'timetable' },
      isPartial,
      names: { from: from.name, to: to.name },
    };

    async function searchDirect() {
      const { found, live, isPartial } = await search('plan', {
        ...engineQuery,
        limit: MAX_JOURNEYS,
        maxRides: (maxChanges ?? DEFAULT_CHANGES) + 1,
        from: toEngineEnd(from),
        to: toEngineEnd(to),
        walkSeconds: secondsOnFoot(timetable, from, to, choices),
      });
      const journeys = found.map((journey) => mapJourney(journey, { ...shown, live, from, to }));
      return { journeys, asOf: asOfRides(found, live), isPartial };
    }

    async function searchVia(via: NonNullable<JourneyQuery['via']>) {
      const places = listWaypoints(timetable, via, { from, to }, choices);
      const { found, live, isPartial } = await search('via', {
        ...engineQuery,
        limit: query.limit ?? MAX_JOURNEYS,
        maxRides: maxChanges === undefined ? (DEFAULT_CHANGES + 1) * (places.length - 1) : maxChanges + 1,
        ends: places.map(({ waypoint }) => waypoint),
      });
      const journeys = found.map((parts) => mapVia(parts, places, { ...shown, live, choices }));
      const parts = found.flatMap((chain) => chain.map(({ journey }) => journey));
      return { journeys, asOf: asOfRides(parts, live), isPartial };
    }
  }

  return {
    covers,
    lastDay,
    fetch: (query, turn) => withNewestTimetable(() => fetchOnce(query, turn)),
  };
}

/** The moment from which a query searches. */
function momentOf(at: WallClock | null, now: number): number {
  return at ? earliestMoment(at) : toMinute(now);
}

/** Whether the timetable covers these stops around the time of a search. */
export function coversEnds(
  timetable: Timetable,
  ends: readonly EngineEnd[],
  { at, modes }: { at: number; modes: readonly Mode[] },
): boolean {
  const stops = ends.flatMap((end) => end.stops.map(({ stop }) => stop));
  return timetable.covers(stops, at - COVERED_MS, at + COVERED_MS, modes);
}

/** All ends of a journey with `via`, in order. */
function listWaypoints(
  timetable: Timetable,
  via: NonNullable<JourneyQuery['via']>,
  { from, to }: { from: End; to: End },
  choices: Choices | undefined,
): { end: End; waypoint: EngineViaQuery['ends'][number] }[] {
  const between = via.map(({ stopId, stayMinutes }) => {
    const end = findEnd(timetable, stopId, choices);
    if (!end) throw notInTimetable('via', stopId);
    return { end, staySeconds: stayMinutes * 60 };
  });
  const all = [{ end: from, staySeconds: 0 }, ...between, { end: to, staySeconds: 0 }];
  return all.map(({ end, staySeconds }, index) => {
    const before = all[index - 1]?.end;
    const walkSeconds = before ? secondsOnFoot(timetable, before, end, choices) : null;
    return { end, waypoint: { ...toEngineEnd(end), staySeconds, walkSeconds } };
  });
}

/**
 * Waits for the feeds that a search needs. Returns the common part of its query, the function that runs it, and one for its
 * freshness, which takes the timestamps of the feeds that were used.
 */
export async function beginSearch(
  { engines, feeds, listLiftsOut: findLiftsOut, now }: TimetableSearch,
  timetable: Timetable,
  query: RiderQuery,
  turn?: Turn,
) {
  const at = momentOf(query.at, now());
  const needed = await requestFeeds(feeds, listFeedSources(query.modes), { at, now: now() });
  const engine = engines.get(timetable);
  return {
    /** The parts of a query that all searches have. */
    common: {
      at,
      now: now(),
      modes: query.modes.reduce((bits, mode) => bits | (1 << MODES.indexOf(mode)), 0),
      isWheelchair: query.isAccessible,
      avoidedStops: query.isAccessible ? stopsWithoutLift(timetable, findLiftsOut?.(at) ?? []) : [],
      choices: query.choices,
    },
    search: <Name extends SearchName>(name: Name, requested: SearchQuery<Name>) => engine.search(name, requested, turn),
    freshness: (asOf: readonly number[]) =>
      freshnessOfFeeds(feeds, needed, { asOf: asOf.length > 0 ? Math.min(...asOf) : null, now: now() }),
  };
}

/** The walk from one end to the other; null if it is too far or crosses water. */
export function secondsOnFoot(
  timetable: Timetable,
  from: WalkEnd,
  to: WalkEnd,
  choices: Choices | undefined,
): number | null {
  const metres = distanceMetres(from.position, to.position);
  const [wharf, otherWharf] = WHARF_REACH_METRES;
  const reach = from.isWharf && to.isWharf ? otherWharf : from.isWharf || to.isWharf ? wharf : LONGEST_WALK_METRES;
  const isWalkable =
    metres <= Math.min(reach, choices?.maxWalk ?? reach) && !timetable.isOverWater(from.position, to.position);
  return isWalkable ? Math.max(MINUTE_MS / SECOND_MS, walkSeconds(metres, choices)) : null;
}

/** Null if the timetable does not have the place, or nothing calls there. */
export function findEnd(timetable: Timetable, place: Place, choices: Choices | undefined): End | null {
  const position = typeof place === 'string' ? positionInPlaceId(place) : place;
  if (position) {
    const around = timetable
      .near(...position, LONGEST_WALK_METRES)
      .filter(({ index, metres }) => metres <= WHARF_REACH_METRES[0] || !isWharf(timetable, index))
      .filter(({ index }) => !timetable.isOverWater(position, timetable.positionOf(index)));
    const stops = around
      .filter(({ metres }) => metres <= (choices?.maxWalk ?? LONGEST_WALK_METRES))
      .map(({ index, metres }) => ({ stop: index, seconds: walkSeconds(metres, choices) }));
    const name = typeof place === 'string' ? nameInPlaceId(place) : null;
    return around.length > 0 ? { place, position, stop: null, name, isWharf: false, stops, withAround: false } : null;
  }
  if (typeof place !== 'string') return null;
  const members = listBoardStops(timetable, place);
  const servedStops = members.filter((member) => timetable.modesOf(member).length > 0);
  const stop = timetable.findStop(place) ?? servedStops[0];
  if (stop === undefined || servedStops.length === 0) return null;
  const stops = members.map((member) => ({ stop: member, seconds: 0 }));
  return {
    place,
    position: timetable.positionOf(stop),
    stop,
    name: timetable.stop(timetable.stationOf(stop)).name,
    stops,
    withAround: true,
    isWharf: servedStops.every((stop) => isWharf(timetable, stop)),
  };
}

export function isWharf(timetable: Timetable, stop: number): boolean {
  return timetable.modesOf(stop).every((mode) => mode === 'ferry');
}

interface ShownWith {
  /** The snapshots that the search used. */
  live: LiveTimetable;
  listAlerts: FindAlerts;
  /** The requested departure. */
  notBefore?: number | undefined;
}

interface Parts extends ShownWith {
  from: End;
  to: End;
}

export function mapJourney(journey: EngineJourney, parts: Parts): Journey {
  const { live, from, to } = parts;
  const { timetable } = live;
  const rides = journey.rides.map((ride) => mapRide(ride, parts));
  const [first, last] = [rides.at(0), rides.at(-1)];
  if (!first || !last) {
    const origin = endOf(timetable, from, journey.departsAt);
    return { legs: [walk(origin, endOf(timetable, to, journey.arrivesAt), journey.access.seconds * SECOND_MS)] };
  }
  const legs: Leg[] = [];
  // A station includes its platforms, so there is no walk to them.
  if (journey.access.seconds > 0) {
    legs.push(walkToFirst(first, journey, parts));
  }
  for (const [index, ride] of rides.entries()) {
    legs.push(ride);
    const next = rides[index + 1];
    if (next && next.origin.stopId !== ride.destination.stopId)
      legs.push(walkTo(ride, next, journey.rides[index] as EngineRide));
  }
  if (journey.egress.seconds > 0) {
    const walkMs = journey.egress.seconds * SECOND_MS;
    const end = endOf(timetable, to, last.destination.plannedAt + walkMs);
    legs.push(walk({ ...last.destination, realtimeAt: null }, end, walkMs));
  }
  return { legs: timeWalks(legs) };
}

/**
 * The walk to the first ride. Planned times are cut to the minute, so it may appear to start up to a minute before the requested time; it
 * is then shown shorter.
 */
function walkToFirst({ origin }: Leg, { access }: EngineJourney, { live, from, notBefore = 0 }: Parts): Leg {
  const earliest = origin.plannedAt - access.seconds * SECOND_MS;
  const startsAt = origin.realtimeAt === null ? Math.max(earliest, notBefore) : earliest;
  const end = { ...origin, realtimeAt: null };
  return walk(endOf(live.timetable, from, startsAt), end, origin.plannedAt - startsAt);
}

/** Joins the parts, with the walk between two rides at a place on the way. */
function mapVia(
  parts: readonly EngineViaPart[],
  places: readonly { end: End }[],
  { choices, ...shownWith }: ShownWith & { choices: Choices | undefined },
): Journey {
  const { timetable } = shownWith.live;
  const endAt = (index: number) => (places[index] as { end: End }).end;
  const legs: Leg[] = [];
  for (const [index, { from, to, journey }] of parts.entries()) {
    const partLegs = [...mapJourney(journey, { ...shownWith, from: endAt(from), to: endAt(to) }).legs];
    const [before, next, ride] = [legs.at(-1), partLegs[0] as Leg, parts[index - 1]?.journey.rides.at(-1)];
    if (before?.mode === 'walk' && next.mode !== 'walk') legs.splice(-1, 1, walkUntil(before, next));
    if (before && before.mode !== 'walk' && next.mode === 'walk') partLegs[0] = walkOn(before, next);
    const areRides = before && before.mode !== 'walk' && next.mode !== 'walk';
    if (areRides && ride) {
      const isAt = (end: LegEnd) => endAt(from).stops.some(({ stop }) => timetable.stop(stop).id === end.stopId);
      if (!isAt(before.destination) && !isAt(next.origin)) legs.push(...walkThrough(before, endAt(from), next));
      else if (before.destination.stopId !== next.origin.stopId) {
        legs.push(timeWalks([before, walkTo(before, next, ride), next])[1] as Leg);
      }
    }
    legs.push(...partLegs);
  }
  return { legs };

  /** The walk to a place between two rides that do not call there, and the walk on. */
  function walkThrough({ destination }: Leg, place: End, { origin }: Leg): Leg[] {
    const timeTo = ({ position }: LegEnd) => walkSeconds(distanceMetres(position, place.position), choices) * SECOND_MS;
    const [there, onward] = [timeTo(destination), timeTo(origin)];
    const arrivesAt = bestKnown(destination) + there;
    const leavesAt = Math.max(arrivesAt, bestKnown(origin) - onward);
    const [arrives, leaves] = [arrivesAt, leavesAt].map((at) => endOf(timetable, place, at)) as [LegEnd, LegEnd];
    return [
      walk({ ...destination }, arrives, there),
      walk(leaves, { ...origin }, Math.max(0, bestKnown(origin) - leavesAt)),
    ];
  }
}

/**
 * The walk to a place on the way ends where and when the next ride leaves there. Planned times are cut to the minute, so it may appear
 * to end up to a minute later; it is then shown shorter.
 */
function walkUntil({ origin, destination, durationMs }: Leg, { origin: ride }: Leg): Leg {
  const leavesAt = bestKnown(ride);
  const plannedAt = Math.min(destination.plannedAt, leavesAt);
  const realtimeAt = destination.realtimeAt && Math.min(destination.realtimeAt, leavesAt);
  const lateMs = Math.max(0, bestKnown(destination) - leavesAt);
  return walk(origin, { ...ride, plannedAt, realtimeAt }, Math.max(0, durationMs - lateMs));
}

/** The walk from a place on the way begins where the ride to it ended. */
function walkOn({ destination: ride }: Leg, { origin, destination, durationMs }: Leg): Leg {
  return walk({ ...ride, plannedAt: origin.plannedAt, realtimeAt: origin.realtimeAt }, destination, durationMs);
}

/**
 * The walk from one ride to the next. Planned times are cut to the minute, so the time for it may appear up to a minute too short;
 * the walk is then shown shorter.
 */
function walkTo({ destination }: Leg, { origin }: Leg, { walkSeconds: seconds }: EngineRide): Leg {
  const spareMs = Math.max(0, bestKnown(origin) - bestKnown(destination));
  const walkMs = seconds * SECOND_MS;
  const duration = walkMs - spareMs < MINUTE_MS ? Math.min(walkMs, spareMs) : walkMs;
  const end = { ...origin, plannedAt: destination.plannedAt + duration, realtimeAt: null };
  return walk({ ...destination, realtimeAt: null }, end, duration);
}

function walk(origin: LegEnd, destination: LegEnd, durationMs: number): Leg {
  const path = [origin.position, destination.position];
  const metres = Math.ceil(distanceMetres(origin.position, destination.position));
  return { ...LEG_DEFAULTS, origin, destination, durationMs, distanceMetres: metres, path };
}

/** The timestamps of the feeds that have live times of these rides, in milliseconds since 1970. */
export function asOfRides(journeys: readonly EngineJourney[], live: LiveTimetable): number[] {
  const parts = journeys.flatMap(({ rides }) => rides.flatMap((ride) => ride.parts));
  return parts.flatMap((part) => {
    if (!part.live) return [];
    const run = runOf(live, part);
    const calls = joinRuns(live, [run]).calls.slice(part.first, part.last + 1);
    return calls.some(isLiveCall) ? (run.source?.snapshot.headerAt ?? []) : [];
  });
}

function runOf(live: LiveTimetable, { trip, day, live: ref }: EnginePart): LiveRun {
  const snapshot = ref && live.snapshots.find(({ source }) => source === ref.source);
  return snapshot ? live.open({ snapshot, run: ref.run }) : live.run(trip, day);
}

function mapRide({ parts }: EngineRide, { live, listAlerts: findAlerts }: Parts): Leg {
  const { timetable } = live;
  const [first, last] = [parts[0] as EnginePart, parts.at(-1) as EnginePart];
  const runs = parts.map((part) => runOf(live, part));
  const [run, lastRun] = [runs[0] as LiveRun, runs.at(-1) as LiveRun];
  const { calls: all } = joinRuns(live, runs);
  const beyond = lastRun.calls.length - 1 - last.last;
  const calls = all.slice(first.first, all.length - beyond);
  const [board, alight] = [calls[0] as RunCall, calls.at(-1) as RunCall];
  const origin = endAt(timetable, board, board.departure ?? board.arrival);
  const destination = endAt(timetable, alight, alight.arrival ?? alight.departure);
  const line = run.route;
  const tripId = publicTripId(line, run.tripId);
  const stopIds: [string, ...string[]] = [origin.stopId, ...origin.ids.filter((id) => id !== origin.stopId)];
  const at = origin.plannedAt;
  const alerts = findAlerts({ mode: line.mode, route: line.route, network: line.network, tripId, stopIds, at });
  const direction = live.headsignOf(run, run.calls[first.first]?.position ?? -1);
  const headway = describeHeadway(timetable, run, origin.realtimeAt !== null);
  const texts = [...new Set([...alerts.map(({ text }) => text), ...headway])];
  const needsBooking =
    run.calls[first.first]?.mustBookToBoard === true || lastRun.calls[last.last]?.mustBookToAlight === true;
  return {
    ...LEG_DEFAULTS,
    mode: line.mode,
    runId: tripId,
    lineId: line.lineId,
    route: line.route,
    lineName: line.lineName,
    direction,
    throughTo: findThroughHeadsign(live, runs, direction),
    origin,
    destination,
    durationMs: rideMs(origin, destination),
    stops: calls.slice(1, -1).filter((call) => !call.isCancelled).length,
    listCalls: () => calls,
    isLive: calls.some(isLiveCall),
    path: straightThrough(calls),
    drawPath: async () =>
      (await Promise.all(parts.map((part, index) => drawPart(live, part, runs[index] as LiveRun)))).flat(),
    alerts: needsBooking ? withBookingNotice(texts, { isOnDemand: false }) : texts,
    needsBooking,
    access: run.like < 0 ? UNKNOWN_ACCESS : timetable.vehicleAccess(run.like),
  };
}

function straightThrough(calls: readonly RunCall[]): Position[] {
  return calls.flatMap(({ position }) => (position ? [position] : []));
}

/** Runs that feeds added or moved to other stops have only a straight path. */
async function drawPart(live: LiveTimetable, part: EnginePart, run: LiveRun): Promise<Position[]> {
  const { timetable } = live;
  const { trip, first, last } = part;
  const isPlanned = trip >= 0 && run.calls.every(({ position }, index) => position === index);
  const path = isPlanned ? await timetable.loadPath(trip, part) : null;
  return path ?? straightThrough(joinRuns(live, [{ ...run, calls: run.calls.slice(first, last + 1) }]).calls);
}

export function endAt(timetable: Timetable, call: RunCall, time: RunCall['arrival']): LegEnd {
  const stop = timetable.getStop(call.stopId);
  return { ...placeOf(timetable, stop), plannedAt: time?.plannedAt ?? 0, realtimeAt: time?.realtimeAt ?? null };
}

/** The requested stop or position at a time in milliseconds since 1970. */
function endOf(timetable: Timetable, { stop, place, position, name }: End, moment: number): LegEnd {
  const times = { plannedAt: moment, realtimeAt: null };
  if (stop !== null) return { ...placeOf(timetable, stop), ...times };
  const stopId = formatPlace(place);
  const nowhere = { platform: null, isAccessible: null, parent: null, parentId: null };
  return { stopId, ids: [stopId], name: name ?? stopId, position, ...nowhere, ...times };
}

function placeOf(timetable: Timetable, index: number): Omit<LegEnd, keyof CallTime> {
  const { id, name, platform, lat, lng, parent: station, isWheelchairAccessible } = timetable.stop(index);
  const parent = station === null ? null : timetable.stop(timetable.stationOf(index));
  return {
    stopId: id,
    ids: parent ? [id, parent.id] : [id],
    name,
    platform,
    position: [lat, lng],
    isAccessible: isWheelchairAccessible,
    parent: parent && { ids: [parent.id], name: parent.name },
    parentId: parent?.id ?? null,
  };
}
