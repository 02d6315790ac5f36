import type { LiveCall, LiveRun, LiveTimetable } from '../realtime/live-timetable.ts';
import type { FeedSourceId } from '../realtime/polling/feed-source.ts';
import { SCHEDULE_FILES } from '../timetable/schedule-files.ts';
import { isCallAt, type RunCall } from '../transit/call.ts';
import type { Mode } from '../transit/mode.ts';
import {
  type FromFeeds,
  findRun,
  joinRuns,
  latestOf,
  MAX_CONTINUATIONS,
  type RunView,
  SAME_CALL_MS,
} from './run-calls.ts';

/** Identifies a ride of the trip planner: its run, and the stop and planned time of boarding. */
export interface RideStart {
  runId: string | null;
  mode: Mode;
  stopId: string;
  /** Milliseconds since 1970. */
  plannedAt: number;
}

/** A ride of the trip planner, found in the timetable or the feeds. */
export interface FoundRide extends FromFeeds {
  /** The feed for the file of the run; null if that file has no feed. */
  source: FeedSourceId | null;
  /** Whether that feed is trusted now. Without it, nothing is known about the run today. */
  hasFeed: boolean;
  /** Whether the vehicle has left the stop of boarding. */
  hasLeft: boolean;
  /** Whether the vehicle lets all riders off before the stop of alighting. */
  endsBefore: boolean;
  /** Whether riders cannot board at the first stop or alight at the last one today, although the timetable allows it. */
  isClosed: boolean;
  /** The calls of the run from boarding to alighting; null if the run lacks the last one. */
  runCalls: RunCall[] | null;
  /** Returns the trip planner's calls with the times, platforms and cancellations of the run. */
  withTimes(listed: readonly RunCall[]): RunCall[];
}

/**
 * Finds a ride. `listed` are its calls, or only the first and the last. Null if neither the timetable nor a feed has the run, or
 * if the run lacks the stop of boarding.
 */
export function findRide(
  live: LiveTimetable,
  ride: RideStart,
  { listed, now }: { listed: readonly RunCall[]; now: number },
): FoundRide | null {
  const { runId } = ride;
  const found = runId === null ? null : findRun(live, { ...ride, runId });
  if (!found) return runId === null ? null : findCancelled(live, runId);
  const view = joinRuns(live, listRuns(live, found.run, listed.at(-1)));
  const ends = matchListed(live, view, listed);
  const [start, end] = [ends[0] ?? null, ends.at(-1) ?? null];
  if (start === null) return null;
  const { file } = found.run.route;
  return {
    asOf: view.asOf,
    isByFeed: view.isByFeed,
    source: SCHEDULE_FILES[file].feed,
    hasFeed: live.snapshotOf(file) !== null,
    hasLeft: view.sources[start]?.call.hasLeft ?? false,
    isClosed: isClosed(live, view.sources[start], false) || (end !== null && isClosed(live, view.sources[end], true)),
    endsBefore: view.sources.slice(start, end ?? start).some(({ call }) => call.isEnd),
    runCalls: end === null ? null : view.calls.slice(start, end + 1),
    withTimes(others) {
      const matches = matchListed(live, view, others);
      return others.map((call, index) => withTimes(call, view, { at: matches[index] ?? null, now }));
    },
  };
}

/** The ride of a run that a feed had added and now cancels. */
function findCancelled(live: LiveTimetable, runId: string): FoundRide | null {
  const snapshot = live.findCancellation(runId);
  if (!snapshot) return null;
  return {
    asOf: snapshot.headerAt,
    isByFeed: true,
    source: snapshot.source,
    hasFeed: true,
    hasLeft: false,
    endsBefore: false,
    isClosed: false,
    runCalls: null,
    withTimes: (listed) =>
      listed.map((call) => ({ ...withoutEstimates(call, Number.NEGATIVE_INFINITY), isCancelled: true })),
  };
}

function isClosed(live: LiveTimetable, at: RunView['sources'][number] | undefined, isArrival: boolean): boolean {
  if (!at?.run.source) return false;
  const { call } = at;
  if (call.isSkipped || call.hasLeft || (isArrival ? call.mayAlight : call.mayBoard)) return false;
  return live.mayUse(at.run.source, call.index, isArrival);
}

/** The runs that the vehicle makes from this one on, up to the one that arrives at the end of a ride. */
function listRuns(live: LiveTimetable, first: LiveRun, end: RunCall | undefined): LiveRun[] {
  const runs = [first];
  const until = (end?.arrival?.plannedAt ?? Number.NEGATIVE_INFINITY) - SAME_CALL_MS;
  const arrives = (run: LiveRun) => run.calls.some(({ plannedArrivesAt }) => plannedArrivesAt >= until);
  for (let run = first; runs.length <= MAX_CONTINUATIONS && !arrives(run); ) {
    const next = run.trip < 0 ? null : live.timetable.nextTrip(run.trip, run.day);
    if (next === null) break;
    run = live.run(next, run.day);
    runs.push(run);
  }
  return runs;
}

/** The index of each listed call among the calls of the run; null if the run lacks it. A call may be at another platform today. */
function matchListed({ timetable }: LiveTimetable, { calls, sources }: RunView, listed: readonly RunCall[]) {
  const stationOf = (stop: number) => (stop < 0 ? -1 : timetable.stationOf(stop));
  let from = 0;
  return listed.map((one): number | null => {
    const stations = one.ids.map((id) => stationOf(timetable.findStop(id) ?? -1)).filter((station) => station >= 0);
    const isThere = (call: RunCall, { stop, plannedStop }: LiveCall) =>
      [stop, plannedStop].some((at) => stations.includes(stationOf(at))) || one.ids.some((id) => isCallAt(call, id));
    const at = calls.findIndex((call, index) => {
      const planned = sources[index]?.call;
      return index >= from && planned !== undefined && isSameTime(call, planned, one) && isThere(call, planned);
    });
    if (at < 0) return null;
    from = at + 1;
    return at;
  });
}

function isSameTime(call: RunCall, planned: LiveCall, other: RunCall): boolean {
  const isNear = (one: number | undefined, two: RunCall['arrival']) =>
    one !== undefined && two !== null && Math.abs(one - two.plannedAt) <= SAME_CALL_MS;
  // Where a run ends or begins today, only the timetable has its departure or arrival.
  const departsAt = planned.isEnd ? planned.plannedDepartsAt : call.departure?.plannedAt;
  const arrivesAt = planned.isStart ? planned.plannedArrivesAt : call.arrival?.plannedAt;
  return isNear(departsAt, other.departure) || isNear(arrivesAt, other.arrival);
}

/**
 * A listed call with the data of the run. Planned times stay, and so do estimates of the past, because the feed drops stops that
 * the vehicle has left and runs that are over.
 */
function withTimes(
  listed: RunCall,
  { calls, sources }: RunView,
  { at, now }: { at: number | null; now: number },
): RunCall {
  const [call, source] = at === null ? [] : [calls[at], sources[at]];
  if (!call || !source) return withoutEstimates(listed, Number.NEGATIVE_INFINITY);
  const {
    stopId,
    name,
    platform,
    position,
    ids,
    isCancelled,
    occupancy,
    usualOccupancy = null,
    carriages,
    nextRunId,
  } = call;
  const isMoved = source.call.stop !== source.call.plannedStop && listed.stopId !== stopId;
  const isDropped = source.run.source === null || source.call.hasLeft;
  const latest = Math.min(now, latestOf(source));
  const timeOf = (time: RunCall['arrival'], own: RunCall['arrival']) => {
    if (!time) return null;
    const isOver = isDropped && time.realtimeAt !== null && time.realtimeAt <= latest;
    return { plannedAt: time.plannedAt, realtimeAt: isOver ? time.realtimeAt : (own?.realtimeAt ?? null) };
  };
  return {
    ...listed,
    ...(isMoved && { stopId, name, platform, position, ids }),
    // Null if the run begins or ends there today.
    arrival: call.arrival || isCancelled ? timeOf(listed.arrival, call.arrival) : null,
    departure: call.departure || isCancelled ? timeOf(listed.departure, call.departure) : null,
    occupancy,
    usualOccupancy,
    carriages: carriages ?? null,
    isCancelled,
    ...(nextRunId !== undefined && { nextRunId }),
  };
}

/** A call without estimates, except those before `passedAt`. */
export function withoutEstimates(call: RunCall, passedAt: number): RunCall {
  const passed = (time: RunCall['arrival']) =>
    time && { ...time, realtimeAt: (time.realtimeAt ?? passedAt) < passedAt ? time.realtimeAt : null };
  return { ...call, arrival: passed(call.arrival), departure: passed(call.departure), occupancy: null };
}
