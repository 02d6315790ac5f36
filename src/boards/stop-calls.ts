import { zstdCompressSync } from 'node:zlib';
import { z } from 'zod';
import { HOUR_MS, MINUTE_MS, SECOND_MS, withTimeLimit } from '../clock.ts';
import type { Ask, UpstreamResponse } from '../efa/ask.ts';
import { mapRunCalls, type RunCall, type RunCalls } from '../efa/calls.ts';
import { type DeparturesRequest, mapPage } from '../efa/departure-page.ts';
import type { DepartureMonitorPayload } from '../efa/payload.ts';
import { requestKey } from '../efa/request.ts';
import { ApiError } from '../errors/api-error.ts';
import { createBoundedMap, hashOf, ownBytes } from '../own-memory.ts';
import { findGap, type LiveFeeds, listLivingFeeds } from '../realtime/live-feeds.ts';
import { findCarriages, overlayCalls } from '../realtime/overlay.ts';
import { findFeedSource } from '../realtime/polling/feed-source.ts';
import type { Call } from '../transit/call.ts';
import { type Carriages, type Departure, isCancelled, leavesAt, occupancySchema } from '../transit/departure.ts';
import type { Freshness } from '../transit/freshness.ts';
import { positionSchema } from '../transit/place.ts';
import type { RunStart } from '../transit/run-id.ts';
import { fromSydneyWallClock, toSydneyWallClock } from '../transit/time.ts';
import { departureSchema, type TimelineStore, unpackRecord } from './stop-timelines.ts';
import { runKey } from './timeline.ts';

const timeSchema = z.object({ plannedAt: z.number(), realtimeAt: z.number().nullable() }).nullable();
const callSchema = z.object({
  stopId: z.string(),
  name: z.string(),
  platform: z.string().nullable(),
  position: positionSchema.nullable(),
  arrival: timeSchema,
  departure: timeSchema,
  occupancy: occupancySchema.nullable(),
  isCancelled: z.boolean(),
  ids: z.array(z.string()),
  nextRunId: z.string().exactOptional(),
});
const runSchema = z.object({
  /** Absent where the authority did not list the departure that was looked for. */
  run: z
    .object({
      stopName: z.string(),
      departure: departureSchema,
      position: positionSchema.nullable(),
      ids: z.array(z.string()),
      before: z.array(callSchema),
      after: z.array(callSchema).nullable(),
    })
    .exactOptional(),
  saidAt: z.number(),
});
const recordSchema = z.array(z.tuple([z.string(), runSchema]));

interface KnownRun {
  run?: RunCalls & { stopName: string; departure: Departure };
  saidAt: number;
}

type CallTimes = Pick<RunCall, 'arrival' | 'departure'>;

/** Packed, the runs of a stop take 10 to 30 kB. */
const MAX_STOPS = 500;
const MAX_RUNS = 200;
const MAX_FOLLOWED = 500;
const MAX_PACKED_BYTES = 100_000;
const MAX_RECORD_BYTES = 4 * 1024 * 1024;
/** The number grows with each form of a record. */
const FORM = 1;
/** Equals the time for which a timetable is used without being asked for again. */
const KEPT_MS = 2 * HOUR_MS;
/** A run whose calls the authority does not list is asked about again after so long. */
const UNLISTED_MS = 10 * MINUTE_MS;
/** With estimates this old, the next page of a board is requested with calls. */
const ESTIMATES_OLD_MS = 30 * SECOND_MS;
/** On a board estimates of the authority count as live for as long as a board beside feeds is fresh. */
const KEPT_ON_BOARDS_MS = 45 * SECOND_MS;
const SOON_MS = 2 * MINUTE_MS;
const STALE_MS = 3 * MINUTE_MS;
/** A board is shown without calls rather than late. */
const PATIENCE_MS = 3 * SECOND_MS;

/**
 * Remembers where the vehicles of stops stop afterwards, as far as requests with calls said it. Such responses are too large for the cache
 * of responses: what they say of each run is kept here, in the process and, when there is a store, for all instances.
 */
export class StopCalls {
  readonly #now: () => number;
  readonly #feeds: Pick<LiveFeeds, 'states' | 'note' | 'freshUntil'> | null;
  readonly #store: TimelineStore | null;
  readonly #packed = createBoundedMap<Buffer>('calls of stops', MAX_STOPS);
  /** The times that feeds told last of the calls of runs: a feed drops calls that are passed. Other instances do not know them. */
  readonly #told = createBoundedMap<{ at: number; times: CallTimes[] }>('times of followed runs', MAX_FOLLOWED);

  constructor(parts: {
    now: () => number;
    feeds?: Pick<LiveFeeds, 'states' | 'note' | 'freshUntil'>;
    store?: TimelineStore | null;
  }) {
    this.#now = parts.now;
    this.#feeds = parts.feeds ?? null;
    this.#store = parts.store ?? null;
  }

  /** Opens what is known of the runs of one stop, for one request. */
  async open(request: DeparturesRequest) {
    const stopId = request.stopId.toUpperCase();
    const packed = this.#packed.get(stopId) ?? (await this.#store?.get(keyOf(stopId)));
    return new OpenedCalls(request, unpack(packed), {
      now: this.#now,
      listLiving: () => this.#listLiving(),
      keep: (runs) => this.#keep(stopId, runs),
    });
  }

  #listLiving() {
    return listLivingFeeds(this.#feeds?.states() ?? new Map(), this.#now());
  }

  /**
   * Finds a run by one of its departures, with all of its calls and when they may change. Null when the authority does not list it.
   * Throws the error of the request where nothing is known of the run.
   */
  async findRun(ask: Ask, { stopId, runId, mode, plannedAt }: RunStart) {
    const at = toSydneyWallClock(new Date(plannedAt));
    const opened = await this.open({ kind: 'departureMonitor', stopId, modes: [mode], at });
    const isIt = ({ departure }: NonNullable<KnownRun['run']>) =>
      departure.runId === runId && Math.abs(departure.plannedAt - plannedAt) < MINUTE_MS;
    let found = this.#viewRun(opened.findRun(isIt));
    const source = found && findFeedSource(found.departure);
    if (source) this.#feeds?.note(`run ${stopId} ${mode}`, [source]);
    const isOld = !found || (!found.isByFeed && found.saidAt <= this.#now() - ESTIMATES_OLD_MS);
    const isRead = isOld && (await opened.readAt(ask, at));
    if (isRead) found = this.#viewRun(opened.findRun(isIt));
    if (!found && opened.error && opened.error.statusCode >= 500) throw opened.error;
    if (!found) return null;
    const changesAt = found.isByFeed ? source && this.#feeds?.freshUntil([source]) : found.saidAt + ESTIMATES_OLD_MS;
    const freshUntil = Math.max(this.#now() + SECOND_MS, changesAt ?? 0);
    const freshness: Freshness = {
      retrievedAt: found.asOf ?? found.saidAt,
      freshUntil,
      staleUntil: freshUntil + STALE_MS,
      source: isRead ? 'upstream' : 'cache',
      shortage: opened.error ? (opened.error.isForWantOfCalls ? 'busy' : 'failing') : null,
    };
    return { ...found, freshness };
  }

  /** Returns the run with all of its calls. */
  #viewRun(known: KnownRun | undefined) {
    if (!known?.run) return null;
    const { saidAt, run } = known;
    const { departure, stopName, before, after } = run;
    const listed = [...before, callHere(departure, run, stopName), ...(after ?? [])];
    const now = this.#now();
    const key = hashOf(runKey(departure));
    const told = this.#told.get(key);
    const calls = told ? withTold(listed, told.times, { isNewer: told.at >= saidAt, now }) : listed;
    const overlaid = overlayCalls(departure, calls, { saidAt, keptMs: STALE_MS, feeds: this.#listLiving(), now });
    const times = overlaid.calls.map(({ arrival, departure }) => ({ arrival, departure }));
    if (overlaid.isByFeed) this.#told.set(key, { at: now, times });
    return { ...overlaid, departure, saidAt, areListed: after !== null };
  }

  /**
   * Finds the times of a ride in the feeds, without a request; `listed` are its calls, or its two ends. Null unless a living feed tells
   * when the vehicle reaches the destination, and still calls where it was planned to; of a cancelled ride it is told that it is
   * cancelled. With `since`, when the authority said what is listed, only later feeds count, and none is polled because of the ride.
   */
  viewRide(
    ride: Pick<Departure, 'runId' | 'mode' | 'network' | 'route' | 'stopId' | 'plannedAt'>,
    listed: readonly RunCall[],
    since?: number,
  ) {
    const source = ride.runId === null ? null : findFeedSource(ride);
    if (!source || !this.#feeds) return null;
    if (since === undefined) this.#feeds.note(`run ${ride.stopId} ${ride.mode}`, [source]);
    const now = this.#now();
    if (findGap([source], this.#feeds.states(), now)) return null;
    const feeds = this.#listLiving().filter(({ feed }) => feed.headerAt > (since ?? 0));
    const { calls, asOf, isByFeed } = overlayCalls(ride, listed, { saidAt: since ?? now, keptMs: 0, feeds, now });
    const [origin, destination] = [calls[0], calls.at(-1)] as [RunCall, RunCall];
    const leavesAt = origin.departure?.realtimeAt ?? null;
    const arrivesAt = destination.arrival?.realtimeAt ?? null;
    const isOff = origin.isCancelled || destination.isCancelled;
    const isAsPlanned = origin.stopId === listed[0]?.stopId && destination.stopId === listed.at(-1)?.stopId;
    const isTimed = arrivesAt !== null && (leavesAt !== null || ride.plannedAt <= now);
    if (!isByFeed || (!isOff && !(isAsPlanned && isTimed))) return null;
    const freshUntil = this.#feeds.freshUntil([source]);
    const moments = { retrievedAt: asOf ?? now, freshUntil, staleUntil: freshUntil + STALE_MS };
    const freshness: Freshness = { ...moments, source: 'cache', shortage: null };
    return { leavesAt, arrivesAt, isOff, occupancy: origin.occupancy, calls, freshness };
  }

  /**
   * Finds how full the carriages of a run are predicted to be when they leave one of its stops, and each of its calls, if given. It
   * looks in the feeds that are polled for boards; null where they do not say. `asOf` is the oldest moment of which they speak.
   */
  viewCarriages<Listed extends Call>(
    run: Pick<Departure, 'runId' | 'mode' | 'stopId' | 'plannedAt'>,
    calls: readonly Listed[] | null,
  ): { carriages: Carriages; calls: Listed[] | null; asOf: number } {
    const states = this.#feeds?.states() ?? new Map();
    const recent = this.#listLiving().filter(({ source }) => findGap([source], states, this.#now()) === null);
    const here = { stopId: run.stopId, arrival: null, departure: { plannedAt: run.plannedAt, realtimeAt: null } };
    const found = findCarriages(run, calls ?? [here], recent);
    return {
      carriages: found[0]?.carriages ?? null,
      calls: calls?.map((call, index) => ({ ...call, carriages: found[index]?.carriages ?? null })) ?? null,
      asOf: Math.min(...found.flatMap((one) => (one?.carriages ? one.asOf : []))),
    };
  }

  #keep(stopId: string, runs: ReadonlyMap<string, KnownRun>): void {
    const all = new Map([...unpack(this.#packed.get(stopId) ?? null), ...runs]);
    const used = [...all].filter(([, known]) => isUsable(known, this.#now()));
    const newest = used.sort(([, one], [, other]) => other.saidAt - one.saidAt);
    const pack = (count: number) => zstdCompressSync(JSON.stringify(newest.slice(0, count)));
    let bytes = pack(MAX_RUNS);
    for (let count = MAX_RUNS / 2; bytes.length > MAX_PACKED_BYTES; count = Math.floor(count / 2)) bytes = pack(count);
    this.#packed.set(stopId, ownBytes(bytes));
    this.#store?.set(keyOf(stopId), bytes, KEPT_MS);
  }
}

/** The runs of a stop that one request knows. They grow with each page that is requested with calls. */
class OpenedCalls {
  readonly #request: DeparturesRequest;
  readonly #runs: Map<string, KnownRun>;
  readonly #parts;
  /** Says why the last request with calls failed. */
  error: ApiError | null = null;

  constructor(
    request: DeparturesRequest,
    runs: Map<string, KnownRun>,
    parts: {
      now: () => number;
      listLiving: () => ReturnType<typeof listLivingFeeds>;
      keep: (runs: ReadonlyMap<string, KnownRun>) => void;
    },
  ) {
    this.#request = request;
    this.#runs = runs;
    this.#parts = parts;
  }

  /**
   * Returns the function with which a board of the stop requests its pages: with calls where those at hand are old or do not
   * reach there. A request that fails, or whose response cannot be read, is repeated without. Each page is requested once.
   */
  asking(ask: Ask): Ask {
    const pages = new Map<string, UpstreamResponse<DepartureMonitorPayload>>();
    const readOnce = async (request: DeparturesRequest, options: Parameters<Ask>[1]) => {
      const key = requestKey(request);
      const known = pages.get(key);
      if (known) return known;
      const isPlain = this.#reaches(request);
      const withCalls = isPlain ? null : await this.#ask(ask, request, options).catch((error) => this.#note(error));
      const response = withCalls ?? (await ask(request, options));
      pages.set(key, response);
      return response;
    };
    return ((request, options) =>
      request.kind === 'departureMonitor' ? readOnce(request, options) : ask(request, options)) as Ask;
  }

  /** Says whether the calls at hand are those of the page, and their estimates not old. */
  #reaches({ at }: DeparturesRequest): boolean {
    const from = at && (fromSydneyWallClock(at)?.getTime() ?? Number.POSITIVE_INFINITY);
    const now = this.#parts.now();
    return [...this.#runs.values()].some(({ run, saidAt }) =>
      from === null
        ? saidAt > now - ESTIMATES_OLD_MS
        : saidAt > now - KEPT_MS && run && run.departure.plannedAt > from + SOON_MS,
    );
  }

  /** Lists the departures of which it is not known where they stop. */
  listMissing(departures: readonly Departure[]): Departure[] {
    return departures.filter((departure) => {
      const known = this.#runs.get(runKey(departure));
      return !known || !isUsable(known, this.#parts.now());
    });
  }

  /** Requests a page with the calls of the first of the missing departures. False when that fails. */
  async read(ask: Ask, missing: readonly Departure[], { isPatient }: { isPatient: boolean }): Promise<boolean> {
    const first = Math.min(...missing.map(({ plannedAt }) => plannedAt));
    const isPresent = this.#request.at === null && first <= this.#parts.now() + SOON_MS;
    const request = { ...this.#request, at: isPresent ? null : toSydneyWallClock(new Date(first)) };
    const read = (signal?: AbortSignal) =>
      this.#ask(ask, request, { purpose: 'readOn', ...(signal && { signal }) }, missing).catch((error) =>
        this.#note(error),
      );
    return (await (isPatient ? read() : withTimeLimit(PATIENCE_MS, read))) !== null;
  }

  /** Requests the page of this time with the calls of its runs. False when that fails. */
  async readAt(ask: Ask, at: DeparturesRequest['at']): Promise<boolean> {
    const request = { ...this.#request, at };
    return (await this.#ask(ask, request, { purpose: 'readOn' }).catch((error) => this.#note(error))) !== null;
  }

  findRun(isIt: (run: NonNullable<KnownRun['run']>) => boolean): KnownRun | undefined {
    return [...this.#runs.values()].findLast(({ run }) => run && isIt(run));
  }

  /**
   * Returns the calls from the stop of the departure to the end of its run, and the oldest moment of what they say as live.
   * Null where the authority does not list them.
   */
  callsOf(departure: Departure, stopName: string): { calls: RunCall[]; asOf: number | null } | null {
    const { run, saidAt = 0 } = this.#runs.get(runKey(departure)) ?? {};
    if (!run?.after) return null;
    const here = callHere(departure, run, stopName);
    const moment = { saidAt, keptMs: KEPT_ON_BOARDS_MS, feeds: this.#parts.listLiving(), now: this.#parts.now() };
    const { calls, asOf } = overlayCalls(departure, [here, ...run.after], moment);
    return { calls: [here, ...calls.slice(1)], asOf };
  }

  /** Throws what is no error of upstream. */
  #note(error: unknown): null {
    if (!(error instanceof ApiError)) throw error;
    this.error = error;
    return null;
  }

  /** Keeps what the response says of each run; what is looked for and not listed counts as not known. */
  async #ask(
    ask: Ask,
    request: DeparturesRequest,
    options: Parameters<Ask>[1],
    lookedFor: readonly Departure[] = [],
  ): Promise<UpstreamResponse<DepartureMonitorPayload> | null> {
    const response = await ask({ ...request, withCalls: true }, options);
    if (response.payload.stopEvents.length === 0 && lookedFor.length === 0) return response;
    const news = new Map<string, KnownRun>();
    const saidAt = response.retrievedAt.getTime();
    const found: [Departure, ReturnType<typeof mapRunCalls>][] = [];
    const page = await mapPage(request, response, (departure, record) => {
      found.push([departure, mapRunCalls(record, departure)]);
    });
    for (const departure of lookedFor) {
      const isFirst = lookedFor.every(({ plannedAt }) => plannedAt >= departure.plannedAt);
      if (isFirst || departure.plannedAt < page.until) news.set(runKey(departure), { saidAt });
    }
    for (const [departure, calls] of found) {
      news.set(runKey(departure), { run: { stopName: page.stopName, departure, ...calls }, saidAt });
    }
    for (const [key, run] of news) this.#runs.set(key, run);
    this.#parts.keep(news);
    return page.departures.length > 0 || lookedFor.length > 0 ? response : null;
  }
}

/** The call of the departure itself. Boards do not say when the vehicle arrives there. */
function callHere(departure: Departure, { position, ids }: RunCalls, stopName: string): RunCall {
  const { stopId, platform, plannedAt, state, occupancy } = departure;
  const realtimeAt = state.kind === 'live' ? leavesAt(departure) : null;
  return {
    stopId,
    name: stopName,
    platform,
    position,
    ids,
    arrival: null,
    departure: { plannedAt, realtimeAt },
    occupancy,
    isCancelled: isCancelled(departure),
  };
}

/**
 * Feeds replace what the authority said before them. When it has spoken since, they only add the arrival that it does not tell.
 */
function withTold(
  calls: readonly RunCall[],
  times: readonly CallTimes[],
  { isNewer, now }: { isNewer: boolean; now: number },
): RunCall[] {
  return calls.map((call, index) => {
    const { arrival = null, departure = null } = times[index] ?? {};
    if (!isNewer) {
      if (call.arrival || !arrival || departure?.plannedAt !== call.departure?.plannedAt) return call;
      const { plannedAt, realtimeAt } = arrival;
      return {
        ...call,
        arrival: { plannedAt, realtimeAt: realtimeAt !== null && realtimeAt < now ? realtimeAt : null },
      };
    }
    return {
      ...call,
      arrival: arrival?.realtimeAt ? arrival : call.arrival,
      departure: departure?.realtimeAt ? departure : call.departure,
    };
  });
}

function isUsable({ run, saidAt }: KnownRun, now: number): boolean {
  return saidAt > now - (run?.after ? KEPT_MS : UNLISTED_MS);
}

function keyOf(stopId: string): string {
  return `calls:${FORM}:${stopId}`;
}

function unpack(bytes: Buffer | null | undefined): Map<string, KnownRun> {
  return new Map(bytes && unpackRecord(bytes, recordSchema, MAX_RECORD_BYTES)?.value);
}
