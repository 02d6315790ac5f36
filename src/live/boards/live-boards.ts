import type { AskOptions } from '../../efa/ask.ts';
import { ApiError } from '../../errors.ts';
import type { Freshness } from '../../transit/freshness.ts';
import { type Mode, sortModes } from '../../transit/mode.ts';
import type { LiveFeeds } from '../live-feeds.ts';
import { type Change, isAboutSilence } from '../overlay/overlay.ts';
import type { FeedSourceId } from '../polling/feed-source.ts';
import { findGap, listLivingFeeds } from '../polling/living-feeds.ts';
import { type PageAnswer, toPage } from '../timeline/timeline.ts';
import { type TimelineQuestion, timetableAgeMs } from '../timeline/timeline-question.ts';
import type { BoardEvent } from './board-event.ts';
import { boardFreshness } from './board-freshness.ts';
import { type BoardCall, type BoardView, viewBoard, type WantedCalls } from './board-view.ts';
import type { Comparison } from './comparison.ts';
import { isBeyondFeeds, listNeededFeeds } from './needed-feeds.ts';
import { runKey, type StopTimeline, type StopTimelines } from './stop-timelines.ts';

/** One answer of the departure monitor to a board. */
export interface BoardPage extends PageAnswer<BoardEvent> {
  stopName: string;
  /** Straight from the authority, not one that was kept. */
  isNew: boolean;
}

interface BoardRequest extends WantedCalls {
  /** Asks the departure monitor; null when it cannot be asked for that moment. */
  readPage(question: TimelineQuestion, options: AskOptions): Promise<BoardPage | null>;
}

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
  /** Keeps what the departure monitor has said of the present. */
  learn(stopId: string, pages: readonly BoardPage[]): Promise<void>;
}

/** Every board is asked from the departure monitor. */
export const noLiveBoards: LiveBoards = { find: async () => null, learn: async () => {} };

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
/** Modes that somebody asked for within this time are asked for together. */
const ASKED_MS = 30 * MINUTE_MS;
const OVERLAP_MS = 2 * MINUTE_MS;
/** Further ahead no feed tells anything. */
const HORIZON_MS = 9 * 60 * MINUTE_MS;
const PATIENCE_MS = 3000;
const MAX_REMEMBERED_RUNS = 300;

export function createLiveBoards(options: LiveBoardsOptions): LiveBoards {
  const { mode, feeds, timelines, comparison, now, record } = options;

  async function find(request: BoardRequest): Promise<LiveBoard | null> {
    const { stopId, modes, at } = request;
    const known = await timelines.open(stopId);
    const stop = known ?? (await getToKnow(request));
    if (!stop) return fallBack('nothing known of the stop');
    const needed = at !== null && at > now() + HORIZON_MS ? [] : listNeededFeeds(stop.timeline, modes);
    if (at === null) {
      if (needed.length === 0 || listNext(stop, request, now()).some((event) => isBeyondFeeds(event, now()))) {
        return fallBack('no feed');
      }
      feeds.note(`${stopId} ${modes.join()}`, needed);
    }
    for (const one of modes) stop.askedModes.set(one, now());
    if (mode === 'shadow') return fallBack('shadow');
    const gap = findGap(needed, feeds.states(), now());
    if (gap) return fallBack(gap.problem, gap.source);
    return (await readOn(stop, request, needed, known ? 0 : 1)) ?? fallBack('not covered');
  }

  /** Asks for the timetable of a stop of which nothing is known. Null when no board could be made of it. */
  async function getToKnow(request: BoardRequest): Promise<StopTimeline | null> {
    const { stopId, modes, at } = request;
    const isFed = listLivingFeeds(feeds.states(), now()).some((feed) => feed.modes.some((one) => modes.includes(one)));
    if (mode === 'shadow' || at !== null || !isFed) return null;
    const page = await ask(request, { at, modes: [...modes] }, {});
    if (page) await keep(stopId, [page], null);
    return timelines.open(stopId);
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
    let pages = pagesRead;
    for (let isShared = false; ; ) {
      const view = look(stop, request);
      const due = request.at === null ? stop.changes.findDue(now()) : null;
      if (!view.question && !due) return toBoard(stop, view, needed, pages);
      // Pages for other times of the day would push the present out of the timeline.
      if (request.at !== null) return null;
      if (!isShared) {
        isShared = true;
        if (await timelines.takeOver(stop)) continue;
      }
      const isLong = view.calls.filter(({ event }) => event.plannedAt >= now()).length >= MAX_AHEAD;
      if (pages === MAX_PAGES || (isLong && !due)) return toBoard(stop, view, needed, pages);
      const isNew = await readPage(stop, request, view, due);
      if (!isNew) return view.calls.some(request.counts) ? toBoard(stop, look(stop, request), needed, pages) : null;
      pages++;
    }
  }

  function look(stop: StopTimeline, request: BoardRequest): BoardView {
    const view = viewBoard(stop, request, {
      living: listLivingFeeds(feeds.states(), now()),
      now: now(),
      maxAgeMs: timetableAgeMs(feeds.stretch()),
      alsoAsked: listAsked(stop),
    });
    if (stop.lastLive.size > MAX_REMEMBERED_RUNS) stop.lastLive.clear();
    for (const { event, verdict } of view.calls) {
      if (verdict.kind === 'live') stop.lastLive.set(runKey(event), verdict.leavesAt);
    }
    const isShort = feeds.stretch() > 1;
    stop.changes.note(isShort ? view.changes.filter((change) => !isAboutSilence(change)) : view.changes, now());
    return view;
  }

  /** True when the answer says something that was not known. */
  async function readPage(stop: StopTimeline, request: BoardRequest, view: BoardView, due: Change | null) {
    // A page further on says nothing about a change.
    const about = view.question ? null : due;
    const question = view.question ?? questionAbout(stop, about);
    if (about) stop.changes.asked(now());
    const page = await ask(request, question, {
      // Where there is something to show, nobody waits long for more.
      ...(view.calls.some(request.counts) && { signal: AbortSignal.timeout(PATIENCE_MS) }),
      // When calls are short, boards that would be incomplete go first.
      ...(about && { priority: 'low', purpose: 'refresh' }),
    });
    if (!page) return false;
    return keep(stop.stopId, [page], about);
  }

  /** Null when there is no answer. */
  function ask(request: BoardRequest, question: TimelineQuestion, options: AskOptions): Promise<BoardPage | null> {
    return request.readPage(question, { purpose: 'timetable', ...options }).catch((error) => {
      if (error instanceof ApiError) return null;
      throw error;
    });
  }

  function questionAbout(stop: StopTimeline, change: Change | null): TimelineQuestion {
    const presentUntil = stop.timeline.findLast(({ isPresent }) => isPresent)?.until ?? 0;
    const isSoon = !change || change.at < presentUntil;
    return { at: isSoon ? null : Math.max(now(), change.at - OVERLAP_MS), modes: listAsked(stop) };
  }

  function listAsked({ askedModes }: StopTimeline): Mode[] {
    return sortModes([...askedModes].flatMap(([one, askedAt]) => (now() - askedAt < ASKED_MS ? one : [])));
  }

  async function keep(stopId: string, answers: readonly BoardPage[], due: Change | null): Promise<boolean> {
    const [first] = answers;
    if (!first) return false;
    for (const answer of answers) if (answer.isNew) comparison.add(stopId, answer.events);
    const pages = answers.map(toPage);
    const { stop, isNew } = await timelines.add(stopId, first.stopName, pages);
    for (const { isPresent, until, retrievedAt } of pages) {
      const covered = { until: isPresent ? until : Number.NEGATIVE_INFINITY, retrievedAt };
      stop.changes.settle(covered, due && first.isNew ? due : undefined);
    }
    if (isNew) void timelines.share(stop);
    return isNew;
  }

  function toBoard(stop: StopTimeline, { calls }: BoardView, needed: FeedSourceId[], pages: number): LiveBoard {
    record?.('overlay', '', '');
    return {
      stopName: stop.stopName,
      calls,
      freshnessOf: (shown) =>
        boardFreshness(shown, { feeds, needed, timeline: stop.timeline, now: now(), hasAsked: pages > 0 }),
    };
  }

  return {
    find,
    async learn(stopId, pages) {
      await keep(stopId, pages, null);
    },
  };
}

/** The departures that the timetable has next, as many as the board shows. */
function listNext({ timeline }: StopTimeline, { modes, limit }: BoardRequest, now: number): BoardEvent[] {
  const dueAt = ({ lastLiveAt, plannedAt }: BoardEvent) => lastLiveAt ?? plannedAt;
  return timeline
    .flatMap((page) => page.events)
    .filter((event) => modes.includes(event.mode) && dueAt(event) >= now - MINUTE_MS)
    .sort((one, other) => dueAt(one) - dueAt(other))
    .slice(0, limit);
}
