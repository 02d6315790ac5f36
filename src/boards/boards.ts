import { HOUR_MS, MINUTE_MS } from '../clock.ts';
import type { Ask } from '../efa/ask.ts';
import { ApiError } from '../errors/api-error.ts';
import { findGap, type LiveFeeds, listLivingFeeds } from '../realtime/live-feeds.ts';
import { type FeedSourceId, findFeedSource, listFeedSources } from '../realtime/polling/feed-source.ts';
import { type Departure, isCancelled, leavesAt } from '../transit/departure.ts';
import type { Mode } from '../transit/mode.ts';
import { fromSydneyWallClock, startOfMinute } from '../transit/time.ts';
import type { Comparison } from './comparison.ts';
import { readFeedsBoard, readPlannedBoard } from './feeds-board.ts';
import { readBoardBefore, readMonitorBoard } from './monitor.ts';
import type { Board, BoardRequest } from './pager.ts';
import type { StopTimelines } from './stop-timelines.ts';
import type { Timeline } from './timeline.ts';
import { type StopRequest, TimetablePages } from './timetable-pages.ts';

/** The source of a board, and why it did not come from the other. */
export interface BoardOrigin {
  /** `overlay` means the stop's timetable and the feeds, `monitor` the departure monitor. */
  source: 'overlay' | 'monitor';
  /** Says in one of a few texts, which metrics count, why the other source was not used; absent on the usual board from the feeds. */
  reason?: string;
  /** The departure that no feed carries, or, where calls are short, why the board did not come from the feeds. */
  detail?: string;
  /** The feed that is the reason, if one is. */
  feed?: FeedSourceId;
}

/** Finds boards of stops, each from one source. */
export interface Boards {
  /** Rejects with the error of the departure monitor where no board can be made without it. */
  find(request: BoardRequest): Promise<Board & { origin: BoardOrigin }>;
  /** Counts a board once it is found, by the last `find` where it took several. A board that fails is not counted. */
  count(origin: BoardOrigin): void;
}

/** Every board comes from the departure monitor. */
export const monitorBoards: Boards = {
  async find(request) {
    const { page } = request;
    const board = page?.before ? await readBoardBefore(request, page) : (await readMonitorBoard(request)).board;
    return { ...board, origin: { source: 'monitor', reason: 'feeds are off' } };
  },
  count() {},
};

/** The departure monitor has estimates for departures within the hour. */
const LIVE_MS = HOUR_MS;
/** Feeds do not reach further ahead. */
const HORIZON_MS = 9 * HOUR_MS;

export function createBoards(options: {
  /** In `shadow` mode feeds are compared with the departure monitor's pages, and no board is made of them. */
  mode: 'shadow' | 'on';
  feeds: LiveFeeds;
  timelines: StopTimelines;
  comparison: Comparison;
  now: () => number;
  record?: (origin: BoardOrigin) => void;
}): Boards {
  const { mode, feeds, timelines, comparison, now, record = () => {} } = options;
  const pages = new TimetablePages({ timelines, comparison, now });
  const parts = { feeds, timelines, pages, now };

  /** Returns the board from the feeds where they have all of it, else the reason why not. */
  async function findByFeeds(request: StopRequest): Promise<Board | (BoardOrigin & { reason: string })> {
    const { stopId, modes, at } = request;
    const known = await timelines.open(stopId);
    const stop = known ?? (at === null && isFed(modes) ? await pages.readFirst(request) : null);
    if (!stop) return { source: 'monitor', reason: 'nothing known of the stop' };
    const isBeyondHorizon = at !== null && at > now() + HORIZON_MS;
    const needed = isBeyondHorizon ? [] : listNeededFeeds(stop.timeline, modes);
    if (!isBeyondHorizon) {
      const next = listNext(stop.timeline, request, now());
      const beyond = next.find((one) => isBeyondFeeds(one, now()));
      if (needed.length === 0 || beyond) return { source: 'monitor', reason: 'no feed', ...nameRun(beyond ?? next[0]) };
    }
    if (at === null) feeds.note(`${stopId} ${modes.join()}`, needed);
    for (const one of modes) stop.askedModes.set(one, now());
    if (mode === 'shadow') return { source: 'monitor', reason: 'shadow' };
    const gap = findGap(needed, feeds.states(), now());
    if (gap) return { source: 'monitor', reason: gap.problem, feed: gap.source };
    const board = await readFeedsBoard(stop, request, { ...parts, needed, isRead: !known });
    return board ?? { source: 'monitor', reason: 'not covered' };
  }

  /**
   * Returns the present from the kept timetable alone, for a board whose request to the departure monitor was refused because
   * calls are short. Pages of timetables may be requested longer than boards.
   */
  async function findPlanned(request: StopRequest): Promise<Board | null> {
    if (mode !== 'on' || request.at !== null || feeds.stretch() === 1) return null;
    const stop = (await timelines.open(request.stopId)) ?? (await pages.readFirst(request));
    return stop && readPlannedBoard(stop, request, parts);
  }

  /** Says whether boards with these modes can come from feeds at all. */
  function isFed(modes: readonly Mode[]): boolean {
    const living = mode === 'on' ? listLivingFeeds(feeds.states(), now()) : [];
    return living.some((feed) => feed.modes.some((one) => modes.includes(one)));
  }

  return {
    async find(request) {
      const { page } = request;
      if (page?.before) {
        const board = await readBoardBefore(request, page);
        return { ...board, origin: { source: 'monitor', reason: 'earlier departures' } };
      }
      let hasAsked = false;
      const ask: Ask = async (...asked) => {
        const response = await request.ask(...asked);
        hasAsked ||= response.freshness?.source === 'upstream';
        return response;
      };
      const stopRequest = toStopRequest({ ...request, ask }, now());
      const why = request.request.isArrival ? 'arrivals' : 'a time that no timetable is kept of';
      const found = stopRequest ? await findByFeeds(stopRequest) : { source: 'monitor' as const, reason: why };
      if ('departures' in found) return { ...found, origin: { source: 'overlay' } };
      const askForBoard: Ask = (asked, more) => ask(asked, { ...(mode === 'on' && { purpose: 'board' }), ...more });
      const monitored = await readMonitorBoard({ ...request, ask: askForBoard }).catch(async (error) => {
        const planned = stopRequest && isUnavailable(error) ? await findPlanned(stopRequest) : null;
        if (planned) return planned;
        throw error;
      });
      if (!('pages' in monitored)) {
        const origin = { ...found, source: 'overlay' as const, reason: 'calls are short', detail: found.reason };
        return { ...monitored, origin };
      }
      const { board, pages: read } = monitored;
      if (request.request.at === null && !request.request.isArrival) await pages.keep(stopIdOf(request), read, null);
      // The first page may just have been requested, to find out which feeds the board needs.
      const freshness = hasAsked ? { ...board.freshness, source: 'upstream' as const } : board.freshness;
      return { ...board, freshness, origin: found };
    },
    count: record,
  };
}

/** Names the departure that no feed carries. */
function nameRun(departure: Departure | undefined): Pick<BoardOrigin, 'detail'> {
  if (!departure) return {};
  const { mode, route, network, runId } = departure;
  return { detail: `${mode} ${route}, network ${network}, run ${runId}` };
}

/** Null for arrivals, for a past time and for the hours in which the clocks are changed: the departure monitor serves those. */
function toStopRequest(request: BoardRequest, now: number): StopRequest | null {
  const { request: upstreamRequest } = request;
  const at = upstreamRequest.at && (fromSydneyWallClock(upstreamRequest.at)?.getTime() ?? Number.NEGATIVE_INFINITY);
  if (upstreamRequest.isArrival || (at !== null && at < now)) return null;
  // A board for a time lists departures planned from then on, one for the present those that have not left.
  const minute = startOfMinute(new Date(now)).getTime();
  const isListed = (departure: Departure) => (at === null ? leavesAt(departure) >= minute : departure.plannedAt >= at);
  const isWanted = (departure: Departure) => isListed(departure) && request.isWanted(departure);
  return { ...request, stopId: stopIdOf(request), modes: upstreamRequest.modes, at, isWanted };
}

/** Upstream takes stop identifiers in either case. */
function stopIdOf({ request }: BoardRequest): string {
  return request.stopId.toUpperCase();
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'UPSTREAM_UNAVAILABLE';
}

/** Lists the next departures of the timetable from the time asked for, as many as the board shows. */
function listNext(timeline: Timeline, { modes, limit, at }: StopRequest, now: number): Departure[] {
  const isListed = (departure: Departure) =>
    at === null ? leavesAt(departure) >= now - MINUTE_MS : departure.plannedAt >= at;
  return timeline
    .flatMap((page) => page.departures)
    .filter((departure) => modes.includes(departure.mode) && isListed(departure))
    .sort((one, other) => leavesAt(one) - leavesAt(other))
    .slice(0, limit);
}

/**
 * Lists the feeds that carry the known departures of these modes. Where none is known, it is every feed of the modes, because
 * one of them may have an added run.
 */
export function listNeededFeeds(timeline: Timeline, modes: readonly Mode[]): FeedSourceId[] {
  const seen = timeline.flatMap((page) => page.departures).filter(({ mode }) => modes.includes(mode));
  const needed = new Set(seen.flatMap((departure) => findFeedSource(departure) ?? []));
  return seen.length > 0 ? [...needed].sort() : listFeedSources(modes);
}

/**
 * Says whether only the departure monitor knows if the departure is live: it leaves within the hour, it may be tracked, and
 * no feed carries it. A run without an identifier is not tracked, unless the departure monitor shows it as live.
 */
export function isBeyondFeeds(departure: Departure, now: number): boolean {
  const dueAt = leavesAt(departure);
  if (isCancelled(departure) || dueAt < now - MINUTE_MS || dueAt > now + LIVE_MS) return false;
  if (departure.runId === null) return departure.state.kind === 'live';
  return findFeedSource(departure) === null;
}
