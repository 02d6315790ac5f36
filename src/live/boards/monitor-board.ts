import { type DeparturesRequest, type Page, readPage } from '../../efa/departure-page.ts';
import { sumLeftOut } from '../../efa/response/record.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Departure } from '../../transit/departure.ts';
import { oldestOf } from '../../transit/freshness.ts';
import { toSydneyWallClock } from '../../transit/time.ts';
import {
  type Board,
  type BoardRequest,
  type BoardSource,
  type BoardView,
  MAX_PAGES,
  readBoard,
  selectFirst,
} from './pager.ts';

/**
 * The board by the departure monitor, page by page from the last planned time on. When a later page fails, the board ends
 * where the pages before it end, unless it would be empty.
 */
export async function readMonitorBoard(request: BoardRequest): Promise<{ board: Board; pages: Page[] }> {
  const { ask, request: question, limit, isWanted } = request;
  const first = await readPage(ask, question);
  const pages = [first];
  const wanted = new Map<string, Departure>();
  let last = first;

  function take(page: Page): void {
    last = page;
    for (const departure of page.departures) if (isWanted(departure)) wanted.set(departure.key, departure);
  }

  const source: BoardSource<BoardView, DeparturesRequest> = {
    pagesLeft: MAX_PAGES - 1,
    look: () => ({
      departures: [...wanted.values()],
      // The departure monitor lists what is planned for the last minute too.
      until: last.lastPlannedAt === null ? Number.NEGATIVE_INFINITY : last.lastPlannedAt + 1,
    }),
    findNext(_, missing) {
      if (missing <= 0 || last.isEnd || last.lastPlannedAt === null) return 'whole';
      // A later page of a board for now has to be as fresh as the first.
      const at = toSydneyWallClock(new Date(last.lastPlannedAt));
      return { ...question, at, isForNow: question.at === null };
    },
    async read(next, canShow) {
      const page = await readPage(ask, next).catch((error) => {
        if (!canShow || !(error instanceof ApiError)) throw error;
        return null;
      });
      if (!page || (page.lastPlannedAt ?? 0) <= (last.lastPlannedAt ?? 0)) return false;
      pages.push(page);
      take(page);
      return true;
    },
  };
  take(first);
  const departures = (await readBoard(source, limit)) ?? selectFirst(limit, [...wanted.values()]);
  const leftOut = sumLeftOut(pages.map((page) => page.leftOut));
  const freshness = oldestOf(first.freshness, ...pages.map((page) => page.freshness));
  return { board: { stopName: first.stopName, freshness, departures, leftOut }, pages };
}
