import { HOUR_MS, MINUTE_MS } from '../core/clock.ts';
import { mapRunCalls } from '../efa/calls.ts';
import { type DeparturePage, type DeparturesRequest, EVENTS_PER_PAGE, mapPage } from '../efa/departure-page.ts';
import type { QueryOptions } from '../efa/query-upstream.ts';
import { ApiError } from '../errors/api-error.ts';
import type { RunCall, RunCalls } from '../transit/call.ts';
import { type Departure, isCancelled, leavesAt } from '../transit/departure.ts';
import { oldestOf } from '../transit/freshness.ts';
import { sumLeftOut } from '../transit/left-out.ts';
import { sortModes } from '../transit/mode.ts';
import { toSydneyWallClock, wallClockFrom } from '../transit/time.ts';
import {
  type Board,
  type BoardRequest,
  inOrderOf,
  isCounted,
  nextOfEachRoute,
  type Selection,
  selectFirst,
} from './pager.ts';

/** Maximum number of pages that one board requests. */
const MAX_PAGES = 3;

/** Fetches the board of a stop from the departure monitor. `pages` are the pages that it consists of. */
export async function fetchMonitorBoard(request: BoardRequest): Promise<Board & { pages: DeparturePage[] }> {
  const reader = new PageReader(request);
  const selection = await (request.page?.before === undefined ? listForwards : listBackwards)(request, reader);
  const { pages } = reader;
  const [first, ...others] = pages as [DeparturePage, ...DeparturePage[]];
  return {
    ...selection,
    pages,
    stopName: first.stopName,
    stopModes: sortModes(pages.flatMap((page) => page.stopModes)),
    freshness: oldestOf(first.freshness, ...others.map((page) => page.freshness)),
    leftOut: sumLeftOut(pages.map((page) => page.leftOut)),
    callsOf: (departure) => reader.callsOf(departure),
  };
}

/** Fetches pages, with the calls of their departures if the request needs them. */
class PageReader {
  readonly pages: DeparturePage[] = [];
  readonly #request: BoardRequest;
  readonly #calls = new Map<string, RunCalls>();

  constructor(request: BoardRequest) {
    this.#request = request;
  }

  async fetchPage(request: DeparturesRequest): Promise<DeparturePage> {
    const page = await this.#fetchPage(request);
    this.pages.push(page);
    return page;
  }

  /** Fetches a further page. Resolves to null if that fails and the page is optional. */
  fetchMore(request: DeparturesRequest, isOptional: boolean): Promise<DeparturePage | null> {
    return this.fetchPage(request).catch((error) => {
      if (!isOptional || !(error instanceof ApiError)) throw error;
      return null;
    });
  }

  isWanted(departure: Departure): boolean {
    return this.#request.isWanted(departure, () => this.callsOf(departure));
  }

  callsOf(departure: Departure): RunCall[] | null {
    const cachedCalls = this.#calls.get(departure.key);
    if (!cachedCalls?.after) return null;
    return [
      callHere(departure, { ...cachedCalls, name: this.pages[0]?.stopName ?? departure.stopId }),
      ...cachedCalls.after,
    ];
  }

  async #fetchPage(request: DeparturesRequest): Promise<DeparturePage> {
    const { queryUpstream, withCalls, only } = this.#request;
    // The caller pays for one call, so further pages are background work.
    const options: QueryOptions = this.pages.length > 0 ? { priority: 'background' } : {};
    const fetchPlain = async () => mapPage(request, await queryUpstream(request, options));
    if (!withCalls) return fetchPlain();
    try {
      const response = await queryUpstream({ ...request, withCalls }, options);
      const page = await mapPage(request, response, (departure, record) => {
        this.#calls.set(departure.key, mapRunCalls(record, departure));
      });
      const isReadable = page.departures.length > 0 || response.payload.stopEvents.length === 0;
      if (isReadable || only?.to !== undefined) return page;
    } catch (error) {
      // A board without calls is better than none, unless the calls decide which departures belong on it.
      if (!(error instanceof ApiError) || error.statusCode < 500 || only?.to !== undefined) throw error;
    }
    return fetchPlain();
  }
}

/** The call of a departure at its own stop. Boards give no arrival time for it. */
export function callHere(
  departure: Departure,
  { position, ids, name, carriages }: Pick<RunCall, 'position' | 'ids' | 'name' | 'carriages'>,
): RunCall {
  const { stopId, platform, plannedAt, state, occupancy, usualOccupancy = null } = departure;
  return {
    stopId,
    name,
    platform,
    position,
    ids,
    arrival: null,
    departure: { plannedAt, realtimeAt: state.kind === 'live' ? leavesAt(departure) : null },
    occupancy,
    usualOccupancy,
    isCancelled: isCancelled(departure),
    ...(carriages !== undefined && { carriages }),
  };
}

/**
 * Fetches pages until the limit is filled in order, the list ends, or the page limit is reached. Each page begins at the last
 * planned time of the page before it. Cancelled departures keep their place, but count towards the limit only if they are shown.
 * If a later page fails, the board ends with the page before it; if the board would then be empty, the error is thrown.
 */
async function listForwards(request: BoardRequest, reader: PageReader): Promise<Selection> {
  const { request: firstRequest, limit, page } = request;
  const matching = new Map<string, Departure>();
  let last = await reader.fetchPage(firstRequest);
  for (;;) {
    for (const departure of last.departures) {
      if (reader.isWanted(departure)) matching.set(departure.key, departure);
    }
    const countedDepartures = [...matching.values()].filter((departure) => isCounted(request, departure));
    const { lastPlannedAt, isEnd } = last;
    // The order is unknown after the last planned time. The departure monitor also lists departures of the past minute.
    const isInOrder = (departure: Departure) =>
      (page ? departure.plannedAt : leavesAt(departure)) <= (lastPlannedAt ?? Number.NEGATIVE_INFINITY);
    const isFilled = nextOfEachRoute(countedDepartures.filter(isInOrder), request).length >= limit;
    if (isFilled || isEnd || lastPlannedAt === null || reader.pages.length === MAX_PAGES) break;
    const at = page ? wallClockFrom(lastPlannedAt, page.now) : toSydneyWallClock(lastPlannedAt);
    // Later pages of a board for now must be as fresh as the first.
    const isForNow = firstRequest.at === null;
    const next = await reader.fetchMore({ ...firstRequest, at, isForNow }, countedDepartures.length > 0);
    if (!next || (next.lastPlannedAt ?? 0) <= lastPlannedAt) break;
    last = next;
  }
  return { ...selectFirst(request, [...matching.values()]), knownUntil: knownUntil(last) };
}

/**
 * Returns the time before which every planned departure is on this page or an earlier one. Without a finite `until`, departures
 * at the last planned time may be missing, unless the list ends there.
 */
function knownUntil({ until, isEnd, lastPlannedAt }: DeparturePage): number {
  if (lastPlannedAt === null) return Number.isFinite(until) ? until : Number.NEGATIVE_INFINITY;
  if (isEnd) return Number.isFinite(until) ? Math.max(until, lastPlannedAt + 1) : lastPlannedAt + 1;
  return Number.isFinite(until) ? until : lastPlannedAt;
}

/** Length of the first step back. */
const FIRST_STEP_MS = 20 * MINUTE_MS;
const MAX_STEP_MS = 6 * HOUR_MS;
/** Pages that look back begin at multiples of this, so that several requests can use the same page. */
const GRID_MS = 10 * MINUTE_MS;
/** The number of departures that a step back should have, so that it fits on one page. */
const EVENTS_PER_STEP = EVENTS_PER_PAGE - 6;

/**
 * Fetches the last departures planned before a time. The departure monitor only lists forwards, so this goes back in steps that
 * are each likely to fill a page. A step that cannot be read completely is dropped.
 */
async function listBackwards(request: BoardRequest, reader: PageReader): Promise<Selection> {
  const { request: firstRequest, limit, page } = request;
  const now = page?.now ?? Date.now();
  const matching: Departure[] = [];
  let end = page?.before ?? now;
  let stepMs = FIRST_STEP_MS;

  async function fetchStep(start: number): Promise<Departure[] | null> {
    const departures: Departure[] = [];
    for (let from = start; from < end; ) {
      if (reader.pages.length === MAX_PAGES) return null;
      const at = wallClockFrom(from, now);
      const next = await reader.fetchMore({ ...firstRequest, at }, matching.length > 0);
      if (!next || knownUntil(next) <= from) return null;
      departures.push(...next.departures);
      from = knownUntil(next);
    }
    return inOrderOf(request, departures).filter(({ plannedAt }) => plannedAt >= start && plannedAt < end);
  }

  while (
    reader.pages.length < MAX_PAGES &&
    matching.filter((departure) => isCounted(request, departure)).length < limit
  ) {
    const start = Math.floor((end - stepMs) / GRID_MS) * GRID_MS;
    const step = await fetchStep(start);
    if (!step) break;
    matching.push(...step.filter((departure) => reader.isWanted(departure)));
    const ratio = step.length === 0 ? 8 : EVENTS_PER_STEP / step.length;
    stepMs = Math.min(MAX_STEP_MS, (end - start) * ratio);
    end = start;
  }
  return { ...selectFirst(request, matching), knownUntil: end };
}
