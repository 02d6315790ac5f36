import type { Runs } from '../boards/runs.ts';
import type { RequestedFields } from '../transit/additional-fields.ts';
import type { Call, RunCall } from '../transit/call.ts';
import { LeftOut } from '../transit/left-out.ts';
import { startOfMinute } from '../transit/time.ts';
import type { Journey } from './journey.ts';
import { type Leg, passesStopsInNoTime, rideSeconds } from './leg.ts';
import type { LegEnd } from './leg-end.ts';
import { joinLegs, timeWalks } from './walks.ts';

type Feeds = Pick<Runs, 'viewRide'>;

/** The feeds' information about a ride. */
export type Seen = NonNullable<ReturnType<Feeds['viewRide']>>;

/**
 * Returns the journey with newer times from the feeds, for its rides and their calls. `asOf` is when upstream responded. A
 * ride that feeds report as cancelled stays as planned, because upstream will soon plan around it.
 */
export function withFeedTimes({ legs, ...journey }: Journey, feeds: Feeds, asOf: number): Journey {
  const timed = legs.map((leg) => (leg.isOnDemand || leg.isCancelled ? leg : layFeeds(leg, feeds, asOf)));
  return { ...journey, legs: fitWalks(timed) };
}

/**
 * Returns the ride and its calls with the times in the feeds, if these include the arrival at its destination. An end without a
 * time in the feeds keeps its own.
 */
export function layFeeds(leg: Leg, feeds: Feeds, since?: number): Leg {
  const listedCalls = leg.listCalls();
  const view = viewRide(leg, feeds, listedCalls, since);
  if (!view || view.isCancelled) return leg;
  const timed = withTimes(leg, view);
  const calls = listedCalls?.map((call, index) => {
    const { departure, ...news } = withNews(call, view.calls[index] as RunCall);
    const leaves = timed.origin.realtime?.getTime() ?? null;
    return { ...news, departure: index === 0 && departure ? { ...departure, realtimeAt: leaves } : departure };
  });
  return { ...timed, listCalls: () => calls ?? null };
}

/** Planned times keep their seconds. */
function withNews(call: Call, news: RunCall): Call {
  const { arrival, departure } = call;
  return {
    ...call,
    stopId: news.stopId,
    platform: news.platform,
    arrival: arrival && { ...arrival, realtimeAt: news.arrival?.realtimeAt ?? null },
    departure: departure && { ...departure, realtimeAt: news.departure?.realtimeAt ?? null },
    occupancy: news.occupancy ?? call.occupancy,
    ...(news.isCancelled && { isCancelled: true }),
  };
}

/**
 * Returns the feeds' information about a ride with these calls, or with just its two ends. Null for a walk and for impossible
 * times. With `since`, only feeds newer than that count.
 */
export function viewRide(leg: Leg, feeds: Feeds, listed: readonly Call[] | null = null, since?: number): Seen | null {
  const { mode, runId, route, origin, destination } = leg;
  if (mode === 'walk') return null;
  const callAt = ({ stopId, name, platform, position }: LegEnd) => ({
    stopId,
    name,
    platform,
    position,
    occupancy: null,
  });
  const timeOf = ({ planned }: LegEnd) => ({ plannedAt: planned.getTime(), realtimeAt: null });
  const ends: Call[] = [
    { ...callAt(origin), arrival: null, departure: timeOf(origin) },
    { ...callAt(destination), arrival: timeOf(destination), departure: null },
  ];
  const plannedAt = startOfMinute(origin.planned).getTime();
  const ride = { runId, mode, network: null, route: route ?? '', stopId: origin.stopId, plannedAt };
  const view = feeds.viewRide(ride, (listed ?? ends).map(toRunCall), since);
  if (!view) return null;
  const timed = withTimes(leg, view);
  return passesStopsInNoTime(timed.origin, timed.destination, leg.stops) ? null : view;
}

/** Delays in feeds count from the planned minute. */
function toRunCall({ arrival, departure, ...call }: Call): RunCall {
  const toMinute = (time: Call['arrival']) =>
    time && { ...time, plannedAt: startOfMinute(new Date(time.plannedAt)).getTime() };
  return {
    ...call,
    arrival: toMinute(arrival),
    departure: toMinute(departure),
    ids: [call.stopId],
    isCancelled: false,
  };
}

export function withTimes(leg: Leg, { leavesAt, arrivesAt, isCancelled }: Seen): Leg {
  const timed = (end: LegEnd, moment: number | null): LegEnd => {
    return { ...end, realtime: isCancelled ? null : moment === null ? end.realtime : new Date(moment) };
  };
  const [origin, destination] = [timed(leg.origin, leavesAt), timed(leg.destination, arrivesAt)];
  const durationSeconds = rideSeconds(origin, destination);
  return { ...leg, origin, destination, durationSeconds, isLive: !isCancelled, isCancelled };
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

/**
 * Returns the journeys with the carriages of their rides, if `include` requests them. `asOf` is the timestamp of the oldest
 * feed used.
 */
export function viewCarriages(
  journeys: readonly Journey[],
  include: RequestedFields['include'],
  runs: Pick<Runs, 'viewCarriages'>,
): { journeys: readonly Journey[]; asOf: number } {
  let asOf = Number.POSITIVE_INFINITY;
  if (!include?.includes('carriages')) return { journeys, asOf };
  const viewLeg = (leg: Leg): Leg => {
    const { mode, runId, origin } = leg;
    if (mode === 'walk' || leg.isCancelled) return leg;
    const ride = { mode, runId, stopId: origin.stopId, plannedAt: origin.planned.getTime() };
    const prediction = runs.viewCarriages(ride, include.includes('calls') ? leg.listCalls() : null);
    asOf = Math.min(asOf, prediction.asOf);
    return { ...leg, carriages: prediction.carriages, listCalls: () => prediction.calls };
  };
  return { journeys: journeys.map((journey) => ({ ...journey, legs: journey.legs.map(viewLeg) })), asOf };
}
