import { MINUTE_MS } from '../core/clock.ts';
import { SCHEDULE_FILES } from '../timetable/schedule-files.ts';
import { toDate } from '../timetable/service-day.ts';
import type { CallState } from '../transit/departure.ts';
import type { Mode } from '../transit/mode.ts';
import { type DescribedUpdate, describeUpdate } from './feed/describe-update.ts';
import { type FeedRequests, type LiveFeeds, requestFeeds } from './live-feeds.ts';
import { type LiveCall, type LiveRun, type LiveTimetable, stateOfCall } from './live-timetable.ts';
import type { FeedProblem } from './polling/feed-health.ts';
import type { FeedSourceId } from './polling/feed-source.ts';
import type { Rule } from './prediction/run-columns.ts';
import type { Snapshot } from './snapshot.ts';

/** Calls from this long before now to this long after now are explained. */
const BEFORE_MS = 5 * MINUTE_MS;
const AHEAD_MS = 60 * MINUTE_MS;
const MAX_CALLS = 200;
/** Rules that use the update of the call itself. */
const OWN_RULES: ReadonlySet<Rule> = new Set(['time of the feed', 'delay of the feed', 'standing']);

/** Explains why a call of a board has its time. Times are in milliseconds since 1970. */
export interface ExplainedCall {
  plannedAt: number;
  bestAt: number;
  state: CallState['kind'];
  mode: Mode;
  route: string;
  headsign: string | null;
  stopId: string;
  platform: string | null;
  /** The planned stop; null if it is the same. */
  plannedStopId: string | null;
  tripId: string;
  /** `YYYYMMDD`; null for a run that only the feed has. */
  serviceDay: string | null;
  /** Position among the `calls` of the run, from 1. */
  call: number;
  calls: number;
  rule: Rule;
  /** Why the call counts as cancelled; null if it does not. */
  cancelled: 'run' | 'skipped' | 'ends before' | 'begins later' | 'no boarding' | 'no alighting' | 'moved' | null;
  /** The feed for the file of the run; null if that file has no feed. */
  source: FeedSourceId | null;
  /** Why that feed is not used. */
  problem: FeedProblem | null;
  /** The timestamp of the publication that has the run; null if none has it. */
  headerAt: number | null;
  /** The update of the run; null if the publication has none or a newer publication has replaced it. */
  update: DescribedUpdate | null;
  /** The stop whose update gave the time, if it is another call's. */
  fromStopId: string | null;
}

/** The calls of a board between two moments, each with the reason for its time. Moments are in milliseconds since 1970. */
export interface ExplainedBoard {
  stopId: string;
  stopName: string;
  isArrival: boolean;
  from: number;
  until: number;
  importedAt: number;
  /** Sorted by best time. Includes cancelled and departed calls, which a board omits. */
  calls: ExplainedCall[];
  /** Whether calls are missing, because there are too many. */
  isCut: boolean;
}

interface ListedCall {
  run: LiveRun;
  call: LiveCall;
  at: number;
}

type ExplainedFeeds = FeedRequests & Pick<LiveFeeds, 'snapshot' | 'problemOf' | 'publicationOf'>;

/**
 * Explains the times of a board for now. The feeds that it needs are polled, as for a board. `route` is a short name such as
 * "333". Null if the timetable lacks the stop.
 */
export async function explainBoard(
  feeds: ExplainedFeeds,
  { stopId, route, isArrival, now }: { stopId: string; route: string | null; isArrival: boolean; now: () => number },
): Promise<ExplainedBoard | null> {
  const before = feeds.snapshot();
  const stops = before?.timetable.boardStopsOf(stopId) ?? [];
  if (!before || stops.length === 0) return null;
  const sources = before.timetable.filesAt(stops).flatMap((file) => SCHEDULE_FILES[file].feed ?? []);
  await requestFeeds(feeds, [...new Set(sources)], { at: now(), now: now() });
  const live = feeds.snapshot() ?? before;
  const { timetable } = live;
  const here = new Set(timetable.boardStopsOf(stopId));
  const [first] = here;
  if (first === undefined) return null;
  const [from, until] = [now() - BEFORE_MS, now() + AHEAD_MS];
  const calls = [...listPlanned(live, [...here], { from, until, isArrival }), ...listPredicted(live, here, isArrival)]
    .filter(({ run, at }) => at >= from && at < until && isRoute(run, route))
    .sort((one, other) => one.at - other.at);
  return {
    stopId,
    stopName: timetable.stop(timetable.stationOf(first)).name,
    isArrival,
    from,
    until,
    importedAt: timetable.importedAt,
    calls: calls.slice(0, MAX_CALLS).map((one) => explain(feeds, live, one, { here, isArrival, now: now() })),
    isCut: calls.length > MAX_CALLS,
  };
}

function isRoute({ route }: LiveRun, wanted: string | null): boolean {
  return wanted === null || route.route.toUpperCase() === wanted.toUpperCase();
}

/** For runs that no feed has: the planned calls at these stops. */
function listPlanned(
  live: LiveTimetable,
  stops: readonly number[],
  { from, until, isArrival }: { from: number; until: number; isArrival: boolean },
): ListedCall[] {
  return live.timetable.departures(stops, from, until, { isArrival }).flatMap(({ trip, day, position, plannedAt }) => {
    if (live.find(trip, day)) return [];
    const run = live.run(trip, day);
    return { run, call: run.calls[position] as LiveCall, at: plannedAt };
  });
}

/** For runs in feeds: the calls that are planned at these stops or take place there today. */
function listPredicted(live: LiveTimetable, stops: ReadonlySet<number>, isArrival: boolean): ListedCall[] {
  return live.snapshots.flatMap((snapshot) =>
    [...visitsOf(snapshot, stops)].flatMap(([index, runIndex]) => {
      const run = live.open({ snapshot, run: runIndex });
      const call = run.calls.find((one) => one.index === index);
      const isUsable =
        call &&
        call !== (isArrival ? run.calls[0] : run.calls.at(-1)) &&
        live.mayUse({ snapshot, run: runIndex }, index, isArrival);
      return isUsable ? { run, call, at: isArrival ? call.arrivesAt : call.departsAt } : [];
    }),
  );
}

/** Maps the calls at these stops to their runs. A call that has moved within a station appears at two stops, but only once here. */
function visitsOf(snapshot: Snapshot, stops: ReadonlySet<number>): Map<number, number> {
  const { visits, visitRun } = snapshot.sections;
  const runs = new Map<number, number>();
  for (const stop of stops) {
    const [first, end] = snapshot.visitsAt(stop);
    for (let at = first; at < end; at++) runs.set(visits.valueAt(at), visitRun.valueAt(at));
  }
  return runs;
}

function explain(
  feeds: ExplainedFeeds,
  { timetable }: LiveTimetable,
  { run, call, at }: ListedCall,
  { here, isArrival, now }: { here: ReadonlySet<number>; isArrival: boolean; now: number },
): ExplainedCall {
  const idOf = (stop: number) => timetable.stop(stop).id;
  const isHere = here.has(call.stop);
  const source = SCHEDULE_FILES[run.route.file].feed;
  const snapshot = run.source?.snapshot;
  const from = callBehind(run, call);
  const feed = snapshot ? feeds.publicationOf(snapshot) : null;
  const row = run.source ? run.source.snapshot.sections.runUpdate.valueAt(run.source.run) : -1;
  const stopsOf = ({ stop, plannedStop }: LiveCall) => [stop, plannedStop].filter((one) => one >= 0).map(idOf);
  return {
    plannedAt: isArrival ? call.plannedArrivesAt : call.plannedDepartsAt,
    bestAt: at,
    state: stateOfCall(run, call, { isArrival, isHere }).kind,
    mode: run.route.mode,
    route: run.route.route,
    headsign: run.like < 0 ? null : timetable.headsignAt({ trip: run.like, position: Math.max(0, call.position) }),
    stopId: idOf(call.stop < 0 ? call.plannedStop : call.stop),
    platform: timetable.stop(call.stop < 0 ? call.plannedStop : call.stop).platform,
    plannedStopId: call.stop === call.plannedStop ? null : idOf(call.plannedStop),
    tripId: run.tripId,
    serviceDay: run.trip < 0 ? null : toDate(run.day),
    call: run.calls.indexOf(call) + 1,
    calls: run.calls.length,
    rule: call.rule,
    cancelled: whyCancelled(run, call, { isArrival, isHere }),
    source,
    problem: source && feeds.problemOf(source, now),
    headerAt: snapshot?.headerAt ?? null,
    update: feed && row >= 0 ? describeUpdate(feed, row, [...stopsOf(from), ...stopsOf(call)]) : null,
    fromStopId: from === call ? null : idOf(from.stop < 0 ? from.plannedStop : from.stop),
  };
}

/** The call whose update gave the time: the call itself, else the last one before it with its own update, else the first one after it. */
function callBehind({ calls }: LiveRun, call: LiveCall): LiveCall {
  if (!call.isLive || OWN_RULES.has(call.rule)) return call;
  const at = calls.indexOf(call);
  const isOwn = ({ rule }: LiveCall) => OWN_RULES.has(rule);
  return calls.slice(0, at).findLast(isOwn) ?? calls.slice(at).find(isOwn) ?? call;
}

function whyCancelled(
  { isCancelled }: LiveRun,
  { isSkipped, isEnd, isStart, hasLeft, mayBoard, mayAlight }: LiveCall,
  { isArrival, isHere }: { isArrival: boolean; isHere: boolean },
): ExplainedCall['cancelled'] {
  if (isCancelled) return 'run';
  if (isSkipped) return 'skipped';
  if (!isHere) return 'moved';
  if (isArrival ? isStart : isEnd) return isArrival ? 'begins later' : 'ends before';
  if (hasLeft) return null;
  if (isArrival) return mayAlight ? null : 'no alighting';
  return mayBoard ? null : 'no boarding';
}
