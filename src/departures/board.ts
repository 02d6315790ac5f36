import type { AskOptions, EfaAnswer, EfaClient } from '../efa/client.ts';
import type { DepartureMonitorPayload } from '../efa/payload.ts';
import type { LeftOutCounts } from '../efa/record.ts';
import type { DepartureMonitorQuestion } from '../efa/request.ts';
import { ApiError } from '../errors.ts';
import { type Freshness, freshnessOf, oldestOf } from '../transit/freshness.ts';
import { toSydneyWallClock, type WallClock } from '../transit/time.ts';
import { compareDepartures, type ScheduledDeparture } from './departure.ts';
import { type DeparturePage, mapDepartures } from './map.ts';

/** What a departure board shows, and how fresh it is. */
export interface Board {
  stopName: string;
  freshness: Freshness;
  departures: ScheduledDeparture[];
  leftOut: LeftOutCounts[];
}

type Page = DeparturePage & { freshness: Freshness };

const MAX_PAGES = 3;
/** Upstream lists this many events a page; fewer means that there are no more. */
const EVENTS_PER_PAGE = 40;

/**
 * Reads on, from the last event's time, until the limit is filled or three pages are read.
 * `isWanted` filters; departures are ordered, without repeats, at most `limit`.
 * When a later page fails, the board ends where the pages before it end, unless it would be empty.
 */
export async function readBoard(
  efa: Pick<EfaClient, 'departureMonitor'>,
  question: DepartureMonitorQuestion,
  limit: number,
  isWanted: (departure: ScheduledDeparture) => boolean,
  options: AskOptions = {},
): Promise<Board> {
  const wanted = new Map<string, ScheduledDeparture>();
  const leftOut: LeftOutCounts[] = [];
  const isForNow = question.at === null;
  const ask = (at: DepartureMonitorQuestion['at']) => efa.departureMonitor({ ...question, isForNow, at }, options);
  const answer = await ask(question.at);
  let page: Page | null = { ...mapDepartures(answer.payload, question), freshness: freshnessOf(answer) };
  const { stopName } = page;
  let { freshness } = page;

  for (let pages = 1; page; pages++) {
    freshness = oldestOf(freshness, page.freshness);
    for (const { key, ...departure } of page.departures) if (isWanted(departure)) wanted.set(key, departure);
    leftOut.push(page.leftOut);
    if (wanted.size >= limit || pages === MAX_PAGES) break;
    page = await readNextPage(ask, question, page).catch((error) => {
      if (wanted.size === 0 || !(error instanceof ApiError)) throw error;
      return null;
    });
  }
  const departures = [...wanted.values()].sort(compareDepartures).slice(0, limit);
  return { stopName, freshness, departures, leftOut };
}

/** Null when there is nothing further on. */
async function readNextPage(
  ask: (at: WallClock) => Promise<EfaAnswer<DepartureMonitorPayload>>,
  question: DepartureMonitorQuestion,
  { eventCount, lastPlanned }: Page,
): Promise<Page | null> {
  if (eventCount < EVENTS_PER_PAGE || !lastPlanned) return null;
  const at = toSydneyWallClock(lastPlanned);
  const answer = await ask(at);
  const page = mapDepartures(answer.payload, { ...question, at });
  const isFurtherOn = page.lastPlanned !== null && page.lastPlanned > lastPlanned;
  return isFurtherOn ? { ...page, freshness: freshnessOf(answer) } : null;
}
