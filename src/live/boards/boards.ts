import type { Ask } from '../../efa/ask.ts';
import { ApiError } from '../../errors/api-error.ts';
import { type Departure, isCancelled, leavesAt } from '../../transit/departure.ts';
import type { Mode } from '../../transit/mode.ts';
import { fromSydneyWallClock, startOfMinute } from '../../transit/time.ts';
import type { LiveFeeds } from '../live-feeds.ts';
import { type FeedSourceId, findFeedSource, listFeedSources } from '../polling/feed-source.ts';
import { findGap, listLivingFeeds } from '../polling/living-feeds.ts';
import type { Timeline } from '../timeline/timeline.ts';
import type { Comparison } from './comparison.ts';
import { readFeedsBoard, readPlannedBoard } from './feeds-board.ts';
import { type Board, type BoardRequest, readMonitorBoard } from './pager.ts';
import type { StopTimelines } from './stop-timelines.ts';
import { createTimetablePages, type StopRequest } from './timetable-pages.ts';

/** Which source a board came from, and why not the other. */
export interface BoardOrigin {
  /** `overlay`: the stop's timetable and the feeds; `monitor`: the departure monitor. */
  source: 'overlay' | 'monitor';
  /** Why not the other source; absent for a board from the feeds, which is the usual. */
  reason?: string;
  /** The feed, where one is the reason. */
  feed?: FeedSourceId;
}

/** Boards of stops, each from one source. */
export interface Boards {
  /** Rejects with what the departure monitor fails with, where no board can be made without it. */
  find(request: BoardRequest): Promise<Board & { origin: BoardOrigin }>;
}

/** Every board is asked from the departure monitor. */
export const monitorBoards: Boards = {
  async find(request) {
    const { board } = await readMonitorBoard(request);
    return { ...board, origin: { source: 'monitor', reason: 'feeds are off' } };
  },
};

export interface BoardsOptions {
  /** `shadow`: feeds are compared with the departure monitor's pages, and no board is made of them. */
  mode: 'shadow' | 'on';
  feeds: LiveFeeds;
  timelines: StopTimelines;
  comparison: Comparison;
  now: () => number;
  /** Counts a board whose source is chosen. */
  record?: (origin: BoardOrigin) => void;
}

const MINUTE_MS = 60_000;
/** The departure monitor has estimates for what leaves within the hour. */
const LIVE_MS = 60 * MINUTE_MS;
/** Further ahead no feed tells anything. */
const HORIZON_MS = 9 * 60 * MINUTE_MS;

export function createBoards(options: BoardsOptions): Boards {
  const { mode, feeds, timelines, comparison, now, record } = options;
  const pages = createTimetablePages({ timelines, comparison, now });
  const parts = { feeds, timelines, pages, now };

  /** From the feeds where they have the whole board, else a reason why not. */
  async function findByFeeds(request: StopRequest): Promise<Board | BoardOrigin> {
    const { stopId, modes, at } = request;
    const known = await timelines.open(stopId);
    const stop = known ?? (at === null && isFed(modes) ? await pages.readFirst(request) : null);
    if (!stop) return by('monitor', 'nothing known of the stop');
    const isBeyondHorizon = at !== null && at > now() + HORIZON_MS;
    const needed = isBeyondHorizon ? [] : listNeededFeeds(stop.timeline, modes);
    if (!isBeyondHorizon) {
      const isAnyBeyondFeeds = listNext(stop.timeline, request, now()).some((next) => isBeyondFeeds(next, now()));
      if (needed.length === 0 || isAnyBeyondFeeds) return by('monitor', 'no feed');
    }
    if (at === null) feeds.note(`${stopId} ${modes.join()}`, needed);
    for (const one of modes) stop.askedModes.set(one, now());
    if (mode === 'shadow') return by('monitor', 'shadow');
    const gap = findGap(needed, feeds.states(), now());
    if (gap) return by('monitor', gap.problem, gap.source);
    const board = await readFeedsBoard(stop, request, { ...parts, needed, isRead: !known });
    return board ?? by('monitor', 'not covered');
  }

  /**
   * The present by the kept timetable alone, for a board that the departure monitor may not be asked for because calls are
   * short: pages of timetables may be asked for when it may be asked for nothing else.
   */
  async function findPlanned(request: StopRequest): Promise<Board | null> {
    if (mode !== 'on' || request.at !== null || feeds.stretch() === 1) return null;
    const stop = (await timelines.open(request.stopId)) ?? (await pages.readFirst(request));
    return stop && readPlannedBoard(stop, request, parts);
  }

  /** Whether boards with these modes may be made of feeds at all. */
  function isFed(modes: readonly Mode[]): boolean {
    const living = mode === 'on' ? listLivingFeeds(feeds.states(), now()) : [];
    return living.some((feed) => feed.modes.some((one) => modes.includes(one)));
  }

  /** Counts a source that is chosen, also where it then fails. */
  function by(source: BoardOrigin['source'], reason?: string, feed?: FeedSourceId): BoardOrigin {
    const origin = { source, ...(reason && { reason }), ...(feed && { feed }) };
    record?.(origin);
    return origin;
  }

  return {
    async find(request) {
      let hasAsked = false;
      const ask: Ask = async (...asked) => {
        const response = await request.ask(...asked);
        hasAsked ||= response.freshness?.source === 'upstream';
        return response;
      };
      const stopRequest = toStopRequest({ ...request, ask }, now());
      const found = stopRequest ? await findByFeeds(stopRequest) : by('monitor', 'a time that no timetable is kept of');
      if ('departures' in found) return { ...found, origin: by('overlay') };
      const askForBoard: Ask = (asked, more) => ask(asked, { ...(mode === 'on' && { purpose: 'board' }), ...more });
      const monitored = await readMonitorBoard({ ...request, ask: askForBoard }).catch(async (error) => {
        const planned = stopRequest && isUnavailable(error) ? await findPlanned(stopRequest) : null;
        if (planned) return planned;
        throw error;
      });
      if (!('pages' in monitored)) {
        const reason = `calls are short; the feeds: ${found.reason}`;
        return { ...monitored, origin: { ...found, ...by('overlay', 'calls are short'), reason } };
      }
      const { board, pages: read } = monitored;
      if (request.request.at === null) await pages.keep(stopIdOf(request), read, null);
      // The first page may have been asked for a moment ago, to find out which feeds the board needs.
      const freshness = hasAsked ? { ...board.freshness, source: 'upstream' as const } : board.freshness;
      return { ...board, freshness, origin: found };
    },
  };
}

/** Null for a time gone by and for the hours in which the clocks are changed: they are left to the departure monitor. */
function toStopRequest(request: BoardRequest, now: number): StopRequest | null {
  const { request: question } = request;
  const at = question.at && (fromSydneyWallClock(question.at)?.getTime() ?? Number.NEGATIVE_INFINITY);
  if (at !== null && at < now) return null;
  // A time asked for lists what is planned from then on, the present what has not left.
  const minute = startOfMinute(new Date(now)).getTime();
  const isListed = (departure: Departure) => (at === null ? leavesAt(departure) >= minute : departure.plannedAt >= at);
  const isWanted = (departure: Departure) => isListed(departure) && request.isWanted(departure);
  return { ...request, stopId: stopIdOf(request), modes: question.modes, at, isWanted };
}

/** The authority takes both cases. */
function stopIdOf({ request: question }: BoardRequest): string {
  return question.stopId.toUpperCase();
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'UPSTREAM_UNAVAILABLE';
}

/** The departures that the timetable has next from the time asked for, as many as the board shows. */
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
 * The feeds that carry the departures of these modes, by what has been seen to leave the stop. Where nothing has, every
 * feed of the modes: one of them may tell of an added run.
 */
export function listNeededFeeds(timeline: Timeline, modes: readonly Mode[]): FeedSourceId[] {
  const seen = timeline.flatMap((page) => page.departures).filter(({ mode }) => modes.includes(mode));
  const needed = new Set(seen.flatMap((departure) => findFeedSource(departure) ?? []));
  return seen.length > 0 ? [...needed].sort() : listFeedSources(modes);
}

/**
 * Whether only the departure monitor can say if the departure is live: it leaves within the hour, it may be tracked, and
 * no feed tells of it. Without an identifier a run is not tracked, unless the departure monitor said so.
 */
export function isBeyondFeeds(departure: Departure, now: number): boolean {
  const dueAt = leavesAt(departure);
  if (isCancelled(departure) || dueAt < now - MINUTE_MS || dueAt > now + LIVE_MS) return false;
  if (departure.runId === null) return departure.state.kind === 'live';
  return findFeedSource(departure) === null;
}
