import { HOUR_MS, SECOND_MS } from '../core/clock.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import { ApiError } from '../errors/api-error.ts';
import { withLastDay } from '../errors/messages.ts';
import {
  type FeedAges,
  type FeedRequests,
  freshnessOfFeeds,
  type LiveFeeds,
  requestFeeds,
} from '../realtime/live-feeds.ts';
import { FEED_SOURCES, type FeedSourceId } from '../realtime/polling/feed-source.ts';
import { type FileId, SCHEDULE_FILES } from '../timetable/schedule-files.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { TimetableInUse } from '../timetable/update/keep-current.ts';
import type { FindAlerts } from '../transit/alert.ts';
import type { Departure } from '../transit/departure.ts';
import type { Freshness } from '../transit/freshness.ts';
import type { Mode } from '../transit/mode.ts';
import { isWithin } from '../transit/place.ts';
import { CANBERRA, CANBERRA_MODES } from '../transit/region.ts';
import { earliestMoment } from '../transit/time.ts';
import { fetchMonitorBoard } from './monitor.ts';
import type { Board, BoardContent, BoardRequest } from './pager.ts';
import { getScheduledBoard, listBoardStops } from './scheduled.ts';
import type { BoardTrust, ComparedPage } from './trust.ts';

/** The source of a board, and why it is not the preferred one. */
export interface BoardOrigin {
  source: 'timetable' | 'planner';
  /** Why the timetable was not used, or what it lacks. A fixed set of texts, because it is a metric label. */
  reason?: string;
  detail?: string;
  /** The missing feed, if that is the reason. */
  feed?: FeedSourceId;
}

/** Fetches boards of stops. Each board comes from one source. */
export interface Boards {
  /** Rejects with the departure monitor's error if no other source has the board. */
  fetch(request: BoardRequest): Promise<Board & { origin: BoardOrigin }>;
  /** Records a board that is returned to a caller. */
  count(board: { departures: readonly Departure[]; origin: BoardOrigin }): void;
}

/** Fetches every board from the departure monitor. */
export const monitorBoards: Boards = {
  async fetch(request) {
    return { ...(await fetchMonitorBoard(request)), origin: { source: 'planner', reason: 'there is no timetable' } };
  },
  count() {},
};

/** The timetable must cover at least this long from the requested time. */
const COVERED_MS = HOUR_MS / 2;
const NOT_TRUSTED = 'the timetable is not trusted yet';
/** If the trip planner's live times are older, the board comes from the timetable and its feeds. */
const MAX_LIVE_AGE_MS = 45 * SECOND_MS;
const NOT_COVERED = 'the timetable does not cover the day';
/** More departures than one page of the departure monitor holds. */
const COMPARED_LIMIT = 100;

type Reason = Omit<BoardOrigin, 'source'> & { reason: string };
/** A stop that the timetable can build a board for. */
interface Available {
  timetable: Timetable;
  stop: number;
  stops: readonly number[];
  /** Files of the wanted modes that do not cover the day, while other files do. */
  lackingFiles: readonly FileId[];
  /** The requested time in milliseconds since 1970; null for now. */
  at: number | null;
}

interface BoardFeeds extends FeedRequests, FeedAges {
  snapshotFor: LiveFeeds['snapshotFor'];
  problemOf: LiveFeeds['problemOf'];
}

export function createBoards(parts: {
  trust: BoardTrust;
  timetable: TimetableInUse;
  feeds: BoardFeeds;
  listAlerts?: FindAlerts;
  /** Sends the background requests for comparisons. */
  queryUpstream: QueryUpstream;
  now: () => number;
  record?: Boards['count'];
}): Boards {
  const { trust, feeds, listAlerts: findAlerts, now, record = () => {} } = parts;

  /** The timetable's data for the board, or the reason why it has none. */
  function chooseSource({ request, page, only }: BoardRequest): Available | Reason {
    const timetable = trust.mode === 'off' ? null : parts.timetable.get();
    if (!timetable) return { reason: 'there is no timetable' };
    const stopId = request.stopId.toUpperCase();
    const stops = timetable.boardStopsOf(stopId);
    const stop = timetable.findStop(stopId) ?? stops[0];
    if (stop === undefined || stops.every((part) => timetable.modesOf(part).length === 0)) {
      return { reason: 'the timetable lacks the stop' };
    }
    const at = request.at && earliestMoment(request.at);
    const from = page?.before === undefined ? (page?.from ?? at ?? now()) : page.before - COVERED_MS;
    const lackingFiles = timetable.filesLackingDays(stops, from, from + COVERED_MS, request.modes);
    if (lackingFiles.length > 0 && lackingFiles.length === timetable.filesAt(stops, request.modes).length) {
      return { reason: NOT_COVERED };
    }
    if (only?.to !== undefined && listBoardStops(timetable, only.to).length === 0) {
      return { reason: 'the timetable lacks the destination' };
    }
    return { timetable, stop, stops, lackingFiles, at };
  }

  /** Why the departure monitor is preferred although the timetable has the board; null if the timetable is trusted. */
  function findDoubt({ request }: BoardRequest, { timetable, stop, stops, lackingFiles }: Available): Reason | null {
    const { modes } = request;
    if (lackingFiles.length > 0) return { reason: NOT_COVERED, detail: lackingFiles.join() };
    const { lat, lng } = timetable.stop(stop);
    if (isWithin(CANBERRA, lat, lng) && modes.some((mode) => CANBERRA_MODES.includes(mode))) {
      return { reason: 'the timetable lacks the local lines' };
    }
    const servedModes = new Set(stops.flatMap((part) => timetable.modesOf(part)));
    const isStation = stops.length > 1;
    // The trip planner's board of a station may include buses from stops beside it.
    if (trust.mode === 'on') {
      const isServed = !isStation || modes.some((mode) => servedModes.has(mode));
      return isServed ? null : { reason: 'no line of these modes stops there', detail: modes.join() };
    }
    const lacking = trust.lackingAt(request.stopId.toUpperCase());
    const doubtedMode = modes.find((mode) =>
      servedModes.has(mode) ? !trust.isTrusted(mode) : isStation && (lacking === null || lacking.includes(mode)),
    );
    return doubtedMode ? { reason: NOT_TRUSTED, detail: doubtedMode } : null;
  }

  /** Fetches the board from the timetable. Some boards are also compared with the departure monitor, in the background. */
  async function fetchTrusted(request: BoardRequest, available: Available) {
    const board = await fetchScheduled(request, available);
    const isCompared = !request.request.isArrival && !request.page && !request.withCalls;
    const shownModes = board.stopModes.filter((mode) => request.request.modes.includes(mode));
    if (trust.mode === 'auto' && isCompared && trust.isSampled(shownModes)) {
      compareInBackground(request, available).catch(() => {});
    }
    return board;
  }

  /** Fetches the board from the departure monitor; from the timetable if that fails or its live times are old. */
  async function fetchDoubted(request: BoardRequest, available: Available, doubt: Reason) {
    const result = await fetchMonitor(request, doubt, available).catch((error) => {
      if (!(error instanceof ApiError) || error.statusCode < 500) throw error;
      return error;
    });
    const isFailure = result instanceof ApiError;
    if (!isFailure && !(doubt.reason === NOT_TRUSTED && isOld(request, result.freshness))) return result;
    const board = await fetchScheduled(request, available);
    const [text, instead] = isFailure
      ? ['The trip planner is unavailable', { reason: 'the trip planner fails', detail: result.code }]
      : ["The trip planner's live times are out of date", { reason: 'the trip planner is behind' }];
    const notices = [`${text}, so this board comes from the timetable.`, ...board.notices];
    return { ...board, notices, origin: { ...board.origin, ...instead } };
  }

  async function fetchScheduled(request: BoardRequest, available: Available) {
    const { modes } = request.request;
    const needed = await requestFeeds(feeds, listFeeds(available, modes), { at: available.at ?? now(), now: now() });
    const moment = now();
    const live = feeds.snapshotFor(available.timetable).only(needed);
    const board = getScheduledBoard(request, available.at, { ...available, live, now: moment, listAlerts: findAlerts });
    const missing = needed.filter((source) => !live.snapshots.some((snapshot) => snapshot.source === source));
    const [feed] = missing;
    const reason = feed && { reason: feeds.problemOf(feed, moment) ?? 'not read yet', feed };
    const origin: BoardOrigin = { source: 'timetable', ...reason };
    const freshness = freshnessOfFeeds(feeds, needed, { asOf: oldestFeed(board), now: moment });
    return { ...board, freshness, notices: noticesOf(board, missing, modes), origin };
  }

  async function fetchMonitor(request: BoardRequest, reason: Reason, available?: Available) {
    const { pages, ...board } = await fetchMonitorBoard(request).catch((error) => {
      throw withLastDay(error, parts.timetable.get()?.lastDay() ?? null);
    });
    const isNew = board.freshness.source === 'upstream' && !request.request.isArrival && !request.page;
    if (trust.mode === 'auto' && available && isNew) compare(request, available, pages);
    return { ...board, origin: { source: 'planner' as const, ...reason } };
  }

  function isOld({ request }: BoardRequest, { retrievedAt }: Freshness): boolean {
    return request.at === null && now() - retrievedAt > MAX_LIVE_AGE_MS;
  }

  /** Compares pages just received from the departure monitor with the timetable. */
  function compare({ request }: BoardRequest, available: Available, pages: readonly ComparedPage[]): void {
    const { timetable, stop, stops, lackingFiles } = available;
    const [page] = pages;
    if (!page || !Number.isFinite(page.from) || lackingFiles.length > 0) return;
    const all = {
      request,
      limit: COMPARED_LIMIT,
      showsCancelled: true,
      isWanted: () => true,
      queryUpstream: parts.queryUpstream,
    };
    const moment = now();
    const needed = listFeeds(available, request.modes);
    const live = feeds.snapshotFor(timetable).only(needed);
    // The departure monitor selects by planned times at a requested time.
    const ofPage = page.isPresent ? all : { ...all, page: { now: moment, from: page.from, countShown: () => 0 } };
    const timetableBoard = getScheduledBoard(ofPage, null, { ...available, live, now: moment });
    // The trip planner may show the board of the whole group for a single pole.
    const pole = stops.length === 1 ? timetable.stop(stop).id : null;
    const departures = page.departures.filter(({ stopId }) => pole === null || stopId === pole);
    trust.compare(request.stopId.toUpperCase(), { ...page, departures }, [
      ...timetableBoard.departures,
      ...timetableBoard.others,
    ]);
  }

  /** Fetches a page for comparison. An upstream failure says nothing about the timetable, so callers ignore errors. */
  async function compareInBackground({ request }: BoardRequest, available: Available): Promise<void> {
    const queryUpstream: QueryUpstream = (call, options) =>
      parts.queryUpstream(call, { ...options, priority: 'background' });
    const compared = { request, limit: 1, showsCancelled: true, isWanted: () => true, queryUpstream };
    const { pages } = await fetchMonitorBoard(compared);
    compare(compared, available, pages);
  }

  return {
    async fetch(request) {
      const available = chooseSource(request);
      if (!('timetable' in available)) return fetchMonitor(request, available);
      const doubt = findDoubt(request, available);
      return doubt ? fetchDoubted(request, available, doubt) : fetchTrusted(request, available);
    },
    count: record,
  };
}

/** The feeds for trips of these modes that call at these stops. */
function listFeeds({ timetable, stops }: Available, modes: readonly Mode[]): FeedSourceId[] {
  return [...new Set(timetable.filesAt(stops, modes).flatMap((file) => SCHEDULE_FILES[file].feed ?? []))].sort();
}

/** The timestamp of the oldest feed with live times on the board, in milliseconds since 1970; null if none has any. */
function oldestFeed({ departures }: BoardContent): number | null {
  const headers = departures.flatMap(({ state }) => (state.kind === 'live' ? (state.headerAt ?? []) : []));
  return headers.length > 0 ? Math.min(...headers) : null;
}

/** The notice that names the modes without live times because of missing feeds. */
function noticesOf(
  { departures, stopModes }: BoardContent,
  missing: readonly FeedSourceId[],
  modes: readonly Mode[],
): string[] {
  const isLive = (mode: Mode) =>
    departures.some((departure) => departure.mode === mode && departure.state.kind === 'live');
  const isCarried = (mode: Mode) => missing.some((source) => FEED_SOURCES[source].modes.includes(mode));
  const without = modes.filter((mode) => stopModes.includes(mode) && isCarried(mode) && !isLive(mode));
  return without.length > 0 ? [`No live times at present: ${without.join(', ')}.`] : [];
}
