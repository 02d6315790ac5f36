import { SECOND_MS } from '../clock.ts';
import type { RunCall } from '../efa/calls.ts';
import { bestKnown } from '../efa/realtime.ts';
import { LeftOut } from '../efa/response/record.ts';
import type { FindContext } from '../operation.ts';
import type { AskedFields } from '../transit/additional-fields.ts';
import type { Call } from '../transit/call.ts';
import type { Mode } from '../transit/mode.ts';
import { startOfMinute } from '../transit/time.ts';
import type { Journey } from './journey.ts';
import type { Leg } from './leg.ts';
import type { LegEnd } from './leg-end.ts';
import { joinLegs, timeWalks } from './walks.ts';

/** The report of the feeds about a ride. */
export type Seen = NonNullable<ReturnType<FindContext['calls']['viewRide']>>;

/**
 * The journey with the times of its rides and their calls that feeds have told since the authority answered, at `saidAt`. A ride
 * that feeds call cancelled stays as the authority has planned it, which will soon plan anew.
 */
export function withFeedTimes(
  journey: Journey,
  feeds: Pick<FindContext['calls'], 'viewRide'>,
  saidAt: number,
): Journey {
  const legs = journey.legs.map((leg) => {
    if (leg.mode === 'walk' || leg.isOnDemand || leg.isCancelled) return leg;
    return layFeeds(leg, leg.mode, feeds, saidAt);
  });
  return { ...journey, legs: timeWalks(anchorWalks(legs)) };
}

/**
 * The ride and its calls with their times in the feeds, where these tell when it reaches its destination. Where they tell no time of
 * an end, that of the ride stays.
 */
export function layFeeds(leg: Leg, mode: Mode, feeds: Pick<FindContext['calls'], 'viewRide'>, since?: number): Leg {
  const listed = leg.listCalls();
  const seen = feeds.viewRide(...toRide(leg, mode, listed), since);
  if (!seen || seen.isOff) return leg;
  const timed = withTimes(leg, seen);
  const calls = listed?.map((call, index) => {
    const { arrival, departure, ...news } = withNews(call, seen.calls[index]);
    return {
      ...news,
      arrival: index === listed.length - 1 ? withEstimate(arrival, timed.destination) : arrival,
      departure: index === 0 ? withEstimate(departure, timed.origin) : departure,
    };
  });
  return { ...timed, listCalls: () => calls ?? null };
}

function withEstimate(time: Call['arrival'], { realtime }: LegEnd): Call['arrival'] {
  return time && { ...time, realtimeAt: realtime?.getTime() ?? null };
}

/** Its planned times stay as they were, to the second. */
function withNews(call: Call, news: RunCall | undefined): Call {
  if (!news) return call;
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

/** The ride as feeds are asked for it, and its calls, else its two ends. Delays of feeds count from the planned minute. */
export function toRide(
  leg: Leg,
  mode: Mode,
  listed: readonly Call[] | null = null,
): [Parameters<FindContext['calls']['viewRide']>[0], RunCall[]] {
  const { runId, route, origin, destination } = leg;
  const [plannedAt, arrivesAt] = [origin, destination].map(({ planned }) => startOfMinute(planned).getTime()) as [
    number,
    number,
  ];
  const ride = { runId, mode, network: null, route: route ?? '', stopId: origin.stopId, plannedAt };
  if (listed) return [ride, listed.map(toRunCall)];
  const callAt = ({ stopId, name, platform, position, ids }: LegEnd) => {
    return { stopId, name, platform, position, ids, occupancy: null, isCancelled: false };
  };
  const arrival = { plannedAt: arrivesAt, realtimeAt: null };
  return [
    ride,
    [
      { ...callAt(origin), arrival: null, departure: { plannedAt, realtimeAt: null } },
      { ...callAt(destination), arrival, departure: null },
    ],
  ];
}

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

export function withTimes(leg: Leg, { leavesAt, arrivesAt, isOff }: Seen): Leg {
  const timed = (end: LegEnd, moment: number | null): LegEnd => {
    return { ...end, realtime: isOff ? null : moment === null ? end.realtime : new Date(moment) };
  };
  const [origin, destination] = [timed(leg.origin, leavesAt), timed(leg.destination, arrivesAt)];
  const seconds = (bestKnown(destination).getTime() - bestKnown(origin).getTime()) / SECOND_MS;
  return { ...leg, origin, destination, durationSeconds: Math.max(0, seconds), isLive: !isOff, isCancelled: isOff };
}

/** The walks begin and end where the rides now do. */
export function anchorWalks(legs: readonly Leg[]): readonly Leg[] {
  try {
    return joinLegs(legs);
  } catch (error) {
    if (error instanceof LeftOut) return legs;
    throw error;
  }
}

/**
 * The journeys with the carriages of their rides, where those are asked for. `asOf` is the oldest moment of which the feeds then
 * speak.
 */
export function viewCarriages(
  journeys: readonly Journey[],
  include: AskedFields['include'],
  calls: Pick<FindContext['calls'], 'viewCarriages'>,
): { journeys: readonly Journey[]; asOf: number } {
  let asOf = Number.POSITIVE_INFINITY;
  if (!include?.includes('carriages')) return { journeys, asOf };
  const viewLeg = (leg: Leg): Leg => {
    const { mode, runId, origin } = leg;
    if (mode === 'walk' || leg.isCancelled) return leg;
    const ride = { mode, runId, stopId: origin.stopId, plannedAt: origin.planned.getTime() };
    const found = calls.viewCarriages(ride, include.includes('calls') ? leg.listCalls() : null);
    asOf = Math.min(asOf, found.asOf);
    return { ...leg, carriages: found.carriages, listCalls: () => found.calls };
  };
  return { journeys: journeys.map(({ legs }) => ({ legs: legs.map(viewLeg) })), asOf };
}
