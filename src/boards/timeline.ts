import { HOUR_MS, MINUTE_MS } from '../clock.ts';
import { type DeparturePage, EVENTS_PER_PAGE } from '../efa/departure-page.ts';
import type { Departure } from '../transit/departure.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import type { Change } from './timeline-overlay.ts';

/*
 * The timetable of one stop is put together from pages of the departure monitor. Moments are in milliseconds since 1970.
 */

/** The pages of a stop in the order in which they were retrieved. */
export type Timeline = readonly DeparturePage[];

const MAX_KEPT_PAGES = 12;
/** Older pages are useless. */
const MAX_KEPT_MS = 6 * HOUR_MS;
/** If upstream lists by estimated time, a departure ahead of its timetable is missing from a page that begins later. */
const EARLY_MS = 3 * MINUTE_MS;
/** A timetable is requested again at this age, or at the longer one when calls are short. */
const MAX_AGE_MS = 2 * HOUR_MS;
const MAX_AGE_IF_SHORT_MS = 6 * HOUR_MS;
/** Upstream may list by estimated time, and only departures within the hour have estimates. */
const OVERLAP_MS = 2 * MINUTE_MS;
const LIVE_MS = HOUR_MS;

/** Adds a page to the timeline. Later pages replace the departures of earlier ones in the span of time that they cover. */
export function addPage(timeline: Timeline, page: DeparturePage): Timeline {
  const { retrievedAt } = page.freshness;
  const earlier = timeline.filter(
    ({ freshness }) => freshness.retrievedAt <= retrievedAt && freshness.retrievedAt > retrievedAt - MAX_KEPT_MS,
  );
  const later = timeline.filter(({ freshness }) => freshness.retrievedAt > retrievedAt);
  const replaced = later.reduce(withoutReplaced, page);
  const pages = [...earlier.map((one) => withoutReplaced(one, page)), replaced, ...later];
  return pages.filter((one) => !pages.some((other) => isUsedUpBy(one, other))).slice(-MAX_KEPT_PAGES);
}

function withoutReplaced(page: DeparturePage, later: DeparturePage): DeparturePage {
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

/** Says whether nothing is left of the page: a later one of the same modes, or more, covers its whole span and replaced its departures. */
function isUsedUpBy(page: DeparturePage, other: DeparturePage): boolean {
  return (
    other.freshness.retrievedAt > page.freshness.retrievedAt &&
    other.until >= page.until &&
    (other.from <= page.from || other.isPresent) &&
    page.modes.every((mode) => other.modes.includes(mode)) &&
    page.departures.length === 0
  );
}

/** Identifies the departure of a run from the stop on whatever page lists it. A run without an identifier has the key of its departure. */
export function runKey({ runId, plannedAt, key }: Departure): string {
  return runId === null ? key : `${runId} ${plannedAt}`;
}

/** The part of a timeline that some modes have from a moment on. */
interface TimelineSpan {
  /** Every departure planned before this moment is listed; it is the moment asked for when none is known. */
  until: number;
  /** The beginning of the page that ends there. */
  lastFrom: number;
  /** No departure is later. */
  isEnd: boolean;
  /** The departures in no order, with those planned before the moment, which may be late. */
  departures: Departure[];
  /** Every platform that a departure of the stop has, of whatever mode. */
  stopIds: Set<string>;
}

/** A request for the departures of some modes from a moment on; `at` is null for the present. */
export interface TimelineRequest {
  at: number | null;
  modes: readonly Mode[];
}

/** Reads the pages that are not older than `maxAgeMs`. */
export function readTimeline(
  timeline: Timeline,
  wanted: TimelineRequest,
  { now, maxAgeMs }: { now: number; maxAgeMs: number },
): TimelineSpan {
  const pages = timeline.filter(({ freshness }) => freshness.retrievedAt >= now - maxAgeMs);
  const covered = wanted.modes.map((mode) =>
    wanted.at === null ? presentCoverageOf(pages, mode, now) : coverageOf(pages, mode, wanted.at),
  );
  const isEnd = covered.every((one) => one.isEnd);
  // A mode without later departures does not end the timetable of the others.
  const going = isEnd ? covered : covered.filter((one) => !one.isEnd);
  const { until, lastFrom } = going.reduce((first, one) => (one.until < first.until ? one : first));
  const departures = pages
    .flatMap((page) => page.departures)
    .filter(({ mode, plannedAt }) => wanted.modes.includes(mode) && (isEnd || plannedAt < until));
  const stopIds = new Set(timeline.flatMap((page) => page.departures.map(({ stopId }) => stopId)));
  return { until, lastFrom, isEnd, departures, stopIds };
}

/** A page requested for a time lacks late departures that were planned before it; a page of the present has them. */
function presentCoverageOf(pages: Timeline, mode: Mode, now: number) {
  const starts = pages.filter(({ isPresent, modes, from }) => isPresent && modes.includes(mode) && from <= now);
  const leadsHere = starts.some(({ from }) => coverageOf(pages, mode, from).until > now);
  return leadsHere ? coverageOf(pages, mode, now) : { until: now, lastFrom: now, isEnd: false };
}

function coverageOf(pages: Timeline, mode: Mode, from: number) {
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

/** Returns how old a timetable may be. `stretch` is 1 while there are calls enough, and up to 4 the shorter they are. */
export function timetableAgeMs(stretch: number): number {
  const shortage = Math.min(1, Math.max(0, (stretch - 1) / 3));
  return MAX_AGE_MS + shortage * (MAX_AGE_IF_SHORT_MS - MAX_AGE_MS);
}

/**
 * Returns the request for the next page, so that the timeline holds the missing departures; null when none is missing, or
 * none is later. `alsoAsked` are the modes of other boards of the stop: one page for all of them is cheaper than one each.
 */
export function findTimelineRequest(
  timeline: Timeline,
  span: TimelineSpan,
  wanted: TimelineRequest,
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

/** Chooses the modes of all boards of the stop, unless a page of them is known to hold too few of the wanted ones. */
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

const CHANGE_PAUSE_MS = MINUTE_MS;
/** A run that comes back after this time has changed again. */
const CHANGE_KEPT_MS = 2 * HOUR_MS;
const MAX_CHANGES = 200;

/**
 * The changes at one stop for which a page has to be requested from the departure monitor: once for each change, and at most
 * once a minute. Moments are in milliseconds since 1970.
 */
export class ChangeLog {
  readonly #entries = new Map<string, { change: Change; notedAt: number; isSettled: boolean }>();
  #askedAt = Number.NEGATIVE_INFINITY;

  note(changes: readonly Change[], now: number): void {
    for (const change of changes) {
      if (!this.#entries.has(change.key)) this.#entries.set(change.key, { change, notedAt: now, isSettled: false });
    }
    for (const [key, { notedAt }] of this.#entries) {
      if (this.#entries.size > MAX_CHANGES || now - notedAt > CHANGE_KEPT_MS) this.#entries.delete(key);
    }
  }

  /** Returns the earliest change that a page is to be requested for now; null when there is none, or it is too soon. */
  findDue(now: number): Change | null {
    if (now - this.#askedAt < CHANGE_PAUSE_MS) return null;
    const open = [...this.#entries.values()].filter(({ isSettled }) => !isSettled).map(({ change }) => change);
    return open.reduce<Change | null>((first, one) => (first && first.at <= one.at ? first : one), null);
  }

  /** Says whether no page has been requested yet for one of these. */
  isAnyOpen(changes: readonly Change[]): boolean {
    return changes.some(({ key }) => this.#entries.get(key)?.isSettled === false);
  }

  /** Notes that a page is being requested for a change. */
  asked(now: number): void {
    this.#askedAt = now;
  }

  /** A page retrieved at `retrievedAt` lists all departures before `until`, and settles the change if given. */
  settle({ until, retrievedAt }: { until: number; retrievedAt: number }, about?: Change): void {
    for (const entry of this.#entries.values()) {
      const isWithin = entry.notedAt <= retrievedAt && entry.change.at < until;
      if (isWithin || entry.change.key === about?.key) entry.isSettled = true;
    }
  }

  /**
   * Returns the settled changes as plain data, for other instances with the same timeline. `askedAt` is null when no page was
   * ever requested for a change.
   */
  settled(): { askedAt: number | null; changes: readonly { change: Change; notedAt: number }[] } {
    const settled = [...this.#entries.values()].filter(({ isSettled }) => isSettled);
    return {
      askedAt: Number.isFinite(this.#askedAt) ? this.#askedAt : null,
      changes: settled.map(({ change, notedAt }) => ({ change, notedAt })),
    };
  }

  /** Adds the settled changes of another instance. */
  takeOver({ askedAt, changes }: ReturnType<ChangeLog['settled']>): void {
    this.#askedAt = Math.max(this.#askedAt, askedAt ?? this.#askedAt);
    for (const { change, notedAt } of changes) {
      const known = this.#entries.get(change.key);
      this.#entries.set(change.key, { change, notedAt: known?.notedAt ?? notedAt, isSettled: true });
    }
  }
}
