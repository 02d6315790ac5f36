import { MINUTE_MS } from '../../clock.ts';
import type { AskOptions } from '../../efa/ask.ts';
import { type Page, readPage } from '../../efa/departure-page.ts';
import { ApiError } from '../../errors/api-error.ts';
import { withTimeLimit } from '../../time-limit.ts';
import { type Mode, sortModes } from '../../transit/mode.ts';
import { fromSydneyWallClock, toSydneyWallClock } from '../../transit/time.ts';
import type { Change } from '../overlay/overlay.ts';
import type { TimelineRequest } from '../timeline/timeline.ts';
import type { createComparison } from './comparison.ts';
import type { BoardRequest } from './pager.ts';
import type { StopTimeline, StopTimelines } from './stop-timelines.ts';

/** A request for a board, as timelines and feeds need it. */
export interface StopRequest extends BoardRequest {
  stopId: string;
  modes: readonly Mode[];
  /** The moment asked for, in milliseconds since 1970; null for the present. */
  at: number | null;
}

/** Requests pages of the timetables of stops from the departure monitor. */
export type TimetablePages = ReturnType<typeof createTimetablePages>;

/** Modes that callers asked for within this time are requested together. */
const ASKED_MS = 30 * MINUTE_MS;
const OVERLAP_MS = 2 * MINUTE_MS;
const PATIENCE_MS = 3000;

export function createTimetablePages(parts: {
  timelines: StopTimelines;
  comparison: ReturnType<typeof createComparison>;
  now: () => number;
}) {
  const { timelines, comparison, now } = parts;

  /** Requests the present of a stop of which nothing is known. Null when the request fails. */
  async function readFirst(request: StopRequest): Promise<StopTimeline | null> {
    const { stopId, modes } = request;
    const page = await ask(request, { at: null, modes: [...modes] }, {});
    if (page) await keep(stopId, [page], null);
    return timelines.open(stopId);
  }

  /**
   * Requests the page that a board lacks (`next`), else one about a change that the feeds do not give in full (`due`).
   * True when the page adds something. `canShow` says that the board shows something without it.
   */
  async function readNext(
    stop: StopTimeline,
    request: StopRequest,
    { next, due }: { next: TimelineRequest | null; due: Change | null },
    canShow: boolean,
  ): Promise<boolean> {
    // A page further on does not cover a change.
    const about = next ? null : due;
    const wanted = next ?? requestAbout(stop, about);
    if (about) stop.changes.asked(now());
    const options: AskOptions = {
      ...(canShow && wanted.at !== null && { purpose: 'readOn' }),
      // When calls are short, boards that would be incomplete go first.
      ...(about && { priority: 'low', purpose: 'refresh' }),
    };
    // A board that can show something does not wait long for more.
    const page = canShow
      ? await withTimeLimit(PATIENCE_MS, (signal) => ask(request, wanted, { ...options, signal }))
      : await ask(request, wanted, options);
    if (!page) return false;
    return keep(stop.stopId, [page], about);
  }

  /** Null when the request fails, and in the nights when the wall clock cannot name the moment. */
  async function ask(request: StopRequest, wanted: TimelineRequest, options: AskOptions): Promise<Page | null> {
    const at = wanted.at === null ? null : toSydneyWallClock(new Date(wanted.at));
    if (at && !fromSydneyWallClock(at)) return null;
    return readPage(
      request.ask,
      { ...request.request, modes: wanted.modes, at },
      { purpose: 'timetable', ...options },
    ).catch((error) => {
      if (error instanceof ApiError) return null;
      throw error;
    });
  }

  function requestAbout(stop: StopTimeline, change: Change | null): TimelineRequest {
    const presentUntil = stop.timeline.findLast(({ isPresent }) => isPresent)?.until ?? 0;
    const isSoon = !change || change.at < presentUntil;
    return { at: isSoon ? null : Math.max(now(), change.at - OVERLAP_MS), modes: listAsked(stop) };
  }

  /** Lists the modes that were lately asked for at the stop: one request is made for all of them. */
  function listAsked({ askedModes }: StopTimeline): Mode[] {
    return sortModes([...askedModes].flatMap(([one, askedAt]) => (now() - askedAt < ASKED_MS ? one : [])));
  }

  /** Keeps pages of the departure monitor, which settle the change if given. True when they add something. */
  async function keep(stopId: string, read: readonly Page[], due: Change | null): Promise<boolean> {
    const pages = read.filter(({ from }) => Number.isFinite(from));
    const [first] = pages;
    if (!first) return false;
    const isFromUpstream = ({ freshness }: Page) => freshness.source === 'upstream';
    for (const page of pages) if (isFromUpstream(page)) comparison.add(stopId, page.departures);
    const { stop, isNew } = await timelines.add(stopId, first.stopName, pages);
    for (const { isPresent, until, freshness } of pages) {
      const covered = { until: isPresent ? until : Number.NEGATIVE_INFINITY, retrievedAt: freshness.retrievedAt };
      stop.changes.settle(covered, due && isFromUpstream(first) ? due : undefined);
    }
    if (isNew) void timelines.share(stop);
    return isNew;
  }

  return { readFirst, readNext, keep, listAsked };
}
