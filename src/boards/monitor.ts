import { HOUR_MS, MINUTE_MS } from '../clock.ts';
import { type DeparturePage, EVENTS_PER_PAGE, readPage } from '../efa/departure-page.ts';
import { sumLeftOut } from '../efa/response/record.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Departure } from '../transit/departure.ts';
import { oldestOf } from '../transit/freshness.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { toSydneyWallClock, wallClockFrom } from '../transit/time.ts';
import {
  type Board,
  type BoardRequest,
  type BoardSource,
  inOrderOf,
  isCounted,
  MAX_PAGES,
  readBoard,
  type Selection,
  selectFirst,
} from './pager.ts';

/**
 * Reads the board from the departure monitor; each page begins at the last planned time of the one before. When a later
 * page fails, the board ends where the pages before it end, unless it would be empty.
 */
export async function readMonitorBoard(request: BoardRequest): Promise<{ board: Board; pages: DeparturePage[] }> {
  const { ask, request: upstreamRequest, isWanted } = request;
  const first = await readPage(ask, upstreamRequest);
  const pages: [DeparturePage, ...DeparturePage[]] = [first];
  const wanted = new Map<string, Departure>();
  let last = first;

  function take(page: DeparturePage): void {
    last = page;
    for (const departure of page.departures) if (isWanted(departure)) wanted.set(departure.key, departure);
  }

  async function readFrom(plannedAt: number, canShow: boolean): Promise<boolean> {
    const from = new Date(plannedAt);
    const at = request.page ? wallClockFrom(from, request.page.now) : toSydneyWallClock(from);
    // A later page of a board for now has to be as fresh as the first.
    const next = { ...upstreamRequest, at, isForNow: upstreamRequest.at === null };
    const page = await readPage(ask, next).catch((error) => {
      if (!canShow || !(error instanceof ApiError)) throw error;
      return null;
    });
    if (!page || (page.lastPlannedAt ?? 0) <= plannedAt) return false;
    pages.push(page);
    take(page);
    return true;
  }

  const source: BoardSource = {
    pagesLeft: MAX_PAGES - 1,
    look() {
      const { isEnd, lastPlannedAt } = last;
      return {
        departures: [...wanted.values()],
        // The departure monitor lists the departures of the last minute too.
        until: lastPlannedAt === null ? Number.NEGATIVE_INFINITY : lastPlannedAt + 1,
        knownUntil: knownUntil(last),
        findNext: (missing) =>
          missing <= 0 || isEnd || lastPlannedAt === null ? 'whole' : (canShow) => readFrom(lastPlannedAt, canShow),
      };
    },
  };
  take(first);
  const selection = (await readBoard(source, request)) ?? {
    ...selectFirst(request, [...wanted.values()]),
    knownUntil: knownUntil(last),
  };
  return { board: { ...aboutPages(pages), ...selection }, pages };
}

function aboutPages(pages: readonly [DeparturePage, ...DeparturePage[]]): Omit<Board, keyof Selection> {
  const [first, ...others] = pages;
  return {
    stopName: first.stopName,
    stopModes: listStopModes(pages),
    freshness: oldestOf(first.freshness, ...others.map((page) => page.freshness)),
    leftOut: sumLeftOut(pages.map((page) => page.leftOut)),
  };
}

/** Everything planned before this moment is listed on the page or before it. In the hour that comes twice only the list itself tells. */
function knownUntil({ until, isEnd, lastPlannedAt }: DeparturePage): number {
  if (lastPlannedAt === null) return Number.isFinite(until) ? until : Number.NEGATIVE_INFINITY;
  if (isEnd) return Number.isFinite(until) ? Math.max(until, lastPlannedAt + 1) : lastPlannedAt + 1;
  return Number.isFinite(until) ? until : lastPlannedAt;
}

/** The first look back goes so far. */
const FIRST_STEP_MS = 20 * MINUTE_MS;
const MAX_STEP_MS = 6 * HOUR_MS;
/** Pages that look back begin at multiples of this, so that many requests share them. */
const GRID_MS = 10 * MINUTE_MS;
/** A step back should fit on one page. */
const EVENTS_PER_STEP = EVENTS_PER_PAGE - 6;

/**
 * Reads the last departures planned before a moment. The departure monitor lists forwards only, so this goes back in steps,
 * each as long as is likely to fill a page. A step of which not everything becomes known is left out.
 */
export async function readBoardBefore(
  request: BoardRequest,
  { before, now }: NonNullable<BoardRequest['page']>,
): Promise<Board> {
  const { ask, request: upstreamRequest, limit, isWanted } = request;
  const pages: DeparturePage[] = [];
  const wanted: Departure[] = [];
  let end = before ?? now.getTime();
  let stepMs = FIRST_STEP_MS;

  async function readStep(start: number): Promise<Departure[] | null> {
    const listed: Departure[] = [];
    for (let from = start; from < end; ) {
      if (pages.length === MAX_PAGES) return null;
      const at = wallClockFrom(new Date(from), now);
      const page = await readPage(ask, { ...upstreamRequest, at }).catch((error) => {
        if (wanted.length === 0 || !(error instanceof ApiError)) throw error;
        return null;
      });
      if (!page || knownUntil(page) <= from) return null;
      pages.push(page);
      listed.push(...page.departures);
      from = knownUntil(page);
    }
    return inOrderOf(request, listed).filter(({ plannedAt }) => plannedAt >= start && plannedAt < end);
  }

  while (pages.length < MAX_PAGES && wanted.filter((departure) => isCounted(request, departure)).length < limit) {
    const start = Math.floor((end - stepMs) / GRID_MS) * GRID_MS;
    const step = await readStep(start);
    if (!step) break;
    wanted.push(...step.filter(isWanted));
    const ratio = step.length === 0 ? 8 : EVENTS_PER_STEP / step.length;
    stepMs = Math.min(MAX_STEP_MS, (end - start) * ratio);
    end = start;
  }
  const [first, ...others] = pages;
  if (!first) throw new Error('no step back was read');
  return { ...aboutPages([first, ...others]), ...selectFirst(request, wanted), knownUntil: end };
}

export function listStopModes(pages: readonly DeparturePage[]): Mode[] {
  return sortModes(pages.flatMap((page) => page.stopModes));
}
