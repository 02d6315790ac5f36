import { SECOND_MS } from '../core/clock.ts';
import { Feed } from '../realtime/feed/feed.ts';
import { FEED_HORIZON_MS } from '../realtime/join.ts';
import { FEED_SOURCES, type FeedSourceId } from '../realtime/polling/feed-source.ts';
import { calendarDayAt, serviceDayStart } from '../timetable/service-day.ts';
import type { Timetable } from '../timetable/timetable.ts';
import { type LiveRun, readLiveRuns, toChangedRun } from './changes.ts';
import { createLines, withChanges } from './day-lines.ts';
import { KEPT_DAYS } from './engine-messages.ts';
import { createLabels } from './raptor/labels.ts';
import { type Footpaths, freeLines, type Lines } from './raptor/lines.ts';
import { createPlanner, type WheelchairAccess } from './raptor/plan.ts';

/** Feeds cause new lines at most this often. */
const CHANGES_EVERY_MS = 5 * SECOND_MS;

export interface Planner extends ReturnType<typeof createPlanner> {
  lines: Lines;
  /** The changed runs at the end of the lines. */
  runs: readonly LiveRun[];
}

export type PlannedDay = ReturnType<ReturnType<typeof createPlanners>['open']>;

interface Day {
  day: number;
  lines: Lines;
  /** Searches the timetable alone. */
  planned: Planner | null;
  /** Searches the timetable with changes from the feeds. */
  live: (Planner & { version: number; madeAt: number }) | null;
}

/**
 * Makes the planners of the days that are searched, and keeps those of the last `KEPT_DAYS` days. Searches call `checkDeadline` again and
 * again; they end if it throws.
 */
export function createPlanners(
  timetable: Timetable,
  footpaths: Footpaths,
  access: WheelchairAccess,
  checkDeadline: () => void = () => {},
) {
  const labels = [createLabels(timetable.stopCount), createLabels(timetable.stopCount)] as const;
  const feeds = new Map<FeedSourceId, { version: number; runs: LiveRun[] }>();
  let days: Day[] = [];
  let version = 0;

  /**
   * Opens a day, by default that of the search's moment `at`. `base` is its beginning in milliseconds; `secondsAt` converts moments
   * to seconds since then.
   */
  function open({ at, now, day = calendarDayAt(at) }: { at: number; now: number; day?: number }) {
    const base = serviceDayStart(day);
    const opened = openDay(day, now);
    const isLive = version > 0 && at < now + FEED_HORIZON_MS;
    const planner = isLive ? livePlanner(opened, now) : timetablePlanner(opened);
    return { day, base, planner, secondsAt: (moment: number) => Math.floor((moment - base) / SECOND_MS) };
  }

  function openDay(day: number, now: number): Day {
    const known = days.find((one) => one.day === day);
    const opened = known ?? { day, lines: linesOfDay(timetable, day), planned: null, live: null };
    days = [opened, ...days.filter((one) => one !== opened)];
    while (days.length > KEPT_DAYS) {
      const isFar = (one: Day) => one !== opened && Math.abs(one.day - calendarDayAt(now)) > 1;
      freeDay(days.findLast(isFar) ?? (days.at(-1) as Day));
    }
    return opened;
  }

  function freeDay(freed: Day): void {
    days = days.filter((one) => one !== freed);
    freed.planned?.free(null);
    freed.live?.free(null);
    freeLines(freed.lines, null);
  }

  function timetablePlanner(opened: Day): Planner {
    const { lines } = opened;
    opened.planned ??= { lines, runs: [], ...createPlanner(lines, footpaths, access, labels, checkDeadline) };
    return opened.planned;
  }

  function livePlanner(opened: Day, now: number): Planner {
    const { live } = opened;
    if (live && (live.version === version || now - live.madeAt < CHANGES_EVERY_MS)) return live;
    opened.live = null;
    live?.free(opened.lines);
    const all = [...feeds.values()].flatMap((feed) => feed.runs);
    const { lines, runs } = changeLines(timetable, opened, all);
    const planner = createPlanner(lines, footpaths, access, labels, checkDeadline);
    opened.live = { ...planner, lines, runs, version, madeAt: now };
    return opened.live;
  }

  async function takeFeed(source: FeedSourceId, packedFeed: ArrayBuffer | null): Promise<void> {
    const known = feeds.get(source) ?? { version: 0, runs: [] };
    const own = { version: known.version + 1, runs: known.runs };
    feeds.set(source, own);
    const trusted = packedFeed && { source, modes: FEED_SOURCES[source].modes, feed: new Feed(packedFeed) };
    const runs = trusted ? await readLiveRuns(timetable, trusted, () => feeds.get(source) !== own) : [];
    if (!runs) return;
    own.runs = runs;
    version++;
  }

  return { open, takeFeed, warm: (now: number) => openDay(calendarDayAt(now), now) };
}

function linesOfDay(timetable: Timetable, day: number): Lines {
  const secondsTo = (other: number) => (serviceDayStart(other) - serviceDayStart(day)) / SECOND_MS;
  return createLines(timetable.sections, {
    day,
    dayStarts: [secondsTo(day - 1), 0, secondsTo(day + 1)],
    servicesOn: (on) => timetable.servicesOn(on),
    nextTrip: (trip, on) => timetable.nextTrip(trip, on),
  });
}

/** Returns the lines of the day with the runs of the feeds, and the runs that were added at the end of the lines. */
function changeLines(timetable: Timetable, { day, lines }: Day, all: readonly LiveRun[]) {
  const changes = all.flatMap((run) => {
    const changed = toChangedRun(timetable, run, day);
    return changed ? { run, changed } : [];
  });
  const changed = changes.map((change) => change.changed);
  const dropped = all
    .filter((run) => !run.columns && Math.abs(run.day - day) <= 1)
    .map((run) => ({ trip: run.trip, day: run.day - day }));
  return { lines: withChanges(lines, changed, dropped), runs: changes.map(({ run }) => run) };
}
