import type { CallPurpose } from '../../efa/ask.ts';
import type { Freshness } from '../../transit/freshness.ts';
import type { Mode } from '../../transit/mode.ts';
import type { LiveFeeds } from '../live-feeds.ts';
import { isAboutSilence } from '../overlay/overlay.ts';
import type { FeedSourceId } from '../polling/feed-source.ts';
import { findGap, listLivingFeeds } from '../polling/living-feeds.ts';
import { timetableAgeMs } from '../timeline/timeline-question.ts';
import type { BoardEvent } from './board-event.ts';
import { boardFreshness, plannedFreshness } from './board-freshness.ts';
import { type BoardCall, type BoardView, viewBoard } from './board-view.ts';
import type { Comparison } from './comparison.ts';
import { isBeyondFeeds, listNeededFeeds } from './needed-feeds.ts';
import { runKey, type StopTimeline, type StopTimelines } from './stop-timelines.ts';
import { type BoardPage, type BoardRequest, createTimetablePages } from './timetable-pages.ts';

interface LiveBoard {
  stopName: string;
  /** In no order, and also those that `limit` does not count. */
  calls: BoardCall[];
  /** How fresh a board is that shows these of the calls. */
  freshnessOf(shown: readonly BoardCall[]): Freshness;
}

/** Boards put together from the timelines of stops and the feeds. */
export interface LiveBoards {
  /** Null when the departure monitor has to be asked for the whole board. */
  find(request: BoardRequest): Promise<LiveBoard | null>;
  /**
   * The present by the kept timetable alone, with nothing live: for a board that the departure monitor may not be asked
   * for because calls are short. Null when calls are not short, or the timetable does not say what leaves next.
   */
  findPlanned(request: BoardRequest): Promise<LiveBoard | null>;
  /** What the departure monitor is asked for where no board is made here, if it is not the usual. */
  readonly purpose?: CallPurpose;
  /** Keeps what the departure monitor has said of the present. */
  learn(stopId: string, pages: readonly BoardPage[]): Promise<void>;
}

/** Every board is asked from the departure monitor. */
export const noLiveBoards: LiveBoards = {
  find: async () => null,
  findPlanned: async () => null,
  learn: async () => {},
};

/** Why the departure monitor is asked for a board; the feed, where one is the reason. */
export type RecordBoard = (source: 'overlay' | 'monitor', reason: string, feed: string) => void;

export interface LiveBoardsOptions {
  /** `shadow`: feeds are compared with the departure monitor's answers, and no board is made of them. */
  mode: 'shadow' | 'on';
  feeds: LiveFeeds;
  timelines: StopTimelines;
  comparison: Comparison;
  now: () => number;
  record?: RecordBoard;
}

/** One request asks for so many pages at most, and none further ahead than so many departures. */
const MAX_PAGES = 3;
const MAX_AHEAD = 120;
const MINUTE_MS = 60_000;
/** Further ahead no feed tells anything. */
const HORIZON_MS = 9 * 60 * MINUTE_MS;
const MAX_REMEMBERED_RUNS = 300;

export function createLiveBoards(options: LiveBoardsOptions): LiveBoards {
  const { mode, feeds, timelines, comparison, now, record } = options;
  const pages = createTimetablePages({ timelines, comparison, now });

  async function find(request: BoardRequest): Promise<LiveBoard | null> {
    const { stopId, modes, at } = request;
    const known = await timelines.open(stopId);
    const stop = known ?? (at === null && isFed(modes) ? await pages.readFirst(request) : null);
    if (!stop) return fallBack('nothing known of the stop');
    const isBeyondHorizon = at !== null && at > now() + HORIZON_MS;
    const needed = isBeyondHorizon ? [] : listNeededFeeds(stop.timeline, modes);
    if (!isBeyondHorizon) {
      const isAnyBeyondFeeds = listNext(stop, request, now()).some((event) => isBeyondFeeds(event, now()));
      if (needed.length === 0 || isAnyBeyondFeeds) return fallBack('no feed');
    }
    if (at === null) feeds.note(`${stopId} ${modes.join()}`, needed);
    for (const one of modes) stop.askedModes.set(one, now());
    if (mode === 'shadow') return fallBack('shadow');
    const gap = findGap(needed, feeds.states(), now());
    if (gap) return fallBack(gap.problem, gap.source);
    return (await readOn(stop, request, needed, known ? 0 : 1)) ?? fallBack('not covered');
  }

  async function findPlanned(request: BoardRequest): Promise<LiveBoard | null> {
    if (mode !== 'on' || request.at !== null || feeds.stretch() === 1) return null;
    // Pages of timetables may be asked for when the departure monitor may be asked for nothing else.
    const stop = (await timelines.open(request.stopId)) ?? (await pages.readFirst(request));
    if (!stop) return null;
    const maxAgeMs = timetableAgeMs(feeds.stretch());
    const lookOnce = () => viewBoard(stop, request, { living: [], now: now(), maxAgeMs, alsoAsked: [] });
    // A page may end with the first departures of the morning and list none that leave earlier.
    const isEnough = ({ question, calls }: BoardView) =>
      !question || (question.at !== null && calls.some(request.counts));
    let view = lookOnce();
    if (!isEnough(view) && (await pages.readNext(stop, request, view, null))) view = lookOnce();
    if (!isEnough(view)) return null;
    record?.('overlay', 'calls are short', '');
    const { stopName, timeline } = stop;
    return { stopName, calls: view.calls, freshnessOf: () => plannedFreshness(timeline, now(), maxAgeMs) };
  }

  /** Whether boards with these modes may be made at all. */
  function isFed(modes: readonly Mode[]): boolean {
    const living = mode === 'on' ? listLivingFeeds(feeds.states(), now()) : [];
    return living.some((feed) => feed.modes.some((one) => modes.includes(one)));
  }

  function fallBack(reason: string, feed = ''): null {
    record?.('monitor', reason, feed);
    return null;
  }

  /** Asks for what is missing, page by page, and about what the feeds cannot say. */
  async function readOn(
    stop: StopTimeline,
    request: BoardRequest,
    needed: FeedSourceId[],
    pagesRead: number,
  ): Promise<LiveBoard | null> {
    let read = pagesRead;
    for (let isShared = false; ; ) {
      const view = look(stop, request);
      const due = request.at === null ? stop.changes.findDue(now()) : null;
      // A board for another time asks for nothing: its pages would push the present out of the timeline.
      const isLeftToMonitor = request.at !== null && (view.question || stop.changes.isAnyOpen(view.changes));
      if (isLeftToMonitor) return null;
      if (!view.question && !due) return toBoard(stop, view, needed, read);
      if (!isShared) {
        isShared = true;
        if (await timelines.takeOver(stop)) continue;
      }
      const isLong = view.calls.filter(({ event }) => event.plannedAt >= now()).length >= MAX_AHEAD;
      if (read === MAX_PAGES || (isLong && !due)) return toBoard(stop, view, needed, read);
      const isNew = await pages.readNext(stop, request, view, due);
      if (!isNew) return view.calls.some(request.counts) ? toBoard(stop, look(stop, request), needed, read) : null;
      read++;
    }
  }

  function look(stop: StopTimeline, request: BoardRequest): BoardView {
    const view = viewBoard(stop, request, {
      living: listLivingFeeds(feeds.states(), now()),
      now: now(),
      maxAgeMs: timetableAgeMs(feeds.stretch()),
      alsoAsked: pages.listAsked(stop),
    });
    if (stop.lastLive.size > MAX_REMEMBERED_RUNS) stop.lastLive.clear();
    for (const { event, verdict } of view.calls) {
      if (verdict.kind === 'live') stop.lastLive.set(runKey(event), verdict.leavesAt);
    }
    const isShort = feeds.stretch() > 1;
    stop.changes.note(isShort ? view.changes.filter((change) => !isAboutSilence(change)) : view.changes, now());
    return view;
  }

  function toBoard(stop: StopTimeline, { calls }: BoardView, needed: FeedSourceId[], read: number): LiveBoard {
    record?.('overlay', '', '');
    return {
      stopName: stop.stopName,
      calls,
      freshnessOf: (shown) =>
        boardFreshness(shown, { feeds, needed, timeline: stop.timeline, now: now(), hasAsked: read > 0 }),
    };
  }

  return {
    find,
    findPlanned,
    ...(mode === 'on' && { purpose: 'board' }),
    async learn(stopId, answers) {
      await pages.keep(stopId, answers, null);
    },
  };
}

/** The departures that the timetable has next from the time asked for, as many as the board shows. */
function listNext({ timeline }: StopTimeline, { modes, limit, at }: BoardRequest, now: number): BoardEvent[] {
  const dueAt = ({ lastLiveAt, plannedAt }: BoardEvent) => lastLiveAt ?? plannedAt;
  const isListed = (event: BoardEvent) => (at === null ? dueAt(event) >= now - MINUTE_MS : event.plannedAt >= at);
  return timeline
    .flatMap((page) => page.events)
    .filter((event) => modes.includes(event.mode) && isListed(event))
    .sort((one, other) => dueAt(one) - dueAt(other))
    .slice(0, limit);
}
