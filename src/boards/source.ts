import { HOUR_MS, SECOND_MS } from '../core/clock.ts';
import type { Ask } from '../efa/ask.ts';
import { ApiError } from '../errors/api-error.ts';
import { freshnessOfFeeds, type LiveFeeds, needFeeds } from '../realtime/live-feeds.ts';
import { FEED_SOURCES, type FeedSourceId, feedOfFile } from '../realtime/polling/feed-source.ts';
import type { FileId } from '../timetable/schedule-files.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { FindAlerts } from '../transit/alert.ts';
import type { Freshness } from '../transit/freshness.ts';
import type { Mode } from '../transit/mode.ts';
import { isWithin } from '../transit/place.ts';
import { CANBERRA, CANBERRA_MODES } from '../transit/region.ts';
import { earliestMoment } from '../transit/time.ts';
import { readMonitorBoard } from './monitor.ts';
import type { Board, BoardRequest } from './pager.ts';
import { findBoardStops, readScheduledBoard } from './scheduled.ts';
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

/** Finds boards of stops. Each board comes from one source. */
export interface Boards {
  /** Rejects with the departure monitor's error if no other source has the board. */
  find(request: BoardRequest): Promise<Board & { origin: BoardOrigin }>;
  /** Records a board that is returned to a caller. */
  count(board: Pick<Board, 'departures'> & { origin: BoardOrigin }): void;
}

/** Takes every board from the departure monitor. */
export const monitorBoards: Boards = {
  async find(request) {
    return { ...(await readMonitorBoard(request)), origin: { source: 'planner', reason: 'there is no timetable' } };
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

export function createBoards(parts: {
  trust: BoardTrust;
  timetable: { get(): Timetable | null };
  feeds: Pick<LiveFeeds, 'need' | 'untilRead' | 'living' | 'problemOf' | 'freshUntil' | 'list'>;
  findAlerts?: FindAlerts;
  /** Sends the background requests for comparisons. */
  ask: Ask;
  now: () => number;
  record?: Boards['count'];
}): Boards {
  const { trust, feeds, findAlerts, now, record = () => {} } = parts;

  async function findScheduled(request: BoardRequest, { timetable, stop, stops, lackingFiles, at }: Available) {
    const ofStops = listFeeds(timetable, stops, request.request.modes);
    const needed = await needFeeds(feeds, ofStops, { at: at ?? now(), now: now() });
    const moment = now();
    const living = feeds.living(moment).filter(({ source }) => needed.includes(source));
    const parts = { timetable, stop, feeds: living, now: moment, lackingFiles, findAlerts };
    const board = readScheduledBoard(request, at, parts);
    const missing = needed.filter((source) => !living.some((feed) => feed.source === source));
    const [first] = missing;
    const reason = first && { reason: feeds.problemOf(first, moment) ?? 'not read yet', feed: first };
    const origin: BoardOrigin = { source: 'timetable', ...reason };
    const isCarried = (sources: readonly FeedSourceId[], mode: Mode) =>
      sources.some((source) => FEED_SOURCES[source].modes.includes(mode));
    const liveModes = new Set(board.departures.flatMap(({ mode, state }) => (state.kind === 'live' ? mode : [])));
    const modes = request.request.modes.filter(
      (mode) => board.stopModes.includes(mode) && isCarried(missing, mode) && !liveModes.has(mode),
    );
    const notices = modes.length > 0 ? [`No live times at present: ${modes.join(', ')}.`] : [];
    const headers = board.departures.flatMap(({ state }) => (state.kind === 'live' ? (state.headerAt ?? []) : []));
    const asOf = headers.length > 0 ? Math.min(...headers) : null;
    return { ...board, freshness: freshnessOfFeeds(feeds, needed, { asOf, now: moment }), notices, origin };
  }

  /** What the timetable has for the board, or the reason it has nothing. */
  function look({ request, page, only }: BoardRequest): Available | Reason {
    const timetable = trust.mode === 'off' ? null : parts.timetable.get();
    if (!timetable) return { reason: 'there is no timetable' };
    const stopId = request.stopId.toUpperCase();
    const stops = timetable.boardStopsOf(stopId);
    const stop = timetable.findStop(stopId) ?? stops[0];
    if (stop === undefined || stops.every((stop) => timetable.stop(stop).modes.length === 0)) {
      return { reason: 'the timetable lacks the stop' };
    }
    const at = request.at && earliestMoment(request.at);
    const from = page?.before === undefined ? (page?.from ?? at ?? now()) : page.before - COVERED_MS;
    const lackingFiles = timetable.filesLackingDays(stops, from, from + COVERED_MS, request.modes);
    if (lackingFiles.length > 0 && lackingFiles.length === timetable.filesAt(stops, request.modes).length) {
      return { reason: NOT_COVERED };
    }
    if (only?.to !== undefined && findBoardStops(timetable, only.to).length === 0) {
      return { reason: 'the timetable lacks the destination' };
    }
    return { timetable, stop, stops, lackingFiles, at };
  }

  /** Why the board comes from the departure monitor although the timetable has it. */
  function findDoubt({ request }: BoardRequest, { timetable, stop, stops, lackingFiles }: Available): Reason | null {
    const { modes } = request;
    if (lackingFiles.length > 0) return { reason: NOT_COVERED, detail: lackingFiles.join() };
    const { lat, lng } = timetable.stop(stop);
    if (isWithin(CANBERRA, lat, lng) && modes.some((mode) => CANBERRA_MODES.includes(mode))) {
      return { reason: 'the timetable lacks the local lines' };
    }
    const served = new Set(stops.flatMap((stop) => timetable.stop(stop).modes));
    const isStation = stops.length > 1;
    // The trip planner's board of a station may include buses from stops beside it.
    if (trust.mode === 'on') {
      const isServed = !isStation || modes.some((mode) => served.has(mode));
      return isServed ? null : { reason: 'no line of these modes stops there', detail: modes.join() };
    }
    const lacking = trust.lackingAt(request.stopId.toUpperCase());
    const doubted = modes.find((mode) =>
      served.has(mode) ? !trust.isTrusted(mode) : isStation && (lacking === null || lacking.includes(mode)),
    );
    return doubted ? { reason: NOT_TRUSTED, detail: doubted } : null;
  }

  /** Compares pages just received from the departure monitor with the timetable. */
  function compare(
    { request }: BoardRequest,
    { timetable, stop, stops, lackingFiles }: Available,
    pages: readonly ComparedPage[],
  ): void {
    const [page] = pages;
    if (!page || !Number.isFinite(page.from) || lackingFiles.length > 0) return;
    const all = { request, limit: COMPARED_LIMIT, showsCancelled: true, isWanted: () => true, ask: parts.ask };
    const moment = now();
    const needed = listFeeds(timetable, stops, request.modes);
    const living = feeds.living(moment).filter(({ source }) => needed.includes(source));
    const at = page.isPresent ? null : page.from;
    const ours = readScheduledBoard(all, at, { timetable, stop, feeds: living, now: moment, lackingFiles });
    // The trip planner may show the board of the whole group for a single pole.
    const pole = stops.length === 1 ? timetable.stop(stop).id : null;
    const departures = page.departures.filter(({ stopId }) => pole === null || stopId === pole);
    trust.compare(request.stopId.toUpperCase(), { ...page, departures }, [...ours.departures, ...ours.others]);
  }

  /** Reads a page for comparison. An upstream failure says nothing about the timetable, so callers ignore errors. */
  async function compareInBackground({ request }: BoardRequest, available: Available): Promise<void> {
    const ask: Ask = (request, options) => parts.ask(request, { ...options, priority: 'background' });
    const compared = { request, limit: 1, showsCancelled: true, isWanted: () => true, ask };
    const { pages } = await readMonitorBoard(compared);
    compare(compared, available, pages);
  }

  async function readMonitor(request: BoardRequest, found: Available | Reason, why: Reason) {
    const { pages, ...board } = await readMonitorBoard(request);
    const isNew = board.freshness.source === 'upstream' && !request.request.isArrival && !request.page;
    if (trust.mode === 'auto' && 'timetable' in found && isNew) compare(request, found, pages);
    return { ...board, origin: { source: 'planner' as const, ...why } };
  }

  function isOld({ request }: BoardRequest, { retrievedAt }: Freshness): boolean {
    return request.at === null && now() - retrievedAt > MAX_LIVE_AGE_MS;
  }

  return {
    async find(request) {
      const found = look(request);
      const why = 'timetable' in found ? findDoubt(request, found) : found;
      if (!('timetable' in found)) return readMonitor(request, found, found);
      if (why) {
        const result = await readMonitor(request, found, why).catch((error) => {
          if (!(error instanceof ApiError) || error.statusCode < 500) throw error;
          return error;
        });
        const failure = result instanceof ApiError ? result.code : null;
        if (!(result instanceof ApiError) && !(why.reason === NOT_TRUSTED && isOld(request, result.freshness)))
          return result;
        const board = await findScheduled(request, found);
        const [text, instead] = failure
          ? ['The trip planner is unavailable', { reason: 'the trip planner fails', detail: failure }]
          : ["The trip planner's live times are out of date", { reason: 'the trip planner is behind' }];
        const notices = [`${text}, so this board comes from the timetable.`, ...board.notices];
        return { ...board, notices, origin: { ...board.origin, ...instead } };
      }
      const isCompared = !request.request.isArrival && !request.page && !request.withCalls;
      const board = await findScheduled(request, found);
      const shown = board.stopModes.filter((mode) => request.request.modes.includes(mode));
      if (trust.mode === 'auto' && isCompared && trust.isSampled(shown)) {
        compareInBackground(request, found).catch(() => {});
      }
      return board;
    },
    count: record,
  };
}

/** The feeds for trips of these modes that call at these stops. */
function listFeeds(timetable: Timetable, stops: readonly number[], modes: readonly Mode[]): FeedSourceId[] {
  return [...new Set(timetable.filesAt(stops, modes).flatMap((file) => feedOfFile(file) ?? []))].sort();
}
