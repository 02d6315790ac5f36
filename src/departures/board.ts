import type { EfaClient } from '../efa/client.ts';
import type { LeftOutCounts } from '../efa/record.ts';
import type { DepartureMonitorQuestion } from '../efa/request.ts';
import { ApiError } from '../errors.ts';
import { toSydneyWallClock } from '../transit/time.ts';
import { compareDepartures, type ScheduledDeparture } from './departure.ts';
import { type DeparturePage, mapDepartures } from './map.ts';

/** What a departure board shows, and when upstream said so. */
export interface Board {
  stopName: string;
  retrievedAt: Date;
  departures: ScheduledDeparture[];
  leftOut: LeftOutCounts[];
}

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
): Promise<Board> {
  const wanted = new Map<string, ScheduledDeparture>();
  const leftOut: LeftOutCounts[] = [];
  const { payload, retrievedAt } = await efa.departureMonitor(question);
  let page: DeparturePage | null = mapDepartures(payload, question.stopId);
  const { stopName } = page;

  for (let pages = 1; page; pages++) {
    for (const { key, ...departure } of page.departures) if (isWanted(departure)) wanted.set(key, departure);
    leftOut.push(page.leftOut);
    if (wanted.size >= limit || pages === MAX_PAGES) break;
    page = await readNextPage(efa, question, page).catch((error) => {
      if (wanted.size === 0 || !(error instanceof ApiError)) throw error;
      return null;
    });
  }
  const departures = [...wanted.values()].sort(compareDepartures).slice(0, limit);
  return { stopName, retrievedAt, departures, leftOut };
}

/** Null when there is nothing further on. */
async function readNextPage(
  efa: Pick<EfaClient, 'departureMonitor'>,
  question: DepartureMonitorQuestion,
  { eventCount, lastPlanned }: DeparturePage,
): Promise<DeparturePage | null> {
  if (eventCount < EVENTS_PER_PAGE || !lastPlanned) return null;
  const { payload } = await efa.departureMonitor({ ...question, at: toSydneyWallClock(lastPlanned) });
  const page = mapDepartures(payload, question.stopId);
  const isFurtherOn = page.lastPlanned !== null && page.lastPlanned > lastPlanned;
  return isFurtherOn ? page : null;
}
