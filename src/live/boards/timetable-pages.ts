import type { AskOptions } from '../../efa/ask.ts';
import { ApiError } from '../../errors/api-error.ts';
import { type Mode, sortModes } from '../../transit/mode.ts';
import type { Change } from '../overlay/overlay.ts';
import { type PageAnswer, toPage } from '../timeline/timeline.ts';
import type { TimelineQuestion } from '../timeline/timeline-question.ts';
import type { BoardEvent } from './board-event.ts';
import type { BoardView, WantedCalls } from './board-view.ts';
import type { Comparison } from './comparison.ts';
import type { StopTimeline, StopTimelines } from './stop-timelines.ts';

/** One answer of the departure monitor to a board. */
export interface BoardPage extends PageAnswer<BoardEvent> {
  stopName: string;
  /** Straight from the authority, not one that was kept. */
  isNew: boolean;
}

export interface BoardRequest extends WantedCalls {
  /** Asks the departure monitor; null when it cannot be asked for that moment. */
  readPage(question: TimelineQuestion, options: AskOptions): Promise<BoardPage | null>;
}

/** Pages of the timetables of stops, asked from the departure monitor. */
export interface TimetablePages {
  /** Asks for the present of a stop of which nothing is known. Null when there is no answer. */
  readFirst(request: BoardRequest): Promise<StopTimeline | null>;
  /** Asks for what the board lacks, else about the change. True when the answer says something that was not known. */
  readNext(stop: StopTimeline, request: BoardRequest, view: BoardView, due: Change | null): Promise<boolean>;
  /** Keeps what the departure monitor has said, about the change if given. True when something was not known. */
  keep(stopId: string, pages: readonly BoardPage[], about: Change | null): Promise<boolean>;
  /** The modes that were asked for lately at the stop; one question is asked for all of them. */
  listAsked(stop: StopTimeline): Mode[];
}

const MINUTE_MS = 60_000;
/** Modes that somebody asked for within this time are asked for together. */
const ASKED_MS = 30 * MINUTE_MS;
const OVERLAP_MS = 2 * MINUTE_MS;
const PATIENCE_MS = 3000;

export function createTimetablePages(parts: {
  timelines: StopTimelines;
  comparison: Comparison;
  now: () => number;
}): TimetablePages {
  const { timelines, comparison, now } = parts;

  async function readFirst(request: BoardRequest): Promise<StopTimeline | null> {
    const { stopId, modes } = request;
    const page = await ask(request, { at: null, modes: [...modes] }, {});
    if (page) await keep(stopId, [page], null);
    return timelines.open(stopId);
  }

  async function readNext(stop: StopTimeline, request: BoardRequest, view: BoardView, due: Change | null) {
    // A page further on says nothing about a change.
    const about = view.question ? null : due;
    const question = view.question ?? questionAbout(stop, about);
    if (about) stop.changes.asked(now());
    const isShowable = view.calls.some(request.counts);
    const page = await ask(request, question, {
      // Where there is something to show, nobody waits long for more.
      ...(isShowable && { signal: AbortSignal.timeout(PATIENCE_MS) }),
      ...(isShowable && question.at !== null && { purpose: 'readOn' }),
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

  return { readFirst, readNext, keep, listAsked };
}
