import type { ExplainedBoard, ExplainedCall } from '../realtime/explain-board.ts';
import { type LiveReport, listLeftOut } from '../realtime/live-report.ts';
import { formatTimestamp, toSydneyClock } from '../transit/time.ts';

/** The state of the feeds in a running service. `at` is in milliseconds since 1970. */
export type RunningReport = LiveReport & { pid: number; at: number };

/** The text for each rule; `stop` is the stop whose update gave the time. */
const RULES: Record<ExplainedCall['rule'], (stop: string) => string> = {
  planned: () => 'planned time',
  'time of the feed': () => 'time of the feed for this stop',
  'delay of the feed': () => 'planned time plus delay of the feed for this stop',
  'delay before': (stop) => `planned time plus the delay at ${stop}, the last stop before with an update`,
  'delay of the trip': () => 'planned time plus the delay of the whole trip',
  'cannot be there yet': (stop) => `no data for this stop; by the update for ${stop} it cannot be there sooner`,
  'before the first update': (stop) => `the run has not begun; early enough for the update for ${stop}`,
  order: (stop) => `between the stops before and after it, by the update for ${stop}`,
  'next run of the vehicle': () => 'no update; its vehicle arrives late from its run before',
  standing: () => 'the vehicle reports that it stands here',
};

const CANCELLED: Record<NonNullable<ExplainedCall['cancelled']>, string> = {
  run: 'the run is cancelled',
  skipped: 'the vehicle skips this stop',
  'ends before': 'the run ends here today',
  'begins later': 'the run begins here today',
  'no boarding': 'riders may not board here today',
  'no alighting': 'riders may not alight here today',
  moved: 'the vehicle calls at another stop today',
};

/** Two or more lines for each call: the line of the board, and why it has this time. Times are in Sydney. */
export function describeBoard(board: ExplainedBoard, report: RunningReport): string[] {
  const { stopName, stopId, isArrival, from, until, importedAt, calls, isCut } = board;
  const modes = [...new Set(calls.map(({ mode }) => mode))];
  const other = report.mode === 'on' ? [] : modes.filter((mode) => !report.agreement[mode]?.isTrusted);
  return [
    `${isArrival ? 'Arrivals' : 'Departures'} of ${stopName} (${stopId}), ${clock(from)} to ${clock(until)} in Sydney, now ${clock(report.at)}.`,
    `From process ${report.pid}. Timetable imported ${formatTimestamp(importedAt)}.`,
    ...(other.length > 0
      ? [`NOT what callers see: boards of ${other.join(', ')} come from the trip planner now.`]
      : []),
    '',
    ...describeFeeds(report, { hasExamples: false }),
    '',
    'planned   best      state      route  stop',
    ...calls.flatMap(describeCall),
    ...(calls.length === 0 ? ['nothing'] : []),
    ...(isCut ? ['… and more: name a route.'] : []),
  ];
}

function describeCall(one: ExplainedCall): string[] {
  const { plannedAt, bestAt, state, route, headsign, stopId, platform, plannedStopId, tripId, serviceDay } = one;
  const stop = [stopId, platform, plannedStopId && `planned at ${plannedStopId}`].filter(Boolean).join(', ');
  const shown = state === 'live' || state === 'scheduled' ? state : state.toUpperCase();
  const best = bestAt === plannedAt && state !== 'live' ? '' : clock(bestAt);
  const columns = [clock(plannedAt), best.padEnd(8), shown.padEnd(9), route.padEnd(5), headsign && `to ${headsign},`];
  return [
    `${columns.filter(Boolean).join('  ')} ${stop}`,
    `    run    ${tripId}, ${serviceDay ? `day ${serviceDay}` : 'only in the feed'}, call ${one.call} of ${one.calls}`,
    `    why    ${whyOf(one)}`,
    ...describeUpdate(one),
  ];
}

function whyOf({ state, cancelled, rule, headerAt, source, problem, fromStopId, stopId }: ExplainedCall): string {
  if (cancelled) return CANCELLED[cancelled];
  if (state === 'departed') return 'the vehicle has left: its feed begins at a later stop';
  if (headerAt !== null) return RULES[rule](fromStopId ?? stopId);
  if (source === null) return 'planned time; no feed has runs of this kind';
  return problem === null
    ? `planned time; feed ${source} has no update of this run`
    : `planned time; feed ${source} is not used: ${problem}`;
}

function describeUpdate({ headerAt, source, update }: ExplainedCall): string[] {
  if (headerAt === null) return [];
  const feed = `    feed   ${source}, header ${clock(headerAt)}`;
  if (!update) return [feed];
  return [`${feed}, trip update ${update.number}: ${update.trip}`, ...update.stops.map((stop) => `    update ${stop}`)];
}

function clock(moment: number): string {
  return toSydneyClock(moment, 'HH:mm:ss');
}

const NAME_WIDTH = 26;

/** One line for each feed, and one for each reason why parts of it are left out. */
export function describeFeeds({ feeds, at }: RunningReport, { hasExamples = true } = {}): string[] {
  return feeds.flatMap(({ source, problem, headerAt, tripCount, foundShare, leftOut }) => {
    const parts = [
      problem === null ? 'in use' : `NOT USED: ${problem}`,
      headerAt !== null && `header ${Math.round((at - headerAt) / 1000)} s old`,
      tripCount !== null && `${tripCount.toLocaleString('en')} ${source.endsWith('-positions') ? 'vehicles' : 'trips'}`,
      foundShare !== null && `${Math.floor(foundShare * 1000) / 10} % of them in the timetable`,
    ];
    const reasons = listLeftOut(leftOut).map(({ reason, count, examples }) => {
      const shown = hasExamples && examples.length > 0 ? `: ${examples.join(', ')}` : '';
      return `    left out: ${count.toLocaleString('en')} ${reason}${shown}`;
    });
    return [`${source.padEnd(NAME_WIDTH)} ${parts.filter(Boolean).join(', ')}`, ...reasons];
  });
}
