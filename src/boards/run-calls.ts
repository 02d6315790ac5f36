import { HOUR_MS, MINUTE_MS } from '../core/clock.ts';
import type { LiveCall, LiveRun, LiveTimetable } from '../realtime/live-timetable.ts';
import { toCarriages, toOccupancy, usualOccupancy } from '../realtime/occupancy.ts';
import type { CallRef, RunRef, Timetable } from '../timetable/timetable.ts';
import type { RunCall } from '../transit/call.ts';
import type { RunStart } from '../transit/run-id.ts';
import { toMinute } from '../transit/time.ts';

/** A train changes its number once at Central, and twice on its way round the City Circle. */
export const MAX_CONTINUATIONS = 2;
/**
 * Calls with the same trip ID that are planned within this time of each other are the same call: an ID occurs only once a day,
 * and versions of the timetable differ by less.
 */
export const SAME_CALL_MS = 5 * MINUTE_MS;
const HALF_A_DAY_MS = 12 * HOUR_MS;

/** What feeds have of a run. */
export interface FromFeeds {
  /** The timestamp of the oldest feed with live times, in milliseconds since 1970; null if nothing is live. */
  asOf: number | null;
  /** Whether a feed has the run. */
  isByFeed: boolean;
}

/** Calls as shown to callers. */
export interface RunView extends FromFeeds {
  calls: RunCall[];
  /** The live call from which each of `calls` was made. */
  sources: { run: LiveRun; call: LiveCall }[];
}

/** The calls of a run, and of the runs that the vehicle continues as with its riders on board. */
export function callsOfRun(live: LiveTimetable, first: LiveRun): RunView {
  const runs = [first];
  for (let run = first; runs.length <= MAX_CONTINUATIONS; ) {
    const isOver = run.isCancelled || run.calls.every(({ isSkipped }) => isSkipped);
    const next = isOver ? null : findContinuation(live.timetable, run);
    if (next === null) break;
    run = live.run(next, run.day);
    runs.push(run);
  }
  return joinRuns(live, runs);
}

/**
 * Joins the calls of consecutive runs of a vehicle. The last call of a run and the first of the next one become one call, unless
 * they are planned at different stands.
 */
export function joinRuns(live: LiveTimetable, runs: readonly LiveRun[]): RunView {
  const view: RunView = { calls: [], sources: [], asOf: null, isByFeed: false };
  for (const run of runs) {
    const [start, ...rest] = run.calls.map((call, index) => toRunCall(live, run, call, index));
    if (!start) continue;
    const end = view.calls.at(-1);
    if (end && view.sources.at(-1)?.call.plannedStop !== run.calls[0]?.plannedStop) {
      end.nextRunId = run.tripId;
      view.calls.push(start);
    } else if (end) {
      view.calls.pop();
      // The vehicle arrives there even if its next run is cancelled.
      const place = run.source ? start : { ...start, stopId: end.stopId, name: end.name, platform: end.platform };
      const departure = start.isCancelled ? null : start.departure;
      const ids = [...end.ids, ...start.ids];
      const { arrival, isCancelled } = end;
      view.calls.push({ ...place, ids, arrival, departure, isCancelled, nextRunId: run.tripId });
      view.sources.pop();
    } else view.calls.push(start);
    view.calls.push(...rest);
    view.sources.push(...run.calls.map((call) => ({ run, call })));
    const headerAt = run.source?.snapshot.headerAt;
    if (headerAt === undefined) continue;
    view.isByFeed = true;
    const isLive = !run.isCancelled && run.calls.some((call) => call.isLive);
    if (isLive) view.asOf = Math.min(view.asOf ?? headerAt, headerAt);
  }
  return view;
}

function toRunCall({ timetable }: LiveTimetable, run: LiveRun, call: LiveCall, index: number): RunCall {
  const isCancelled = run.isCancelled || call.isSkipped;
  const isLive = call.isLive && !isCancelled;
  const isLast = index === run.calls.length - 1 || call.isEnd;
  const headerAt = run.source?.snapshot.headerAt ?? Number.POSITIVE_INFINITY;
  const timeOf = (planned: number, best: number) => {
    const plannedAt = toMinute(planned);
    // A vehicle that has left early did so before the feed was published.
    const left = call.hasLeft && !isCancelled ? Math.min(best, headerAt) : Number.POSITIVE_INFINITY;
    return { plannedAt, realtimeAt: isLive ? best : left < plannedAt ? left : null };
  };
  return {
    ...placeAt(timetable, call.stop >= 0 ? call.stop : call.plannedStop),
    arrival: index === 0 || call.isStart ? null : timeOf(call.plannedArrivesAt, call.arrivesAt),
    departure: isLast ? null : timeOf(call.plannedDepartsAt, call.departsAt),
    occupancy: isLive ? toOccupancy(call.occupancy) : null,
    usualOccupancy: isCancelled || isLast ? null : usualOccupancy(timetable, run, call.position),
    carriages: isLive ? toCarriages(run.source?.snapshot.loadsOf(call.index) ?? null) : null,
    isCancelled,
  };
}

/** The latest time at which a vehicle can have left a call: before the feed was published and before it arrives at the next one. */
export function latestOf({ run, call }: RunView['sources'][number]): number {
  if (!run.source) return Number.POSITIVE_INFINITY;
  const others = run.calls.slice(run.calls.indexOf(call) + 1);
  const next = others.find(({ hasLeft, isSkipped }) => !hasLeft && !isSkipped);
  return Math.min(run.source.snapshot.headerAt, next?.arrivesAt ?? Number.POSITIVE_INFINITY);
}

function placeAt(timetable: Timetable, index: number) {
  const { id, name, platform, lat, lng, parent } = timetable.stop(index);
  const ids = parent === null ? [id] : [id, timetable.stop(parent).id];
  return { stopId: id, name, platform, position: [lat, lng] as [number, number], ids };
}

/** Finds the call that identifies a run, preferably at the given stop. Null if the timetable has no such run. */
function findPlannedRun(timetable: Timetable, { runId, stopId, plannedAt }: RunStart): CallRef | null {
  const here = timetable.boardStopsOf(stopId);
  const rank = ({ isHere, apartMs }: { isHere: boolean; apartMs: number }) => apartMs + (isHere ? 0 : SAME_CALL_MS);
  const runs = timetable
    .listTripsBetween(runId)
    .flatMap((trip) => timetable.daysOf(trip, plannedAt).map((day) => ({ trip, day })));
  const calls = runs.flatMap(({ trip, day }) =>
    timetable.calls(trip, day).map((call, position) => {
      const apartMs = Math.min(
        ...[call.departsAt, call.arrivesAt].map((moment) => Math.abs(toMinute(moment) - plannedAt)),
      );
      return { trip, day, position, plannedAt: call.departsAt, apartMs, isHere: here.includes(call.stop) };
    }),
  );
  const nearCalls = calls.filter(({ apartMs }) => apartMs <= SAME_CALL_MS);
  return nearCalls.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

/** Finds the run of a departure, in the timetable or only in a feed; null if neither has it. */
export function findRun(live: LiveTimetable, start: RunStart): { run: LiveRun; position: number } | null {
  const planned = findPlannedRun(live.timetable, start);
  if (planned) return { run: live.run(planned.trip, planned.day), position: planned.position };
  const isThen = ({ plannedDepartsAt }: LiveCall) => Math.abs(plannedDepartsAt - start.plannedAt) <= HALF_A_DAY_MS;
  const here = live.timetable.boardStopsOf(start.stopId);
  const isHere = ({ stop }: LiveCall) => here.includes(stop);
  const added = live.listAdded(start.runId).find(({ calls }) => calls.some(isThen));
  if (added) return { run: added, position: Math.max(0, added.calls.findIndex(isHere)) };
  // A feed may add a call to a planned run.
  for (const trip of live.timetable.listTripsBetween(start.runId)) {
    for (const day of live.timetable.daysOf(trip, start.plannedAt)) {
      const run = live.find(trip, day) ? live.run(trip, day) : null;
      const position = run?.calls.findIndex((call) => isHere(call) && isThen(call)) ?? -1;
      if (run && position >= 0) return { run, position };
    }
  }
  return null;
}

/** The first departure of the trip that the vehicle continues as; null if there is none. */
export function findNextRun(timetable: Timetable, { trip, day }: RunRef): RunStart | null {
  const next = trip < 0 ? null : timetable.nextTrip(trip, day);
  if (next === null) return null;
  const { stop, departsAt } = timetable.callAt({ trip: next, day, position: 0 });
  const { tripId, mode } = timetable.trip(next);
  return { runId: tripId, mode, stopId: timetable.stop(stop).id, plannedAt: toMinute(departsAt) };
}

/**
 * The trip that a train continues as with its riders on board; null if there is none. Trains through the city are split at
 * Central, where riders stay on board even if the headsign of the first part names Central. A train that returns the way it came
 * ends there.
 */
export function findContinuation(timetable: Timetable, { trip, day }: RunRef): number | null {
  const next = trip < 0 || timetable.trip(trip).mode !== 'train' ? null : timetable.nextTrip(trip, day);
  if (next === null || timetable.trip(next).mode !== 'train') return null;
  const stationOf = (stop: number | undefined) => (stop === undefined ? -1 : timetable.stationOf(stop));
  const stopsOf = (one: number) => timetable.stopsOf(timetable.patternOf(one));
  return stationOf(stopsOf(trip).at(-2)) === stationOf(stopsOf(next)[1]) ? null : next;
}

/**
 * The headsign of the last run that the vehicle makes with its riders on board; null if it names the same place as `headsign`.
 * `ridden` are the runs that riders are known to stay on for.
 */
export function findThroughHeadsign(live: LiveTimetable, ridden: readonly RunRef[], headsign: string): string | null {
  const { timetable } = live;
  const runs = (trip: number, day: number) => {
    const source = trip < 0 ? null : live.find(trip, day);
    return !source?.snapshot.isCancelled(source.run);
  };
  let last = ridden.at(-1);
  for (let count = 0; last && runs(last.trip, last.day) && count < MAX_CONTINUATIONS; count++) {
    const next = findContinuation(timetable, last);
    if (next === null || !runs(next, last.day)) break;
    last = { trip: next, day: last.day };
  }
  if (!last || last.trip < 0 || last.trip === ridden[0]?.trip) return null;
  const { length } = timetable.stopsOf(timetable.patternOf(last.trip));
  const own = timetable.headsignAt({ trip: last.trip, position: length - 2 });
  return destinationOf(own) === destinationOf(headsign) ? null : own;
}

/** The place in a headsign, in lower case and without the way: "gordon" for "Gordon via Lindfield". */
function destinationOf(headsign: string): string {
  return headsign.split(/ via /i)[0]?.toLowerCase() ?? '';
}
