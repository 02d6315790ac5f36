import { MINUTE_MS, SECOND_MS, systemClock } from '../core/clock.ts';
import { FEED_HORIZON_MS, type LiveTimetable } from '../realtime/live-timetable.ts';
import { calendarDayAt, serviceDayStart } from '../timetable/service-day.ts';
import type { Timetable } from '../timetable/timetable.ts';
import { createLines, type DaySpan, USUAL_SPAN } from './day-lines.ts';
import { KEPT_DAYS } from './engine-messages.ts';
import { createDayLines, type LinesWithRefs } from './live-lines.ts';
import { createLabels } from './raptor/labels.ts';
import { type Footpaths, type Lines, openShared, type SharedLines, shareLines } from './raptor/lines.ts';
import { createPlanner, type WheelchairAccess } from './raptor/plan.ts';

export type Planner = ReturnType<typeof createPlanner> & LinesWithRefs;

/** A day that is opened for a search. */
export interface PlannedDay {
  day: number;
  /** The beginning of the day in milliseconds since 1970. */
  base: number;
  planner: Planner;
  /** Converts a moment to seconds since the base. */
  secondsAt(moment: number): number;
}

/** A service day, and the days beside it. */
interface DayWithSpan {
  day: number;
  span: DaySpan;
}

interface Day extends DayWithSpan {
  lines: ReturnType<typeof createDayLines>;
  /** Searches the timetable alone. */
  planned: Planner | null;
  /** Searches the timetable with the runs of the snapshots `of`, which is null once there are newer ones. */
  live: (Planner & { of: LiveTimetable | null }) | null;
}

/** How long an import may need the memory of other days, and how many days are kept meanwhile. */
const SHORT_MS = MINUTE_MS;
const KEPT_WHILE_SHORT = 2;

/**
 * Makes the planners of the days that are searched, and keeps those of the last `KEPT_DAYS` days. Searches often call
 * `checkDeadline`, and end if it throws. `share` receives the lines of yesterday, today and tomorrow for other threads; null if
 * there are none. Other lines stay in this thread's own memory, which can be freed at once: shared memory waits for the garbage
 * collection of every thread.
 */
export function createPlanners(
  timetable: Timetable,
  footpaths: Footpaths,
  access: WheelchairAccess,
  checkDeadline: () => void = () => {},
  share: ((day: number, lines: SharedLines) => void) | null = null,
) {
  const labels = [createLabels(timetable.stopCount), createLabels(timetable.stopCount)] as const;
  const { tripCount } = timetable;
  let days: Day[] = [];
  let current: LiveTimetable | null = null;
  /** When the last run of the snapshots arrives. */
  let lastLiveAt = 0;
  /** Until when memory counts as short. */
  let shortUntil = 0;

  /**
   * Opens a day, by default that of the search's moment `at`, with the days beside it. `base` is its beginning in milliseconds;
   * `secondsAt` converts moments to seconds since then.
   */
  function open({ at, now, ...days }: { at: number; now: number; day?: number; span?: DaySpan }): PlannedDay {
    const { day = calendarDayAt(at), span = USUAL_SPAN } = days;
    const base = serviceDayStart(day);
    const opened = openDay(day, span, now);
    // A feed may have single runs of tomorrow, such as cancelled ones. A search by arrival also needs the runs hours before it.
    const isLive = current !== null && current.snapshots.length > 0 && at < Math.max(now, lastLiveAt) + FEED_HORIZON_MS;
    const planner = isLive && current ? livePlanner(opened, current) : timetablePlanner(opened);
    return { day, base, planner, secondsAt: (moment: number) => Math.floor((moment - base) / SECOND_MS) };
  }

  function openDay(day: number, span: DaySpan, now: number): Day {
    const known = days.find((one) => one.day === day && one.span === span);
    // Only one of the other spans is kept, because the lines of many days are large.
    const others = span === USUAL_SPAN || known ? [] : days.filter((one) => one.span !== USUAL_SPAN);
    for (const one of others) freeDay(one);
    const opened = known ?? store(createDay(day, span, now));
    days = [opened, ...days.filter((one) => one !== opened)];
    while (days.length > (systemClock.now() < shortUntil ? KEPT_WHILE_SHORT : KEPT_DAYS)) {
      const isFree = (one: Day) => one !== opened && isFar(one, now);
      freeDay(days.findLast(isFree) ?? (days.at(-1) as Day));
    }
    return opened;
  }

  function createDay(day: number, span: DaySpan, now: number): Omit<Day, 'planned' | 'live'> {
    const planned = createLines(timetable.sections, {
      day,
      span,
      servicesOn: (on) => timetable.servicesOn(on),
      nextTrip: (trip, on) => timetable.nextTrip(trip, on),
    });
    if (!share || isFar({ day, span }, now))
      return { day, span, lines: createDayLines(planned, { day, span, tripCount }) };
    const shared = shareLines(planned);
    share(day, shared);
    return fromShared(day, shared);
  }

  function fromShared(day: number, { planned, mirrored }: SharedLines) {
    return { day, span: USUAL_SPAN, lines: createDayLines(planned, { day, tripCount, mirrored }) };
  }

  function store(created: Omit<Day, 'planned' | 'live'>): Day {
    const kept = { ...created, planned: null, live: null };
    days = [...days, kept];
    return kept;
  }

  function freeDay(freed: Day): void {
    days = days.filter((one) => one !== freed);
    freed.lines.free();
  }

  function plannerOf(lines: Lines, openMirrored: () => Lines) {
    return createPlanner(lines, footpaths, access, labels, checkDeadline, openMirrored, timetable.sections);
  }

  function timetablePlanner(opened: Day): Planner {
    const { lines } = opened;
    const planned = lines.planned();
    opened.planned ??= {
      lines: planned,
      refOf: () => null,
      isLive: () => false,
      ...plannerOf(planned, () => lines.mirroredPlanned()),
    };
    return opened.planned;
  }

  function livePlanner(opened: Day, newest: LiveTimetable): Planner {
    const { lines } = opened;
    if (opened.live?.of === newest) return opened.live;
    lines.adopt(newest);
    if (opened.live?.lines === lines.live()) {
      opened.live.refresh();
      opened.live.of = newest;
    } else {
      const { refOf, isLive } = lines;
      const planner = plannerOf(lines.live(), () => lines.mirroredLive());
      opened.live = { ...planner, lines: lines.live(), refOf, isLive, of: newest };
    }
    return opened.live;
  }

  return {
    open,
    /** Searches from now on use these snapshots. */
    use(live: LiveTimetable): void {
      current = live;
      lastLiveAt = Math.max(0, ...live.snapshots.map((snapshot) => snapshot.lastArrivalAt()));
      // Otherwise days without searches would keep old snapshots in memory.
      for (const { lines, live: planner } of days) {
        lines.forget();
        if (planner) planner.of = null;
      }
    },
    /** Frees all days but one. The others are made again when they are searched; for a minute, at most one of them is kept. */
    closeOthers(day: number): void {
      shortUntil = systemClock.now() + SHORT_MS;
      for (const one of days) if (one.day !== day || one.span !== USUAL_SPAN) freeDay(one);
    },
    warm: (now: number) => openDay(calendarDayAt(now), USUAL_SPAN, now),
    /** Frees all days at once. Nothing may search with these planners afterwards. */
    free(): void {
      for (const one of days) freeDay(one);
    },
    /** Takes the lines of a day from another thread, in place of this thread's own. */
    adopt(day: number, lines: SharedLines): void {
      const known = days.find((one) => one.day === day && one.span === USUAL_SPAN);
      if (known) freeDay(known);
      store(fromShared(day, openShared(lines, timetable.sections.offsets)));
    },
  };
}

/** Whether the day is neither yesterday, today nor tomorrow, or was opened for a far search. */
function isFar({ day, span }: DayWithSpan, now: number): boolean {
  return span !== USUAL_SPAN || Math.abs(day - calendarDayAt(now)) > 1;
}
