import { EVENTS_PER_PAGE, type Page } from '../../efa/departure-page.ts';
import type { Departure } from '../../transit/departure.ts';
import { type Mode, sortModes } from '../../transit/mode.ts';

/*
 * The timetable of one stop, put together from pages of the departure monitor. Moments in milliseconds since 1970.
 */

/** In the order in which the pages were retrieved. */
export type Timeline = readonly Page[];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MAX_PAGES = 12;
/** The timetable of longer ago is of no use. */
const MAX_KEPT_MS = 6 * HOUR_MS;
/** If the authority lists by estimated time, what runs ahead of its timetable is missing from a page that begins later. */
const EARLY_MS = 3 * MINUTE_MS;
/** A timetable is asked for again at this age, and when calls are short at the other. */
const MAX_AGE_MS = 2 * HOUR_MS;
const MAX_AGE_IF_SHORT_MS = 6 * HOUR_MS;
/** The authority may list by estimated time, and only what leaves within the hour has estimates. */
const OVERLAP_MS = 2 * MINUTE_MS;
const LIVE_MS = HOUR_MS;

/** The timeline with one page more. What a later page lists, or no longer lists, replaces what earlier ones said. */
export function addPage(timeline: Timeline, page: Page): Timeline {
  const { retrievedAt } = page.freshness;
  const earlier = timeline.filter(
    ({ freshness }) => freshness.retrievedAt <= retrievedAt && freshness.retrievedAt > retrievedAt - MAX_KEPT_MS,
  );
  const later = timeline.filter(({ freshness }) => freshness.retrievedAt > retrievedAt);
  const replaced = later.reduce(withoutReplaced, page);
  const pages = [...earlier.map((one) => withoutReplaced(one, page)), replaced, ...later];
  return pages.filter((one) => !pages.some((other) => isCoveredBy(one, other))).slice(-MAX_PAGES);
}

function withoutReplaced(page: Page, later: Page): Page {
  const listed = new Set(later.departures.map(runKey));
  const departures = page.departures.filter((departure) => {
    const isWithin =
      later.modes.includes(departure.mode) &&
      departure.plannedAt < later.until &&
      (later.isPresent || departure.plannedAt >= later.from + EARLY_MS);
    return !isWithin && !(departure.runId !== null && listed.has(runKey(departure)));
  });
  return departures.length === page.departures.length ? page : { ...page, departures };
}

/** A later page of the same modes, or more, says all that the page says. */
function isCoveredBy(page: Page, other: Page): boolean {
  return (
    other.freshness.retrievedAt > page.freshness.retrievedAt &&
    other.until >= page.until &&
    (other.from <= page.from || other.isPresent) &&
    page.modes.every((mode) => other.modes.includes(mode)) &&
    page.departures.length === 0
  );
}

function runKey({ runId, plannedAt }: Departure): string {
  return `${runId} ${plannedAt}`;
}

interface Coverage {
  /** Everything planned before here is listed; the moment itself when nothing is known of it. */
  until: number;
  /** Where the page begins that ends there. */
  lastFrom: number;
  /** Nothing leaves later. */
  isEnd: boolean;
}

/** The part of a timeline that some modes have from a moment on. */
export interface TimelineSpan extends Coverage {
  /** In no order; also those planned before the moment, which may be late. */
  departures: Departure[];
  /** Every platform that a departure of the stop has, of whatever mode. */
  stopIds: Set<string>;
}

/** Reads the pages that are not older than `maxAgeMs`. `at` is the moment asked for; null for the present. */
export function readTimeline(
  timeline: Timeline,
  wanted: { modes: readonly Mode[]; at: number | null },
  { now, maxAgeMs }: { now: number; maxAgeMs: number },
): TimelineSpan {
  const pages = timeline.filter(({ freshness }) => freshness.retrievedAt >= now - maxAgeMs);
  const covered = wanted.modes.map((mode) =>
    wanted.at === null ? presentCoverageOf(pages, mode, now) : coverageOf(pages, mode, wanted.at),
  );
  const isEnd = covered.every((one) => one.isEnd);
  // A mode of which nothing leaves later does not end the timetable of the others.
  const going = isEnd ? covered : covered.filter((one) => !one.isEnd);
  const { until, lastFrom } = going.reduce((first, one) => (one.until < first.until ? one : first));
  const departures = pages
    .flatMap((page) => page.departures)
    .filter(({ mode, plannedAt }) => wanted.modes.includes(mode) && (isEnd || plannedAt < until));
  const stopIds = new Set(timeline.flatMap((page) => page.departures.map(({ stopId }) => stopId)));
  return { until, lastFrom, isEnd, departures, stopIds };
}

/** A page that was asked for with a time lacks what is planned before it and late; one of the present has it. */
function presentCoverageOf(pages: Timeline, mode: Mode, now: number): Coverage {
  const starts = pages.filter(({ isPresent, modes, from }) => isPresent && modes.includes(mode) && from <= now);
  const leadsHere = starts.some(({ from }) => coverageOf(pages, mode, from).until > now);
  return leadsHere ? coverageOf(pages, mode, now) : { until: now, lastFrom: now, isEnd: false };
}

function coverageOf(pages: Timeline, mode: Mode, from: number): Coverage {
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

/** The question that the departure monitor has to be asked before a board can be answered. */
export interface TimelineRequest {
  /** Null for the present. */
  at: number | null;
  modes: Mode[];
}

/** How old a timetable may be. `stretch` is 1 while there are calls enough, and up to 4 the shorter they are. */
export function timetableAgeMs(stretch: number): number {
  const shortage = Math.min(1, Math.max(0, (stretch - 1) / 3));
  return MAX_AGE_MS + shortage * (MAX_AGE_IF_SHORT_MS - MAX_AGE_MS);
}

/**
 * The next question, so that the timeline holds the departures that are missing; null when none is, or when nothing
 * leaves later. `alsoAsked` are the modes of other boards of the stop: one page for all of them is cheaper than one for
 * each.
 */
export function findTimelineRequest(
  timeline: Timeline,
  span: TimelineSpan,
  wanted: { modes: readonly Mode[]; at: number | null },
  missing: number,
  { now, alsoAsked }: { now: number; alsoAsked: readonly Mode[] },
): TimelineRequest | null {
  const from = wanted.at ?? now;
  if (span.isEnd || (missing <= 0 && span.until > from)) return null;
  const modes = chooseModes(timeline, wanted.modes, alsoAsked, missing);
  if (span.until <= from) return { at: wanted.at, modes };
  const overlapMs = span.until - now < LIVE_MS ? OVERLAP_MS : 0;
  return { at: Math.max(from, span.until - overlapMs, span.lastFrom + MINUTE_MS), modes };
}

/** The modes of all boards of the stop, unless a page of them is known to hold too few of the wanted ones. */
function chooseModes(timeline: Timeline, wanted: readonly Mode[], alsoAsked: readonly Mode[], missing: number): Mode[] {
  const all = sortModes([...wanted, ...alsoAsked]);
  const known = timeline.findLast(
    ({ modes, departures }) => departures.length > 0 && all.every((mode) => modes.includes(mode)),
  );
  if (!known) return all;
  const ofAll = known.departures.filter(({ mode }) => all.includes(mode)).length;
  const ofWanted = known.departures.filter(({ mode }) => wanted.includes(mode)).length;
  const expected = ofAll === 0 ? 0 : (EVENTS_PER_PAGE * ofWanted) / ofAll;
  return expected >= missing ? all : sortModes(wanted);
}
