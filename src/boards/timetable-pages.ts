import { MINUTE_MS, withTimeLimit } from '../clock.ts';
import type { AskOptions } from '../efa/ask.ts';
import { type DeparturePage, readPage } from '../efa/departure-page.ts';
import { nullIfApiError } from '../errors/api-error.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { fromSydneyWallClock, toSydneyWallClock } from '../transit/time.ts';
import type { Comparison } from './comparison.ts';
import type { BoardRequest } from './pager.ts';
import type { StopTimeline, StopTimelines } from './stop-timelines.ts';
import type { TimelineRequest } from './timeline.ts';
import type { Change } from './timeline-overlay.ts';

/** A request for a board, as timelines and feeds need it. */
export interface StopRequest extends BoardRequest {
  stopId: string;
  modes: readonly Mode[];
  /** The moment asked for, in milliseconds since 1970; null for the present. */
  at: number | null;
}

/** Modes that callers asked for within this time are requested together. */
const ASKED_MS = 30 * MINUTE_MS;
const OVERLAP_MS = 2 * MINUTE_MS;
const PATIENCE_MS = 3000;

/** Requests pages of the timetables of stops from the departure monitor. */
export class TimetablePages {
  readonly #parts;

  constructor(parts: { timelines: StopTimelines; comparison: Comparison; now: () => number }) {
    this.#parts = parts;
  }

  /** Requests the present of a stop of which nothing is known. Null when the request fails. */
  async readFirst(request: StopRequest): Promise<StopTimeline | null> {
    const { stopId, modes } = request;
    const page = await this.#ask(request, { at: null, modes: [...modes] }, {});
    if (page) await this.keep(stopId, [page], null);
    return this.#parts.timelines.open(stopId);
  }

  /**
   * Requests the page that a board lacks (`next`), else one about a change that the feeds do not give in full (`due`).
   * True when the page adds something. `canShow` says that the board shows something without it.
   */
  async readNext(
    stop: StopTimeline,
    request: StopRequest,
    { next, due }: { next: TimelineRequest | null; due: Change | null },
    canShow: boolean,
  ): Promise<boolean> {
    // A page further on does not cover a change.
    const about = next ? null : due;
    const wanted = next ?? this.#requestAbout(stop, about);
    if (about) stop.changes.asked(this.#parts.now());
    const options: AskOptions = {
      ...(canShow && wanted.at !== null && { purpose: 'readOn' }),
      // When calls are short, boards that would be incomplete go first.
      ...(about && { priority: 'low', purpose: 'refresh' }),
    };
    // A board that can show something does not wait long for more.
    const page = canShow
      ? await withTimeLimit(PATIENCE_MS, (signal) => this.#ask(request, wanted, { ...options, signal }))
      : await this.#ask(request, wanted, options);
    return page !== null && this.keep(stop.stopId, [page], about);
  }

  /** Keeps pages of the departure monitor, which settle the change if given. True when they add something. */
  async keep(stopId: string, read: readonly DeparturePage[], due: Change | null): Promise<boolean> {
    const pages = read.filter(({ from }) => Number.isFinite(from));
    const [first] = pages;
    if (!first) return false;
    const isFromUpstream = ({ freshness }: DeparturePage) => freshness.source === 'upstream';
    for (const page of pages) if (isFromUpstream(page)) this.#parts.comparison.add(stopId, page.departures);
    const { stop, isNew } = await this.#parts.timelines.add(stopId, first.stopName, pages);
    for (const { isPresent, until, freshness } of pages) {
      const covered = { until: isPresent ? until : Number.NEGATIVE_INFINITY, retrievedAt: freshness.retrievedAt };
      stop.changes.settle(covered, due && isFromUpstream(first) ? due : undefined);
    }
    if (isNew) void this.#parts.timelines.share(stop);
    return isNew;
  }

  /** Lists the modes that were lately asked for at the stop: one request is made for all of them. */
  listAsked({ askedModes }: StopTimeline): Mode[] {
    return sortModes([...askedModes].flatMap(([one, askedAt]) => (this.#parts.now() - askedAt < ASKED_MS ? one : [])));
  }

  /** Null when the request fails, and in the nights when the wall clock cannot name the moment. */
  async #ask(request: StopRequest, wanted: TimelineRequest, options: AskOptions): Promise<DeparturePage | null> {
    const at = wanted.at === null ? null : toSydneyWallClock(new Date(wanted.at));
    if (at && !fromSydneyWallClock(at)) return null;
    const asked = { ...request.request, modes: wanted.modes, at };
    return readPage(request.ask, asked, { purpose: 'timetable', ...options }).catch(nullIfApiError);
  }

  #requestAbout(stop: StopTimeline, change: Change | null): TimelineRequest {
    const presentUntil = stop.timeline.findLast(({ isPresent }) => isPresent)?.until ?? 0;
    const isSoon = !change || change.at < presentUntil;
    return { at: isSoon ? null : Math.max(this.#parts.now(), change.at - OVERLAP_MS), modes: this.listAsked(stop) };
  }
}
