import type { AskOptions } from '../../efa/ask.ts';
import { type Page, readPage } from '../../efa/departure-page.ts';
import { ApiError } from '../../errors/api-error.ts';
import { type Mode, sortModes } from '../../transit/mode.ts';
import { fromSydneyWallClock, toSydneyWallClock } from '../../transit/time.ts';
import type { Change } from '../overlay/overlay.ts';
import type { TimelineRequest } from '../timeline/timeline.ts';
import type { Comparison } from './comparison.ts';
import type { BoardRequest } from './pager.ts';
import type { StopTimeline, StopTimelines } from './stop-timelines.ts';

/** A request for a board, as timelines and feeds take it. */
export interface StopRequest extends BoardRequest {
  stopId: string;
  modes: readonly Mode[];
  /** The moment asked for, in milliseconds since 1970; null for the present. */
  at: number | null;
}

/** The page that a board lacks, else one about a change that the feeds cannot say in full. */
export interface NextPage {
  request: TimelineRequest | null;
  due: Change | null;
}

/** Pages of the timetables of stops, asked from the departure monitor. */
export interface TimetablePages {
  /** Asks for the present of a stop of which nothing is known. Null when there is no answer. */
  readFirst(request: StopRequest): Promise<StopTimeline | null>;
  /** True when the page says something that was not known. `canShow` says that the board shows something without it. */
  readNext(stop: StopTimeline, request: StopRequest, next: NextPage, canShow: boolean): Promise<boolean>;
  /** Keeps what the departure monitor has said, about the change if given. True when something was not known. */
  keep(stopId: string, pages: readonly Page[], about: Change | null): Promise<boolean>;
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

  async function readFirst(request: StopRequest): Promise<StopTimeline | null> {
    const { stopId, modes } = request;
    const page = await ask(request, { at: null, modes: [...modes] }, {});
    if (page) await keep(stopId, [page], null);
    return timelines.open(stopId);
  }

  async function readNext(stop: StopTimeline, request: StopRequest, next: NextPage, canShow: boolean) {
    // A page further on says nothing about a change.
    const about = next.request ? null : next.due;
    const question = next.request ?? requestAbout(stop, about);
    if (about) stop.changes.asked(now());
    const page = await ask(request, question, {
      // Where there is something to show, nobody waits long for more.
      ...(canShow && { signal: AbortSignal.timeout(PATIENCE_MS) }),
      ...(canShow && question.at !== null && { purpose: 'readOn' }),
      // When calls are short, boards that would be incomplete go first.
      ...(about && { priority: 'low', purpose: 'refresh' }),
    });
    if (!page) return false;
    return keep(stop.stopId, [page], about);
  }

  /** Null when there is no answer, and in the nights when the wall clock cannot name the moment. */
  async function ask(request: StopRequest, wanted: TimelineRequest, options: AskOptions): Promise<Page | null> {
    const at = wanted.at === null ? null : toSydneyWallClock(new Date(wanted.at));
    if (at && !fromSydneyWallClock(at)) return null;
    const question = { ...request.request, modes: wanted.modes, at };
    return readPage(request.ask, question, { purpose: 'timetable', ...options }).catch((error) => {
      if (error instanceof ApiError) return null;
      throw error;
    });
  }

  function requestAbout(stop: StopTimeline, change: Change | null): TimelineRequest {
    const presentUntil = stop.timeline.findLast(({ isPresent }) => isPresent)?.until ?? 0;
    const isSoon = !change || change.at < presentUntil;
    return { at: isSoon ? null : Math.max(now(), change.at - OVERLAP_MS), modes: listAsked(stop) };
  }

  function listAsked({ askedModes }: StopTimeline): Mode[] {
    return sortModes([...askedModes].flatMap(([one, askedAt]) => (now() - askedAt < ASKED_MS ? one : [])));
  }

  async function keep(stopId: string, read: readonly Page[], due: Change | null): Promise<boolean> {
    const pages = read.filter(({ from }) => Number.isFinite(from));
    const [first] = pages;
    if (!first) return false;
    const isFromAuthority = ({ freshness }: Page) => freshness.source === 'upstream';
    for (const page of pages) if (isFromAuthority(page)) comparison.add(stopId, page.departures);
    const { stop, isNew } = await timelines.add(stopId, first.stopName, pages);
    for (const { isPresent, until, freshness } of pages) {
      const covered = { until: isPresent ? until : Number.NEGATIVE_INFINITY, retrievedAt: freshness.retrievedAt };
      stop.changes.settle(covered, due && isFromAuthority(first) ? due : undefined);
    }
    if (isNew) void timelines.share(stop);
    return isNew;
  }

  return { readFirst, readNext, keep, listAsked };
}
