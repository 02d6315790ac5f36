import { type LeftOutCounts, sumLeftOut } from '../efa/answer/record.ts';
import type { Ask, AskOptions } from '../efa/ask.ts';
import type { Question } from '../efa/question.ts';
import { ApiError } from '../errors/api-error.ts';
import { type Freshness, freshnessOf, oldestOf } from '../transit/freshness.ts';
import { toSydneyWallClock, type WallClock } from '../transit/time.ts';
import { compareDepartures, leavesAt, type ScheduledDeparture } from './departure.ts';
import { type DeparturePage, mapDepartures } from './map.ts';

/** What a departure board can show, and how fresh it is. */
export interface Board {
  stopName: string;
  freshness: Freshness;
  departures: ScheduledDeparture[];
  leftOut: LeftOutCounts;
}

export type BoardQuestion = Question & { kind: 'departureMonitor' };

/** One answer of the departure monitor, and what it answers. */
export interface Page extends DeparturePage {
  question: BoardQuestion;
  freshness: Freshness;
}

const MAX_PAGES = 3;
/** The authority lists this many events a page; fewer means that there are no more. */
const EVENTS_PER_PAGE = 40;

/**
 * Reads on, from the last event's time, until the limit is filled in order or three pages are read. `isWanted` filters;
 * departures are ordered, without repeats, at most `limit`. Cancelled ones stand among them and do not count towards the
 * limit. When a later page fails, the board ends where the pages before it end, unless it would be empty.
 */
export async function readBoard(
  ask: Ask,
  question: BoardQuestion,
  limit: number,
  isWanted: (departure: ScheduledDeparture) => boolean,
): Promise<Board & { pages: Page[] }> {
  const wanted = new Map<string, ScheduledDeparture>();
  const read: Page[] = [];
  const first = await readPage(ask, question);
  let { freshness } = first;

  for (let page: Page | null = first; page; ) {
    read.push(page);
    freshness = oldestOf(freshness, page.freshness);
    for (const departure of page.departures) if (isWanted(departure)) wanted.set(departure.key, departure);
    const running = [...wanted.values()].filter(({ isCancelled }) => !isCancelled);
    const { lastPlanned } = page;
    // What leaves later than the page reaches may leave after something on the next one.
    const inOrder = running.filter((departure) => lastPlanned && leavesAt(departure) <= lastPlanned);
    if (inOrder.length >= limit || read.length === MAX_PAGES) break;
    page = await readNextPage(ask, question, page).catch((error) => {
      if (running.length === 0 || !(error instanceof ApiError)) throw error;
      return null;
    });
  }
  const leftOut = sumLeftOut(read.map((page) => page.leftOut));
  return { stopName: first.stopName, freshness, departures: selectFirst(limit, wanted.values()), leftOut, pages: read };
}

/** In order, those before the first departure that is beyond the limit. */
export function selectFirst<Departure extends ScheduledDeparture>(
  limit: number,
  unordered: Iterable<Departure>,
): Departure[] {
  const departures = [...unordered].sort(compareDepartures);
  const running = departures.filter(({ isCancelled }) => !isCancelled);
  const beyond = running[limit];
  return beyond ? departures.slice(0, departures.indexOf(beyond)) : departures;
}

export async function readPage(ask: Ask, question: BoardQuestion, options?: AskOptions): Promise<Page> {
  const answer = await ask(question, options);
  return { ...(await mapDepartures(answer.payload, question)), question, freshness: freshnessOf(answer) };
}

/** Null when there is nothing further on. */
async function readNextPage(
  ask: Ask,
  question: BoardQuestion,
  { eventCount, lastPlanned }: Page,
): Promise<Page | null> {
  if (eventCount < EVENTS_PER_PAGE || !lastPlanned) return null;
  const at: WallClock = toSydneyWallClock(lastPlanned);
  // A later page of a board for now has to be as fresh as the first.
  const page = await readPage(ask, { ...question, at, isForNow: question.at === null });
  const isFurtherOn = page.lastPlanned !== null && page.lastPlanned > lastPlanned;
  return isFurtherOn ? page : null;
}
