import type { AskOptions, EfaAnswer, EfaClient } from '../efa/client.ts';
import type { DepartureMonitorPayload } from '../efa/payload.ts';
import type { LeftOutCounts } from '../efa/record.ts';
import type { DepartureMonitorQuestion } from '../efa/request.ts';
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
  const ask = (at: DepartureMonitorQuestion['at']) => efa.departureMonitor({ ...question, at }, options);
  const answer = await ask(question.at);
  let freshness = freshnessOf(answer);
  let page: DeparturePage | null = mapDepartures(answer.payload, question.stopId);
  const { stopName } = page;

  for (let pages = 1; page; pages++) {
    for (const { key, ...departure } of page.departures) if (isWanted(departure)) wanted.set(key, departure);
    leftOut.push(page.leftOut);
    if (wanted.size >= limit || pages === MAX_PAGES) break;
    const next: (DeparturePage & { freshness: Freshness }) | null = await readNextPage(
      ask,
      question.stopId,
      page,
    ).catch((error) => {
      if (wanted.size === 0) throw error;
      return null;
    });
    if (next) freshness = oldestOf(freshness, next.freshness);
    page = next;
  }
  const departures = [...wanted.values()].sort(compareDepartures).slice(0, limit);
  return { stopName, freshness, departures, leftOut };
}

/** Null when there is nothing further on. */
async function readNextPage(
  ask: (at: WallClock) => Promise<EfaAnswer<DepartureMonitorPayload>>,
  stopId: string,
  { eventCount, lastPlanned }: DeparturePage,
): Promise<(DeparturePage & { freshness: Freshness }) | null> {
  if (eventCount < EVENTS_PER_PAGE || !lastPlanned) return null;
  const answer = await ask(toSydneyWallClock(lastPlanned));
  const page = mapDepartures(answer.payload, stopId);
  const isFurtherOn = page.lastPlanned !== null && page.lastPlanned > lastPlanned;
  return isFurtherOn ? { ...page, freshness: freshnessOf(answer) } : null;
}
