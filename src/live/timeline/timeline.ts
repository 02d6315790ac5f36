import type { Mode } from '../../transit/mode.ts';

/*
 * The timetable of one stop, put together from answers of the departure monitor. Each answer is a page: everything of
 * some modes that is planned within a span of time. Pages are plain data and are never changed. Moments in
 * milliseconds since 1970.
 */

/** What a timeline has to know of a departure. */
export interface TimelineEvent {
  /** Null where the authority gives no identifier. */
  runId: string | null;
  stopId: string;
  mode: Mode;
  plannedAt: number;
}

export interface TimelinePage<Event extends TimelineEvent> {
  /** Everything planned from here on is listed, and so is what was planned earlier and has not left. */
  from: number;
  /** Everything planned before here is listed. */
  until: number;
  /** Nothing leaves after the last event, as far as the authority says. */
  isEnd: boolean;
  /** The question named no time: what was planned earlier and is not listed has left. */
  isPresent: boolean;
  modes: readonly Mode[];
  retrievedAt: number;
  events: readonly Event[];
}

/** In the order in which they were retrieved. */
export type Timeline<Event extends TimelineEvent> = readonly TimelinePage<Event>[];

/** What one answer of the departure monitor holds. */
export interface PageAnswer<Event extends TimelineEvent> {
  /** The moment that was asked for; null for the present. */
  askedFor: number | null;
  modes: readonly Mode[];
  retrievedAt: number;
  /** Those that can be shown, or are cancelled. */
  events: readonly Event[];
  /** How many the authority listed. */
  eventCount: number;
  /** The latest planned time among them. */
  lastPlannedAt: number | null;
}

/** The departure monitor lists this many events; fewer mean that there are no more. */
const EVENTS_PER_PAGE = 40;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A page of fewer events is complete for so long; how far the authority looks ahead is not known. */
const COMPLETE_MS = 6 * HOUR_MS;
const MAX_PAGES = 12;
/** The timetable of longer ago is of no use. */
const MAX_AGE_MS = 6 * HOUR_MS;
/** If the authority lists by estimated time, what runs ahead of its timetable is missing from a page that begins later. */
const EARLY_MS = 3 * MINUTE_MS;

export function toPage<Event extends TimelineEvent>(answer: PageAnswer<Event>): TimelinePage<Event> {
  const { askedFor, modes, retrievedAt, events, eventCount, lastPlannedAt } = answer;
  // The answer took a moment to come; what was planned for the last minute and is not listed has left.
  const from = askedFor ?? retrievedAt - MINUTE_MS;
  const isEnd = eventCount < EVENTS_PER_PAGE;
  // More may be planned for the minute of the last event than the page had room for.
  const until = isEnd ? from + COMPLETE_MS : Math.max(lastPlannedAt ?? from, from + MINUTE_MS);
  return { from, until, isEnd, isPresent: askedFor === null, modes, retrievedAt, events };
}

/** The timeline with one page more. What a later page lists, or no longer lists, replaces what earlier ones said. */
export function addPage<Event extends TimelineEvent>(
  timeline: Timeline<Event>,
  page: TimelinePage<Event>,
): Timeline<Event> {
  const earlier = timeline.filter(
    ({ retrievedAt }) => retrievedAt <= page.retrievedAt && retrievedAt > page.retrievedAt - MAX_AGE_MS,
  );
  const later = timeline.filter(({ retrievedAt }) => retrievedAt > page.retrievedAt);
  const replaced = later.reduce(withoutReplaced, page);
  const pages = [...earlier.map((one) => withoutReplaced(one, page)), replaced, ...later];
  return pages.filter((one) => !pages.some((other) => isCoveredBy(one, other))).slice(-MAX_PAGES);
}

function withoutReplaced<Event extends TimelineEvent>(
  page: TimelinePage<Event>,
  later: TimelinePage<Event>,
): TimelinePage<Event> {
  const listed = new Set(later.events.map(runKey));
  const events = page.events.filter((event) => {
    const isWithin =
      later.modes.includes(event.mode) &&
      event.plannedAt < later.until &&
      (later.isPresent || event.plannedAt >= later.from + EARLY_MS);
    return !isWithin && !(event.runId !== null && listed.has(runKey(event)));
  });
  return events.length === page.events.length ? page : { ...page, events };
}

/** A later page of the same modes, or more, says all that the page says. */
function isCoveredBy(page: TimelinePage<TimelineEvent>, other: TimelinePage<TimelineEvent>): boolean {
  return (
    other.retrievedAt > page.retrievedAt &&
    other.until >= page.until &&
    (other.from <= page.from || other.isPresent) &&
    page.modes.every((mode) => other.modes.includes(mode)) &&
    page.events.length === 0
  );
}

function runKey({ runId, plannedAt }: TimelineEvent): string {
  return `${runId} ${plannedAt}`;
}

/** What a timeline holds of some modes from a moment on. */
export interface Stretch<Event extends TimelineEvent> {
  /** Everything planned before here is listed; the moment itself when nothing is known of it. */
  until: number;
  /** Where the page begins that ends there. */
  lastFrom: number;
  /** Nothing leaves later. */
  isEnd: boolean;
  /** In no order; also those planned before the moment, which may be late. */
  events: Event[];
  /** Every platform that an event of the stop has, of whatever mode. */
  stopIds: Set<string>;
}

/** Reads the pages that are not older than `maxAgeMs`. `at` is the moment asked for; null for the present. */
export function readTimeline<Event extends TimelineEvent>(
  timeline: Timeline<Event>,
  wanted: { modes: readonly Mode[]; at: number | null },
  { now, maxAgeMs }: { now: number; maxAgeMs: number },
): Stretch<Event> {
  const pages = timeline.filter(({ retrievedAt }) => retrievedAt >= now - maxAgeMs);
  const covered = wanted.modes.map((mode) =>
    wanted.at === null ? presentCoverageOf(pages, mode, now) : coverageOf(pages, mode, wanted.at),
  );
  const isEnd = covered.every((one) => one.isEnd);
  // A mode of which nothing leaves later does not end the timetable of the others.
  const going = isEnd ? covered : covered.filter((one) => !one.isEnd);
  const { until, lastFrom } = going.reduce((first, one) => (one.until < first.until ? one : first));
  const events = pages
    .flatMap((page) => page.events)
    .filter(({ mode, plannedAt }) => wanted.modes.includes(mode) && (isEnd || plannedAt < until));
  return {
    until,
    lastFrom,
    isEnd,
    events,
    stopIds: new Set(timeline.flatMap((page) => page.events.map(({ stopId }) => stopId))),
  };
}

/** A page that was asked for with a time lacks what is planned before it and late; one of the present has it. */
function presentCoverageOf(pages: Timeline<TimelineEvent>, mode: Mode, now: number): Coverage {
  const starts = pages.filter(({ isPresent, modes, from }) => isPresent && modes.includes(mode) && from <= now);
  const leadsHere = starts.some(({ from }) => coverageOf(pages, mode, from).until > now);
  return leadsHere ? coverageOf(pages, mode, now) : { until: now, lastFrom: now, isEnd: false };
}

interface Coverage {
  until: number;
  lastFrom: number;
  isEnd: boolean;
}

function coverageOf(pages: Timeline<TimelineEvent>, mode: Mode, from: number): Coverage {
  const ofMode = pages.filter(({ modes }) => modes.includes(mode));
  let reached = { until: from, lastFrom: from, isEnd: false };
  for (;;) {
    const { until } = reached;
    const next = ofMode.filter((page) => page.from <= until && page.until > until);
    if (reached.isEnd || next.length === 0) return reached;
    const furthest = next.reduce((best, page) =>
      (page.until - best.until || page.from - best.from) > 0 ? page : best,
    );
    reached = { until: furthest.until, lastFrom: furthest.from, isEnd: furthest.isEnd };
  }
}
