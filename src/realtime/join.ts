import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import { serviceDayStart, toDayNumber } from '../timetable/service-day.ts';
import type { Departure } from '../transit/departure.ts';
import type { StopTime, StopUpdate, TripUpdate } from './feed/feed.ts';

/** A trip leaves its stops after its start, except in the two nights when the clocks change: up to an hour earlier. */
const BEFORE_START_MS = 61 * MINUTE_MS;
/** The longest trips take 14 hours; the same identifier runs again after 23 hours at the earliest. */
const AFTER_START_MS = 21 * HOUR_MS;
/** The last trips of a service day run until about 06:00 of the next day. */
const SERVICE_DAY_MS = 30 * HOUR_MS;
const HALF_A_DAY_MS = 12 * HOUR_MS;
/** Trains appear in their feed up to 510 minutes ahead; later trains are not in it yet. */
export const FEED_HORIZON_MS = 9 * HOUR_MS;

/**
 * Whether a planned call belongs to this trip of the feed, and not to one with the same identifier on another service day. A
 * call from the timetable has its service day (`day`). Trains have no start date in their feed: the times of the trip decide,
 * else the header's timestamp, so that trips left over from yesterday do not match today's. The day mask in train identifiers
 * adds nothing, because the timetable has the identifier on those days only.
 */
export function isOnServiceDay(
  trip: Pick<TripUpdate, 'startDate' | 'startTimeSeconds'> & Partial<Pick<TripUpdate, 'stopUpdates'>>,
  plannedAt: number,
  headerAt: number,
  day?: number,
): boolean {
  const { startDate, startTimeSeconds, stopUpdates = [] } = trip;
  const startDay = startDate === null ? null : toDayNumber(startDate);
  if (startDay === null) {
    const timed = stopUpdates.find((update) => findTime(update) !== null);
    const statedAt = timed ? findTime(timed) : null;
    if (statedAt !== null) return Math.abs(plannedAt - statedAt) <= HALF_A_DAY_MS;
    return plannedAt <= headerAt + FEED_HORIZON_MS && plannedAt > headerAt + FEED_HORIZON_MS - DAY_MS;
  }
  if (day !== undefined) return startDay === day;
  const sinceDayStart = plannedAt - serviceDayStart(startDay);
  if (startTimeSeconds !== null) {
    const sinceStart = sinceDayStart - startTimeSeconds * SECOND_MS;
    return sinceStart >= -BEFORE_START_MS && sinceStart <= AFTER_START_MS;
  }
  const isOnThatDay = sinceDayStart >= -HOUR_MS && sinceDayStart <= SERVICE_DAY_MS;
  return isOnThatDay && Math.abs(plannedAt - headerAt) <= HALF_A_DAY_MS;
}

function findTime({ departure, arrival }: StopUpdate): number | null {
  return departure.at ?? arrival.at;
}

/*
 * A stop update belongs to the departure of the same run with the same stop identifier. If a loop calls there twice, it belongs
 * to the one planned for the same time. A vehicle that calls at another platform or wharf is found by its planned time.
 */

/** The fields that identify a departure, or a call of a run. */
type Call = Pick<Departure, 'stopId' | 'plannedAt'>;

export interface CallMatch {
  update: StopUpdate;
  /** The vehicle calls at another platform or wharf than planned. */
  isMoved: boolean;
}

/** Planned times are cut to the minute. */
const SAME_TIME_MS = MINUTE_MS;
/** Two versions of the timetable differ by less at the same stop; a loop takes longer to return. */
const SAME_CALL_MS = 5 * MINUTE_MS;
/** The tolerance if an update has only the actual time, which is compared with the planned one: longer than most delays. */
const SAME_CALL_IF_LATE_MS = HOUR_MS;

/** Whether this platform belongs to the station of the call. */
export type IsSameStation = (stopId: string, call: Pick<Call, 'stopId'>) => boolean;

/**
 * Returns one entry for each call, in order; null if it has no update. `end` is the time by which the calls are planned:
 * departure or arrival.
 */
export function matchCalls(
  calls: readonly Call[],
  updates: readonly StopUpdate[],
  isSameStation: IsSameStation,
  end: 'arrival' | 'departure' = 'departure',
): (CallMatch | null)[] {
  const plannedBy = (update: StopUpdate) => findPlannedAt(update, end);
  const [first] = calls;
  if (!first) return [];
  if (calls.length === 1) {
    // Nearly all trips call here once and have one update for this call.
    const [ownUpdate, ...more] = updates.filter(({ stopId }) => stopId === first.stopId);
    if (ownUpdate && more.length === 0 && isNear(first, ownUpdate, plannedBy(ownUpdate)))
      return [{ update: ownUpdate, isMoved: false }];
  }
  const matches = new Map<Call, CallMatch>();
  const claimed = new Set<StopUpdate>();
  const claim = (call: Call, update: StopUpdate, isMoved = false) => {
    matches.set(call, { update, isMoved });
    claimed.add(update);
  };
  const openCalls = () => calls.filter((call) => !matches.has(call));
  const openUpdates = () => updates.filter((update) => !claimed.has(update));
  const here = updates.filter((update) => calls.some(({ stopId }) => stopId === update.stopId));
  const openHere = () => here.filter((update) => !claimed.has(update));

  for (const [timeOf, toleranceMs] of [
    [plannedBy, SAME_CALL_MS],
    [findActualTime, SAME_CALL_IF_LATE_MS],
  ] as const) {
    for (const { call, update } of listPairs(openCalls(), openHere(), timeOf, toleranceMs)) {
      if (!matches.has(call) && !claimed.has(update)) claim(call, update);
    }
  }
  for (const stopId of new Set(openCalls().map((call) => call.stopId))) {
    for (const [call, update] of pairInOrder(openCalls(), openHere(), stopId)) claim(call, update);
  }
  for (const call of openCalls()) {
    const update = findMoved(call, openCalls(), openUpdates(), { all: updates, isSameStation, plannedBy });
    if (update) claim(call, update, true);
  }
  return calls.map((call) => matches.get(call) ?? null);
}

function isNear({ plannedAt }: Call, update: StopUpdate, plannedByFeed: number | null): boolean {
  if (plannedByFeed !== null) return Math.abs(plannedByFeed - plannedAt) <= SAME_CALL_MS;
  const time = findTime(update);
  return time === null || Math.abs(time - plannedAt) <= SAME_CALL_IF_LATE_MS;
}

/** Finds the planned time of the given end, or of the other one. Null unless the feed has both a time and a delay. */
export function findPlannedAt({ departure, arrival }: StopUpdate, end = 'departure'): number | null {
  const [ownTime, otherTime] = end === 'arrival' ? [arrival, departure] : [departure, arrival];
  return plannedAtOf(ownTime) ?? plannedAtOf(otherTime);
}

/** Finds the delay of the departure, else of the arrival, in seconds. */
export function findDelay({ departure, arrival }: StopUpdate): number | null {
  return departure.delaySeconds ?? arrival.delaySeconds;
}

export function plannedAtOf({ at, delaySeconds }: StopTime): number | null {
  return at === null || delaySeconds === null ? null : at - delaySeconds * SECOND_MS;
}

/** Finds the actual time if there is no delay to derive the planned one from: at passed stops and for added trips. */
function findActualTime(update: StopUpdate): number | null {
  return findPlannedAt(update) === null ? findTime(update) : null;
}

/** Lists the pairs at the same stop that are close in time, closest first. */
function listPairs(
  calls: readonly Call[],
  updates: readonly StopUpdate[],
  timeOf: (update: StopUpdate) => number | null,
  toleranceMs: number,
) {
  const pairs = calls.flatMap((call) =>
    updates.flatMap((update) => {
      const time = update.stopId === call.stopId ? timeOf(update) : null;
      const apartMs = time === null ? Number.POSITIVE_INFINITY : Math.abs(time - call.plannedAt);
      return apartMs <= toleranceMs ? { call, update, apartMs } : [];
    }),
  );
  return pairs.sort((a, b) => a.apartMs - b.apartMs);
}

/**
 * Pairs updates that have no time with calls in their order. It starts from the last, because a feed drops stops once they are
 * passed.
 */
function pairInOrder(calls: readonly Call[], updates: readonly StopUpdate[], stopId: string): [Call, StopUpdate][] {
  const callsHere = calls.filter((call) => call.stopId === stopId).sort((a, b) => a.plannedAt - b.plannedAt);
  const updatesHere = updates.filter((update) => update.stopId === stopId && isUntimed(update));
  const count = Math.min(callsHere.length, updatesHere.length);
  return Array.from({ length: count }, (_, index) => [
    callsHere[callsHere.length - count + index] as Call,
    updatesHere[updatesHere.length - count + index] as StopUpdate,
  ]);
}

function isUntimed(update: StopUpdate): boolean {
  return findTime(update) === null;
}

/**
 * Finds the update of a call that was moved to another platform. It is planned for the same time, at a platform of this stop;
 * or at any stop, if the feed still lists the stops before it. (A feed that drops passed stops may have dropped this one, and
 * the next stop can be planned for the same minute.) Trains have no times and added trips no planned times: then there must be
 * exactly one candidate.
 */
function findMoved(
  call: Call,
  calls: readonly Call[],
  updates: readonly StopUpdate[],
  parts: { all: readonly StopUpdate[]; isSameStation: IsSameStation; plannedBy: typeof findPlannedAt },
): StopUpdate | null {
  const { all, isSameStation, plannedBy } = parts;
  const running = updates.filter(({ relationship, stopId }) => relationship !== 'SKIPPED' && stopId !== call.stopId);
  if (running.length === 0) return null;
  const isHere = ({ stopId }: Pick<StopUpdate, 'stopId'>) => stopId !== null && isSameStation(stopId, call);
  const sameTime = running.filter((update) => {
    const plannedAt = plannedBy(update);
    return plannedAt !== null && Math.abs(plannedAt - call.plannedAt) <= SAME_TIME_MS;
  });
  const here = sameTime.filter(isHere);
  if (here.length > 0) return only(here);
  const elsewhere = only(sameTime);
  if (elsewhere && (all.indexOf(elsewhere) > 0 || elsewhere.sequence === 1)) return elsewhere;
  if (calls.filter((other) => other === call || isHere(other)).length !== 1) return null;
  const movedUpdates = running.filter((update) => {
    const actualTime = findActualTime(update);
    return actualTime !== null && Math.abs(actualTime - call.plannedAt) <= SAME_CALL_IF_LATE_MS;
  });
  return only(running.filter((update) => isHere(update) && isUntimed(update))) ?? only(movedUpdates.filter(isHere));
}

function only(updates: readonly StopUpdate[]): StopUpdate | null {
  return updates.length === 1 ? (updates[0] ?? null) : null;
}
