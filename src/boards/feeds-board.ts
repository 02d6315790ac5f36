import { HOUR_MS, MINUTE_MS } from '../clock.ts';
import { ownText } from '../own-memory.ts';
import { type LiveFeeds, listLivingFeeds } from '../realtime/live-feeds.ts';
import type { LivingFeed } from '../realtime/overlay.ts';
import type { FeedSourceId } from '../realtime/polling/feed-source.ts';
import { type CallState, type Departure, isCancelled, leavesAt } from '../transit/departure.ts';
import type { Freshness } from '../transit/freshness.ts';
import { listStopModes } from './monitor.ts';
import { type Board, type BoardSource, isCounted, MAX_PAGES, nextOfEachRoute, readBoard } from './pager.ts';
import { MAX_REMEMBERED_RUNS, type StopTimeline, type StopTimelines } from './stop-timelines.ts';
import { findTimelineRequest, readTimeline, runKey, type Timeline, timetableAgeMs } from './timeline.ts';
import { isAboutSilence, overlayStop } from './timeline-overlay.ts';
import type { StopRequest, TimetablePages } from './timetable-pages.ts';

/** A vehicle that is later than this is not looked for. */
const MAX_LATE_MS = 2 * HOUR_MS;
/** An occupancy from the departure monitor is shown for this long. */
const OCCUPANCY_KEPT_MS = 3 * MINUTE_MS;
/** No page is requested further ahead than this many departures. */
const MAX_AHEAD = 120;
/** An estimate is shown as live for this long at most. */
const STALE_MS = 3 * MINUTE_MS;
const TIMETABLE_FRESH_MS = MINUTE_MS;

/**
 * Reads the board from the stop's timeline and lays the feeds over it. Null when they do not cover the board. `isRead`
 * says that a page was requested from the departure monitor for this board already.
 */
export async function readFeedsBoard(
  stop: StopTimeline,
  request: StopRequest,
  parts: {
    feeds: LiveFeeds;
    timelines: StopTimelines;
    pages: TimetablePages;
    now: () => number;
    needed: readonly FeedSourceId[];
    isRead: boolean;
  },
): Promise<Board | null> {
  const { feeds, timelines, pages, now, needed, isRead } = parts;
  const { at } = request;
  let hasAsked = isRead;

  const look: BoardSource['look'] = () => {
    const living = listLivingFeeds(feeds.states(), now());
    const seen = viewStop(stop, request, { living, now: now(), maxAgeMs: timetableAgeMs(feeds.stretch()) });
    if (stop.lastLive.size > MAX_REMEMBERED_RUNS) stop.lastLive.clear();
    for (const call of seen.calls) {
      const leaves = call.state.kind === 'live' ? call.state.leavesAt : undefined;
      const key = runKey(call);
      if (leaves !== undefined && stop.lastLive.get(key) !== leaves) stop.lastLive.set(ownText(key), leaves);
    }
    const isShort = feeds.stretch() > 1;
    stop.changes.note(isShort ? seen.changes.filter((change) => !isAboutSilence(change)) : seen.changes, now());
    const due = at === null ? stop.changes.findDue(now()) : null;
    const isLong = !due && seen.calls.filter(({ plannedAt }) => plannedAt >= now()).length >= MAX_AHEAD;
    return {
      ...seen,
      isLong,
      findNext(missing) {
        const alsoAsked = pages.listAsked(stop);
        const next = findTimelineRequest(stop.timeline, seen.span, request, missing, { now: now(), alsoAsked });
        // A board for another time requests no page: its pages would push the present out of the timeline.
        if (at !== null && (next || stop.changes.isAnyOpen(seen.changes))) return 'not covered';
        if (!next && !due) return 'whole';
        return async (canShow) => {
          const isNew = await pages.readNext(stop, request, { next, due }, canShow);
          hasAsked ||= isNew;
          return isNew;
        };
      },
    };
  };

  const pagesLeft = isRead ? MAX_PAGES - 1 : MAX_PAGES;
  const source: BoardSource = { pagesLeft, look, takeOver: () => timelines.takeOver(stop) };
  const selection = await readBoard(source, request);
  if (!selection) return null;
  const about = { feeds, needed, timeline: stop.timeline, now: now(), hasAsked };
  const freshness = boardFreshness(selection.departures, about);
  return { stopName: stop.stopName, stopModes: listStopModes(stop.timeline), freshness, leftOut: {}, ...selection };
}

/**
 * Reads the board of the present from the stop's timeline alone, with nothing live, because calls are short: it is stale, and as
 * old as the oldest page that may be used. Null when the timeline lacks the next departures.
 */
export async function readPlannedBoard(
  stop: StopTimeline,
  request: StopRequest,
  { feeds, pages, now }: { feeds: LiveFeeds; pages: TimetablePages; now: () => number },
): Promise<Board | null> {
  const maxAgeMs = timetableAgeMs(feeds.stretch());
  let isWhole = false;
  const source: BoardSource = {
    pagesLeft: 1,
    look() {
      const seen = viewStop(stop, request, { living: [], now: now(), maxAgeMs });
      return {
        ...seen,
        findNext(missing) {
          const next = findTimelineRequest(stop.timeline, seen.span, request, missing, { now: now(), alsoAsked: [] });
          // A page may end with the first departures of the morning and list none that leave earlier.
          isWhole = !next || (next.at !== null && missing < request.limit);
          return isWhole ? 'whole' : (canShow) => pages.readNext(stop, request, { next, due: null }, canShow);
        },
      };
    },
  };
  const selection = await readBoard(source, request);
  if (!selection || !isWhole) return null;
  const usable = stop.timeline.filter(({ freshness }) => freshness.retrievedAt >= now() - maxAgeMs);
  const moments = { retrievedAt: oldestPage(usable, now()), freshUntil: now(), staleUntil: now() + STALE_MS };
  const freshness: Freshness = { ...moments, source: 'cache', shortage: 'busy' };
  return { stopName: stop.stopName, stopModes: listStopModes(stop.timeline), freshness, leftOut: {}, ...selection };
}

/**
 * Lays the living feeds over the stop's timeline at one moment. `calls` include departures that have left or that the board
 * does not show; `changes` are those of the departures that the board shows.
 */
function viewStop(
  stop: StopTimeline,
  request: StopRequest,
  { living, now, maxAgeMs }: { living: readonly LivingFeed[]; now: number; maxAgeMs: number },
) {
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
  const counted = departures.filter((departure) => isCounted(request, departure));
  const last =
    nextOfEachRoute(counted, request)
      .map(leavesAt)
      .sort((one, other) => one - other)[limit - 1] ?? span.until;
  return {
    departures,
    until: span.isEnd ? Number.POSITIVE_INFINITY : span.until,
    knownUntil: span.isEnd ? Math.max(span.until, ...listed.map(({ plannedAt }) => plannedAt + 1)) : span.until,
    span,
    calls,
    changes: overlay.changes.filter((change) => change.at <= last),
  };
}

/** A run that was live by a feed was so after the departure monitor listed it, so its last live state replaces that page's. */
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
 * The board was retrieved at the time of the oldest feed that makes a departure live. Where none is live, it is the time of
 * the oldest feed that could have made one live; far ahead, where no feed reaches, that of the oldest page of the timetable.
 * The board is fresh until the next poll can change it. `hasAsked` says that a page was requested for it.
 */
function boardFreshness(
  shown: readonly Departure[],
  {
    feeds,
    needed,
    timeline,
    now,
    hasAsked,
  }: { feeds: LiveFeeds; needed: readonly FeedSourceId[]; timeline: Timeline; now: number; hasAsked: boolean },
): Freshness {
  const how = { source: hasAsked ? 'upstream' : 'cache', shortage: null } as const;
  if (needed.length === 0) {
    const freshUntil = now + TIMETABLE_FRESH_MS;
    return { retrievedAt: oldestPage(timeline, now), freshUntil, staleUntil: freshUntil + STALE_MS, ...how };
  }
  const headers = shown.flatMap(({ state }) => (state.kind === 'live' ? (state.headerAt ?? []) : []));
  const states = feeds.states();
  const ofFeeds = needed.map((one) => states.get(one)?.feed?.headerAt ?? now);
  const retrievedAt = Math.min(now, ...(headers.length > 0 ? headers : ofFeeds));
  const freshUntil = feeds.freshUntil(needed);
  return { retrievedAt, freshUntil, staleUntil: Math.max(freshUntil, retrievedAt + STALE_MS), ...how };
}

function oldestPage(pages: Timeline, now: number): number {
  return Math.min(now, ...pages.map(({ freshness }) => freshness.retrievedAt));
}
