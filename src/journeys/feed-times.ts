import type { CurrentRide, Runs } from '../boards/runs.ts';
import { MINUTE_MS } from '../core/clock.ts';
import type { RequestedFields } from '../transit/additional-fields.ts';
import type { Call, RunCall } from '../transit/call.ts';
import type { Freshness } from '../transit/freshness.ts';
import { type Journey, type Leg, type LegEnd, rideMs } from '../transit/journey.ts';
import { LeftOut, type LeftOutCounts } from '../transit/left-out.ts';
import { type CallTime, toMinute } from '../transit/time.ts';
import { joinLegs, timeWalks } from './walks.ts';

interface RideFinder {
  findRide: Runs['findRide'];
}

/** See `withFeedTimes`. */
export interface UpdatedLeg {
  leg: Leg;
  view: CurrentRide | null;
}

/**
 * Returns a ride of the trip planner as its run is today, like boards and the run itself. `view` is null for walks and on-demand
 * rides, and if the feed is not available or has lost the run; then the leg stays as it is. A ride that the trip planner reports as
 * cancelled runs only if a feed says so.
 */
export function withFeedTimes(leg: Leg, runs: RideFinder): UpdatedLeg {
  const { mode, runId, origin, destination, isOnDemand } = leg;
  if (mode === 'walk' || isOnDemand) return { leg, view: null };
  const ends = [
    { ...callAt(origin), arrival: null, departure: timeOf(origin) },
    { ...callAt(destination), arrival: timeOf(destination), departure: null },
  ];
  const plannedAt = toMinute(origin.plannedAt);
  const view = runs.findRide({ runId, mode, stopId: origin.stopId, plannedAt }, ends);
  if (!view || (leg.isCancelled && !view.isByFeed)) return { leg, view };
  const { isCancelled, calls } = view;
  const [leaves, arrives] = calls as [RunCall, RunCall];
  const from = endAt(origin, leaves, isCancelled ? null : leaves.departure);
  const to = endAt(destination, arrives, isCancelled ? null : arrives.arrival);
  const isLive = from.realtimeAt !== null || to.realtimeAt !== null;
  const timed = { origin: from, destination: to, durationMs: rideMs(from, to), isLive, isCancelled };
  return {
    leg: { ...leg, ...timed, carriages: leaves.carriages ?? null, listCalls: () => listCalls(leg, view) },
    view,
  };
}

/**
 * Returns journeys of the trip planner with the times of the feeds. Leaves out those whose vehicle has left early and, unless
 * requested, those that are cancelled. `freshness` has one entry for each feed's data that was used.
 */
export function withFeeds(
  journeys: readonly Journey[],
  runs: RideFinder,
  { cancelled, now }: { cancelled: RequestedFields['cancelled']; now: number },
): { journeys: Journey[]; leftOut: LeftOutCounts; freshness: Freshness[] } {
  const freshness: Freshness[] = [];
  const counts = { cancelled: 0, 'has left': 0 };
  const updated = journeys.flatMap((journey): Journey[] => {
    const rides = journey.legs.map((leg) => withFeedTimes(leg, runs));
    const isGone = rides.some(({ leg, view }) => view?.hasLeft && leg.origin.plannedAt >= now - MINUTE_MS);
    const isOff = cancelled !== 'include' && rides.some(({ leg }) => leg.isCancelled);
    if (isOff) counts.cancelled++;
    else if (isGone) counts['has left']++;
    if (isOff || isGone) return [];
    freshness.push(...rides.flatMap(({ view }) => view?.freshness ?? []));
    return [{ ...journey, legs: fitWalks(rides.map(({ leg }) => leg)) }];
  });
  const leftOut = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  return { journeys: updated, leftOut, freshness };
}

/**
 * The calls that the trip planner lists, with live times. Planned times keep their seconds; `isCancelled` is set only on skipped
 * calls.
 */
function listCalls(leg: Leg, view: CurrentRide): Call[] | null {
  const listed = leg.listCalls();
  if (!listed) return null;
  return view.withTimes(listed.map(toRunCall)).map(({ ids: _, nextRunId: __, isCancelled, ...call }, index) => {
    const own = listed[index] as Call;
    const [arrival, departure] = [toCallTime(own.arrival, call.arrival), toCallTime(own.departure, call.departure)];
    const occupancy = call.occupancy ?? own.occupancy;
    return { ...call, arrival, departure, occupancy, ...(isCancelled && { isCancelled }) };
  });
}

function toCallTime(own: Call['arrival'], time: Call['arrival']): Call['arrival'] {
  return own && time && { ...own, realtimeAt: time.realtimeAt };
}

function callAt({ stopId, ids, name, platform, position }: LegEnd) {
  return { stopId, ids, name, platform, position, occupancy: null, isCancelled: false };
}

/** Delays in feeds count from the planned minute. */
function timeOf({ plannedAt, realtimeAt }: CallTime) {
  return { plannedAt: toMinute(plannedAt), realtimeAt };
}

function toRunCall({ arrival, departure, ...call }: Call): RunCall {
  return {
    ...call,
    arrival: arrival && timeOf(arrival),
    departure: departure && timeOf(departure),
    ids: [call.stopId],
    isCancelled: false,
  };
}

/** The end of a ride, at another place if a feed has moved the call. */
function endAt(end: LegEnd, { stopId, ids, name, platform, position }: RunCall, time: Call['arrival']): LegEnd {
  const realtimeAt = time?.realtimeAt ?? null;
  if (stopId === end.stopId) return { ...end, realtimeAt };
  const moved = { ...end, realtimeAt, stopId, ids, platform, position: position ?? end.position, isAccessible: null };
  const isSameStation = end.parentId !== null && ids.includes(end.parentId);
  return isSameStation ? moved : { ...moved, name, parent: null, parentId: ids[1] ?? null };
}

/** Returns the legs with each walk moved to where the rides now begin and end, as far as possible. */
export function fitWalks(legs: readonly Leg[]): Leg[] {
  try {
    return timeWalks(joinLegs(legs));
  } catch (error) {
    if (error instanceof LeftOut) return timeWalks(legs);
    throw error;
  }
}
