import { type CallState, type Departure, isCancelled, leavesAt } from '../../transit/departure.ts';
import type { Freshness } from '../../transit/freshness.ts';
import type { LiveFeeds } from '../live-feeds.ts';
import { type Change, isAboutSilence, type LivingFeed, overlayStop } from '../overlay/overlay.ts';
import type { FeedSourceId } from '../polling/feed-source.ts';
import { listLivingFeeds } from '../polling/living-feeds.ts';
import { POLL_TAKES_MS } from '../polling/polling.ts';
import {
  findTimelineRequest,
  readTimeline,
  type Timeline,
  type TimelineSpan,
  timetableAgeMs,
} from '../timeline/timeline.ts';
import { type Board, type BoardSource, type BoardView, MAX_PAGES, readBoard } from './pager.ts';
import { runKey, type StopTimeline, type StopTimelines } from './stop-timelines.ts';
import type { NextPage, StopRequest, TimetablePages } from './timetable-pages.ts';

interface Parts {
  feeds: LiveFeeds;
  timelines: StopTimelines;
  pages: TimetablePages;
  now: () => number;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** A vehicle that is later than this is not looked for any more. */
const MAX_LATE_MS = 120 * MINUTE_MS;
/** A vehicle does not keep what the departure monitor said of its passengers. */
const OCCUPANCY_KEPT_MS = 3 * MINUTE_MS;
/** No page is asked for further ahead than so many departures. */
const MAX_AHEAD = 120;
const MAX_REMEMBERED_RUNS = 300;
/** While a poll is late, it is looked for so often. */
const LATE_POLL_MS = SECOND_MS;
/** An estimate is not shown as live for longer. */
const STALE_MS = 3 * MINUTE_MS;
const TIMETABLE_FRESH_MS = MINUTE_MS;

/**
 * The board by the stop's timeline, with what the feeds say laid over it. Null when they do not cover it. `isRead` says
 * that the departure monitor was asked for this board already.
 */
export async function readFeedsBoard(
  stop: StopTimeline,
  request: StopRequest,
  { feeds, timelines, pages, now, needed, isRead }: Parts & { needed: readonly FeedSourceId[]; isRead: boolean },
): Promise<Board | null> {
  const { at } = request;
  let hasAsked = isRead;

  function look() {
    const living = listLivingFeeds(feeds.states(), now());
    const seen = viewStop(stop, request, { living, now: now(), maxAgeMs: timetableAgeMs(feeds.stretch()) });
    if (stop.lastLive.size > MAX_REMEMBERED_RUNS) stop.lastLive.clear();
    for (const call of seen.calls) if (call.state.kind === 'live') stop.lastLive.set(runKey(call), call.state.leavesAt);
    const isShort = feeds.stretch() > 1;
    stop.changes.note(isShort ? seen.changes.filter((change) => !isAboutSilence(change)) : seen.changes, now());
    const due = at === null ? stop.changes.findDue(now()) : null;
    const isLong = !due && seen.calls.filter(({ plannedAt }) => plannedAt >= now()).length >= MAX_AHEAD;
    return { ...seen, due, isLong };
  }

  const source: BoardSource<ReturnType<typeof look>, NextPage> = {
    pagesLeft: isRead ? MAX_PAGES - 1 : MAX_PAGES,
    look,
    findNext(view, missing) {
      const alsoAsked = pages.listAsked(stop);
      const question = findTimelineRequest(stop.timeline, view.span, request, missing, { now: now(), alsoAsked });
      // A board for another time asks for nothing: its pages would push the present out of the timeline.
      if (at !== null && (question || stop.changes.isAnyOpen(view.changes))) return 'not covered';
      return question || view.due ? { request: question, due: view.due } : 'whole';
    },
    takeOver: () => timelines.takeOver(stop),
    async read(next, canShow) {
      const isNew = await pages.readNext(stop, request, next, canShow);
      hasAsked ||= isNew;
      return isNew;
    },
  };
  const departures = await readBoard(source, request.limit);
  if (!departures) return null;
  const freshness = freshnessOf(departures, { feeds, needed, timeline: stop.timeline, now: now(), hasAsked });
  return { stopName: stop.stopName, freshness, departures, leftOut: {} };
}

/**
 * The board of the present by the stop's timeline alone, with nothing live. Null when that does not say what leaves next.
 */
export async function readPlannedBoard(
  stop: StopTimeline,
  request: StopRequest,
  { feeds, pages, now }: Omit<Parts, 'timelines'>,
): Promise<Board | null> {
  const maxAgeMs = timetableAgeMs(feeds.stretch());
  let isWhole = false;
  const source: BoardSource<StopView, NextPage> = {
    pagesLeft: 1,
    look: () => viewStop(stop, request, { living: [], now: now(), maxAgeMs }),
    findNext(view, missing) {
      const question = findTimelineRequest(stop.timeline, view.span, request, missing, { now: now(), alsoAsked: [] });
      // A page may end with the first departures of the morning and list none that leave earlier.
      isWhole = !question || (question.at !== null && missing < request.limit);
      return isWhole ? 'whole' : { request: question, due: null };
    },
    read: (next, canShow) => pages.readNext(stop, request, next, canShow),
  };
  const departures = await readBoard(source, request.limit);
  if (!departures || !isWhole) return null;
  const freshness = plannedFreshness(stop.timeline, now(), maxAgeMs);
  return { stopName: stop.stopName, freshness, departures, leftOut: {} };
}

/** What timeline and feeds say of a stop at one moment. */
interface StopView extends BoardView {
  span: TimelineSpan;
  /** With those that have left, and those that the board does not show. */
  calls: Departure[];
  /** What the departure monitor has to be asked about, of what the board shows. */
  changes: Change[];
}

function viewStop(
  stop: StopTimeline,
  request: StopRequest,
  { living, now, maxAgeMs }: { living: readonly LivingFeed[]; now: number; maxAgeMs: number },
): StopView {
  const { at, limit, isWanted } = request;
  const span = readTimeline(stop.timeline, request, { now, maxAgeMs });
  const listed = span.departures.filter(({ plannedAt }) => plannedAt >= (at ?? now) - MAX_LATE_MS);
  const timetable = {
    stopIds: span.stopIds.add(stop.stopId),
    calls: listed.map((departure) => asLastLive(departure, stop.lastLive)),
    coveredUntil: span.until,
  };
  const overlay = overlayStop(timetable, living, now);
  const calls = listed.map((departure, index) => withState(departure, overlay.states[index] as CallState, now));
  const departures = calls.filter((call) => call.state.kind !== 'departed' && isWanted(call));
  const running = departures.filter((departure) => !isCancelled(departure));
  const last = running.map(leavesAt).sort((one, other) => one - other)[limit - 1] ?? span.until;
  return {
    departures,
    until: span.isEnd ? Number.POSITIVE_INFINITY : span.until,
    span,
    calls,
    changes: overlay.changes.filter((change) => change.at <= last),
  };
}

/** A run that was live by a feed was so after the departure monitor spoke of it. */
function asLastLive(departure: Departure, lastLive: ReadonlyMap<string, number>): Departure {
  const leaves = lastLive.get(runKey(departure));
  if (leaves === undefined || isCancelled(departure)) return departure;
  return { ...departure, state: { kind: 'live', leavesAt: leaves } };
}

function withState(departure: Departure, state: CallState, now: number): Departure {
  const known = now - departure.saidAt < OCCUPANCY_KEPT_MS ? departure.occupancy : null;
  return { ...departure, state, occupancy: state.kind === 'live' ? (state.occupancy ?? known) : known };
}

/**
 * How fresh a board is. It was retrieved when the oldest feed spoke by which something is live; where nothing is, when
 * the oldest feed spoke that could have said so; far ahead, where no feed says anything, with the oldest page of the
 * timetable. It is fresh until the next poll can say something else.
 */
function freshnessOf(
  shown: readonly Departure[],
  board: {
    feeds: LiveFeeds;
    needed: readonly FeedSourceId[];
    timeline: Timeline;
    now: number;
    /** Whether the departure monitor was asked for this board. */
    hasAsked: boolean;
  },
): Freshness {
  const { feeds, needed, timeline, now, hasAsked } = board;
  const source = hasAsked ? 'upstream' : 'cache';
  if (needed.length === 0) {
    const freshUntil = now + TIMETABLE_FRESH_MS;
    return {
      retrievedAt: oldestPage(timeline, now),
      freshUntil,
      staleUntil: freshUntil + STALE_MS,
      source,
      shortage: null,
    };
  }
  const headers = shown.flatMap(({ state }) => (state.kind === 'live' ? (state.headerAt ?? []) : []));
  const states = feeds.states();
  const ofFeeds = needed.map((one) => states.get(one)?.feed?.headerAt ?? now);
  const retrievedAt = Math.min(now, ...(headers.length > 0 ? headers : ofFeeds));
  const freshUntil = Math.max(now + LATE_POLL_MS, feeds.nextPollAt(needed) + POLL_TAKES_MS);
  return { retrievedAt, freshUntil, staleUntil: Math.max(freshUntil, retrievedAt + STALE_MS), source, shortage: null };
}

/** By the timetable alone, because calls are short: as old as the oldest page that may be used, and stale. */
function plannedFreshness(timeline: Timeline, now: number, maxAgeMs: number): Freshness {
  const pages = timeline.filter(({ freshness }) => freshness.retrievedAt >= now - maxAgeMs);
  const retrievedAt = oldestPage(pages, now);
  return { retrievedAt, freshUntil: now, staleUntil: now + STALE_MS, source: 'cache', shortage: 'busy' };
}

function oldestPage(pages: Timeline, now: number): number {
  return Math.min(now, ...pages.map(({ freshness }) => freshness.retrievedAt));
}
