import { DAY_MS, SECOND_MS, systemClock } from '../core/clock.ts';
import type { Ticket } from '../core/turn-queue.ts';
import type { LiveTimetable } from '../realtime/live-timetable.ts';
import { calendarDayAt } from '../timetable/service-day.ts';
import type { EngineResult, SearchName, SearchQuery } from './engine-messages.ts';

/** A far search lets all others go first for this long after it was requested. */
const FAR_PATIENCE_MS = 2 * SECOND_MS;

/** What a search found, and the snapshots that it used. */
export interface Searched<Name extends SearchName> {
  found: EngineResult<Name>;
  live: LiveTimetable;
  /** Whether it ended at its deadline, so that there may be more or better journeys. */
  isPartial?: boolean;
}

/** A search that waits for a thread or is under way. */
export interface WaitingSearch extends PromiseWithResolvers<Searched<SearchName>> {
  ticket: Ticket;
  search: { name: SearchName; query: SearchQuery<SearchName>; deadlineAt: number };
  /** The day whose lines the search opens first. */
  day: number;
  queuedAt: number;
  begin(): void;
  signal: AbortSignal;
  timer: NodeJS.Timeout | undefined;
  /** Whether its caller has the result or an error. */
  isSettled: boolean;
}

export function isFar({ search: { query } }: WaitingSearch): boolean {
  return 'isFar' in query && query.isFar === true;
}

/** Whether the search lets all others go first. */
export function isBehind(waiting: WaitingSearch): boolean {
  return isFar(waiting) && systemClock.now() - waiting.queuedAt < FAR_PATIENCE_MS;
}

export function isByArrival(query: SearchQuery<SearchName>): boolean {
  return 'isArrival' in query && query.isArrival;
}

/** A search by arrival opens the day six hours earlier first (see `planNear` of day-by-day.ts). */
export function dayOf(query: SearchQuery<SearchName>): number {
  return calendarDayAt(isByArrival(query) ? query.at - DAY_MS / 4 : query.at);
}
