import { Runs } from '../../boards/runs.ts';
import { monitorBoards } from '../../boards/source.ts';
import { CAR_PARK_PATH, facilityPath } from '../../carparks/client.ts';
import { parseFacilityList, parseReport } from '../../carparks/facility.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { createIdSigner } from '../../core/signer.ts';
import { parsePayload } from '../../efa/client.ts';
import {
  type DeparturePage,
  type DeparturesRequest,
  EVENTS_PER_PAGE,
  fetchDeparturePage,
} from '../../efa/departure-page.ts';
import { unexpectedStatus } from '../../efa/failure.ts';
import type { QueryOptions, QueryUpstream, UpstreamResponse } from '../../efa/query-upstream.ts';
import { toRequest, type UpstreamRequest } from '../../efa/request.ts';
import { parseObject } from '../../efa/response/field.ts';
import { parseStopPoint } from '../../efa/stop-point.ts';
import { UpstreamClock } from '../../efa/upstream-http.ts';
import { ApiError } from '../../errors/api-error.ts';
import { upstreamFailed } from '../../errors/messages.ts';
import { noLines } from '../../operations/sources.ts';
import { stopSearchQuery, toStopSearchRequest } from '../../operations/stop-search/query.ts';
import { createTripsOperation } from '../../operations/trips/operation.ts';
import { parseFeedRuns } from '../../realtime/feed-runs.ts';
import { FEED_SOURCES, type FeedSourceId, findFeedSource } from '../../realtime/polling/feed-source.ts';
import { mapNearbyStops } from '../../stops/around.ts';
import { rankMatches } from '../../stops/matches.ts';
import { MODES } from '../../transit/mode.ts';
import { toSydneyWallClock } from '../../transit/time.ts';
import { ASSUMPTION_IDS, ASSUMPTIONS, type AssumptionId } from './assumptions.ts';

/** One request of the check. */
interface Step {
  id: string;
  /** Appended to the base address of the trip planner or of the feeds. */
  path: string;
  base: 'trip planner' | 'feeds';
  key: 'first' | 'made up';
}

/** Any response, whatever its status. */
export interface Received {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** The time from sending to the end of the body. */
  tookMs: number;
  sentAt: number;
}

/** Waits for its turn and sends one step. Throws when there is no response. */
export type Transport = (step: Step) => Promise<Received>;

type Verdict = 'HOLDS' | 'DIFFERS' | 'UNKNOWN';
/**
 * By weight: the verdict on an assumption is the first of these that was observed. So a missing response leaves an assumption
 * unsettled, unless another response differs.
 */
const BY_WEIGHT = ['DIFFERS', 'LOST', 'HOLDS', 'UNKNOWN'] as const;
/** The check ends after this many consecutive calls without a response. */
const LOST_IN_A_ROW = 3;

/** The verdict on one assumption, from all requests that tested it. */
export interface Result {
  id: AssumptionId;
  verdict: Verdict;
  /** One sentence per informative request. */
  saw: string[];
}

export interface CheckOptions {
  transport: Transport;
  now: () => number;
  timeoutMs: number;
}

/** The first key was refused: nothing else can be checked. */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused';
}

const TOWN_HALL = '200070';
const TOWN_HALL_BOARD = { kind: 'departureMonitor', stopId: TOWN_HALL, modes: MODES, at: null } as const;
const CENTRAL = { lat: -33.8826, lng: 151.2065 };
const CANBERRA = { lat: -35.278, lng: 149.13 };
const UNKNOWN_STOP = '99999999';
const GROUP = 'G201023';
const PLATFORM = '2000337';
const FEEDS = ['sydneytrains', 'buses', 'metro', 'cbdandsoutheast', 'sydneyferries'] as const satisfies FeedSourceId[];
const POSITIONS = '/v2/gtfs/vehiclepos/sydneytrains';
/** A feed is expected to know at least this share of the runs that boards have estimates for. */
const KNOWN_SHARE = 0.5;
const MIN_RUNS = 5;
/** An empty register, because the check must rely on upstream alone. */
const NO_REGISTER = { get: () => null };
const CAR_PARKS_CHECKED = 2;
/** Readings come every few minutes, but not at night. An error of the time zone is ten hours. */
const MAX_READING_MINUTES = 120;
const MAX_RESPONSE_BYTES = 6_000_000;
/** Placeholder for a missing response. */
const NO_RESPONSE: Received = { status: 0, headers: {}, body: Buffer.alloc(0), tookMs: 0, sentAt: 0 };
/** These headers are about servers, gateways and connections, and say nothing about a key. */
const ORDINARY_HEADERS =
  /^(date|server|content-|connection|keep-alive|transfer-encoding|vary|cache-control|expires|pragma|access-control-|strict-transport|x-content-type|x-frame|x-xss|via|set-cookie|etag|last-modified|x-request|x-transaction|x-sandbox)/;

/** The parts of the check, with the number of calls of each. */
const PARTS: readonly { calls: number; run(check: Check): Promise<void> }[] = [
  { calls: 2, run: checkKey },
  { calls: 3, run: checkPages },
  { calls: 2, run: checkTimes },
  { calls: 4, run: checkStops },
  { calls: 3, run: checkFurther },
  { calls: 4, run: checkCoord },
  { calls: 5, run: checkSearch },
  { calls: 6, run: checkTrips },
  { calls: FEEDS.length + 1, run: checkFeeds },
  { calls: 1 + CAR_PARKS_CHECKED, run: checkCarParks },
];

/** Maximum number of calls of a check. */
export const MAX_CALLS = PARTS.reduce((sum, { calls }) => sum + calls, 0);

/** Runs all parts of the check. Throws `KeyRefused`, or the network's error if the very first call fails. */
export async function runCheck(options: CheckOptions): Promise<{ results: Result[]; calls: number; notes: string[] }> {
  const check = new Check(options);
  for (const part of PARTS) {
    await part.run(check);
    if (check.lostInARow < LOST_IN_A_ROW) continue;
    check.notes.push(`the check ended early: ${LOST_IN_A_ROW} calls in a row had no response`);
    break;
  }
  return { results: ASSUMPTION_IDS.map((id) => check.result(id)), calls: check.calls, notes: check.notes };
}

/** The state of one check: the observations so far, and the boards that later parts compare with. */
class Check {
  readonly options: CheckOptions;
  readonly notes: string[] = [];
  readonly clock: UpstreamClock;
  readonly pages: DeparturePage[] = [];
  calls = 0;
  /** Consecutive calls without a response. */
  lostInARow = 0;
  readonly #seen = new Map<AssumptionId, { verdict: (typeof BY_WEIGHT)[number]; saw: string }[]>();
  /** Why the latest call had no response; null if it had one. The next observation is then recorded as `LOST`. */
  #lost: string | null = null;

  constructor(options: CheckOptions) {
    this.options = options;
    const warn = (_fields: object, message: string) => void this.notes.push(message);
    this.clock = new UpstreamClock({ warn, info: () => {} });
  }

  /** Records an observation. `verdict` is true if the assumption holds, false if upstream differs. */
  record(id: AssumptionId, verdict: Verdict | boolean, saw: string): void {
    const verdictName = typeof verdict === 'string' ? verdict : verdict ? 'HOLDS' : 'DIFFERS';
    const entry = this.#lost === null ? { verdict: verdictName, saw } : { verdict: 'LOST' as const, saw: this.#lost };
    this.#seen.set(id, [...(this.#seen.get(id) ?? []), entry]);
  }

  result(id: AssumptionId): Result {
    const observations = this.#seen.get(id) ?? [];
    const verdict =
      BY_WEIGHT.find((candidate) => observations.some((entry) => entry.verdict === candidate)) ?? 'UNKNOWN';
    return { id, verdict: verdict === 'LOST' ? 'UNKNOWN' : verdict, saw: observations.map(({ saw }) => saw) };
  }

  async send(step: Omit<Step, 'base' | 'key'> & Partial<Step>): Promise<Received> {
    this.calls++;
    this.#lost = null;
    const received = await this.#receive({ base: 'trip planner', key: 'first', ...step });
    if (!received) return NO_RESPONSE;
    const { sentAt, tookMs, body, headers } = received;
    this.clock.recordResponse(headers.date, { sentAt, receivedAt: sentAt + tookMs });
    const isLarge = body.length > MAX_RESPONSE_BYTES;
    const isSlow = tookMs > this.options.timeoutMs;
    if (isLarge) this.record('sizes-and-times', false, `${step.id} has ${body.length} bytes`);
    if (isSlow) this.record('sizes-and-times', false, `${step.id} took ${Math.round(tookMs)} ms`);
    if (!isLarge && !isSlow && received.status === 200) this.record('sizes-and-times', true, '');
    return received;
  }

  /** Returns null when there is no response. Throws if that happens on the first call. */
  async #receive(step: Step): Promise<Received | null> {
    try {
      const received = await this.options.transport(step);
      this.lostInARow = 0;
      return received;
    } catch (error) {
      if (this.calls === 1) throw error;
      this.lostInARow++;
      this.#lost = `${step.id} has no response: ${(error as Error).message}`;
      return null;
    }
  }

  /**
   * Makes the service's own request and reads the response as the service does. Further lookups by the service are refused, as
   * when calls are scarce, because they would exceed the number of calls that the check states in advance.
   */
  queryFor(id: string): QueryUpstream {
    const queryUpstream = async (
      request: UpstreamRequest,
      { priority }: QueryOptions = {},
    ): Promise<UpstreamResponse<unknown>> => {
      if (priority === 'background') throw upstreamFailed(new Error('not a call of the check'));
      return responseOf(await this.send({ id, path: pathOf(request) }), request);
    };
    return queryUpstream as QueryUpstream;
  }

  /** The page, or the error that a caller would get. */
  async page(id: string, request: Partial<DeparturesRequest> = {}, queryUpstream = this.queryFor(id)) {
    const page = await orApiError(fetchDeparturePage(queryUpstream, { ...TOWN_HALL_BOARD, ...request }));
    if (!(page instanceof ApiError)) this.pages.push(page);
    return page;
  }

  context(id: string) {
    const { now } = this.options;
    const runs = new Runs({ now });
    const run = () => Promise.reject(new Error('no operation'));
    // The IDs are never sent to anyone.
    const ids = createIdSigner(['']);
    return { queryUpstream: this.queryFor(id), boards: monitorBoards, runs, lines: noLines, now, ids, run };
  }
}

/** `overrides` adds to the service's parameters, or replaces some of them. */
function pathOf(request: UpstreamRequest, overrides: Record<string, string> = {}): string {
  const { endpoint, query } = toRequest(request);
  return `/${endpoint}?${new URLSearchParams({ ...query, ...overrides })}`;
}

async function responseOf(received: Received, request: UpstreamRequest): Promise<UpstreamResponse<unknown>> {
  const { status, headers, body, sentAt, tookMs } = received;
  if (status !== 200) {
    throw unexpectedStatus(status, headers, body.toString(), { now: sentAt, apiKey: '' });
  }
  return { payload: await parsePayload(body, request, ''), retrievedAt: sentAt + tookMs };
}

async function orApiError<Value>(work: Promise<Value>): Promise<Value | ApiError> {
  return work.catch((error) => {
    if (error instanceof ApiError) return error;
    throw error;
  });
}

function causeOf({ cause, message }: ApiError): string {
  return cause instanceof Error ? cause.message : message;
}

/** Describes the value, or the error in its place. */
function describe<Value>(result: Value | ApiError, describeValue: (result: Value) => string): string {
  return result instanceof ApiError ? causeOf(result) : describeValue(result);
}

async function checkKey(check: Check): Promise<void> {
  const path = pathOf(TOWN_HALL_BOARD);
  const good = await check.send({ id: 'key-good', path });
  if (good.status === 401 || good.status === 403)
    throw new KeyRefused(`status ${good.status} ${good.headers['x-error-detail'] ?? ''}`.trim());
  const first = await check.page('key-good', {}, ((request) => responseOf(good, request)) as QueryUpstream);
  if (first instanceof ApiError) check.notes.push(`the board of Town Hall cannot be read: ${causeOf(first)}`);

  const otherHeaders = Object.entries(good.headers).filter(([name]) => !ORDINARY_HEADERS.test(name));
  check.notes.push(
    `first response: status ${good.status}, ${good.body.length} bytes, ${Math.round(good.tookMs)} ms`,
    `unusual headers: ${otherHeaders.map(([name, value]) => `${name}: ${value}`).join('; ') || 'none'}`,
  );
  const quota = otherHeaders.find(
    ([name]) => /(quota|rate-?limit)/.test(name) && !/(remaining|left|reset|used|second)/.test(name),
  );
  const calls = quota && /\b\d{4,9}\b/.exec(quota[1])?.[0];
  if (calls) check.record('daily-quota', calls === '60000', `${quota[0]}: ${quota[1]}`);

  const bad = await check.send({ id: 'key-made-up', path, key: 'made up' });
  check.record('only-401-refuses-a-key', bad.status === 401, `a made-up key gets ${bad.status}`);
}

async function checkPages(check: Check): Promise<void> {
  await checkNextPage(check, 'board-next', check.pages[0]);
  const buses = await check.page('board-buses', { modes: ['bus'] });
  if (buses instanceof ApiError) return check.record('filters-hold', 'UNKNOWN', `a board of buses: ${causeOf(buses)}`);
  await checkNextPage(check, 'board-buses-next', buses);
  const otherModes = buses.departures.filter(({ mode }) => mode !== 'bus').length;
  const verdict = otherModes > 0 ? 'DIFFERS' : buses.departures.length > 0 ? 'HOLDS' : 'UNKNOWN';
  check.record(
    'filters-hold',
    verdict,
    `a board of buses has ${otherModes} other departures of ${buses.departures.length}`,
  );
}

async function checkNextPage(check: Check, id: string, page: DeparturePage | undefined): Promise<void> {
  if (!page || page.lastPlannedAt === null) return;
  const { modes, departures, leftOut, lastPlannedAt } = page;
  const next = await check.page(id, { modes, at: toSydneyWallClock(lastPlannedAt) });
  if (next instanceof ApiError) return check.record('full-page-is-40', 'UNKNOWN', `${id}: ${causeOf(next)}`);
  const hasMore = (next.lastPlannedAt ?? 0) > lastPlannedAt;
  const events = Object.values(leftOut).reduce((sum: number, records) => sum + (records ?? 0), departures.length);
  // The service accepts a short page whose last departure is more than an hour ahead.
  const isUnclear = events < EVENTS_PER_PAGE && !hasMore;
  const saw = `${events} events, and ${hasMore ? 'more follow' : 'nothing follows'}`;
  check.record('full-page-is-40', isUnclear ? 'UNKNOWN' : events === EVENTS_PER_PAGE, saw);
}

async function checkTimes(check: Check): Promise<void> {
  for (const minutes of [10, 60]) {
    const requestedAt = Math.floor((check.options.now() + minutes * MINUTE_MS) / MINUTE_MS) * MINUTE_MS;
    const page = await check.page(`board-in-${minutes}`, { at: toSydneyWallClock(requestedAt) });
    const departures = page instanceof ApiError ? [] : page.departures;
    if (departures.length === 0) {
      check.record('requested-times-are-sydney', 'UNKNOWN', `in ${minutes} minutes: nothing leaves`);
      continue;
    }
    const times = departures.map(({ plannedAt }) => plannedAt);
    const offMinutes = Math.round((Math.min(...times) - requestedAt) / MINUTE_MS);
    // A vehicle that is late is listed although it was planned earlier.
    const isRight = offMinutes > -60 && offMinutes < 180;
    const first = `the first departure is ${offMinutes} minutes after the requested time`;
    check.record('requested-times-are-sydney', isRight, first);
    const isByPlan = isSorted(times);
    const isByEstimate = isSorted(
      departures.map(({ plannedAt, state }) => (state.kind === 'live' ? state.leavesAt : plannedAt)),
    );
    if (isByPlan === isByEstimate)
      check.record('order-of-requested-boards', 'UNKNOWN', 'the order of departures fits both');
    else check.record('order-of-requested-boards', isByPlan, `ordered by ${isByPlan ? 'the timetable' : 'estimates'}`);
  }
}

function isSorted(times: readonly number[]): boolean {
  return times.every((time, index) => index === 0 || time >= (times[index - 1] ?? 0));
}

async function checkStops(check: Check): Promise<void> {
  for (const stopId of [GROUP, PLATFORM]) {
    const page = await check.page(`board-${stopId}`, { stopId });
    const saw = `board of ${stopId}: ${describe(page, ({ stopName }) => stopName)}`;
    check.record('group-and-platform-ids', !(page instanceof ApiError), saw);
  }
  recordUnknown(check, 'the board of', await check.page('board-unknown', { stopId: UNKNOWN_STOP }));
  const empty = await check.page('board-ferries', { modes: ['ferry'] });
  if (empty instanceof ApiError) check.record('empty-is-not-unknown', false, `ferries at Town Hall: ${empty.code}`);
  else {
    const { stopName, departures } = empty;
    const verdict = departures.length === 0 ? 'HOLDS' : 'UNKNOWN';
    check.record('empty-is-not-unknown', verdict, `ferries at ${stopName}: ${departures.length}`);
  }
}

function recordUnknown(check: Check, subject: string, result: unknown): void {
  const isKnownError = result instanceof ApiError && result.code === 'STOP_NOT_FOUND';
  const saw = result instanceof ApiError ? `${result.code}, ${causeOf(result)}` : 'no error';
  check.record('unknown-is-200', isKnownError, `${subject} an unknown stop: ${saw}`);
}

async function checkFurther(check: Check): Promise<void> {
  const hasCalls = (event: unknown) =>
    ['onwardLocations', 'previousLocations'].some((name) => Array.isArray(parseObject(event)?.[name]));
  const withCalls = { depType: 'stopEvents', includeCompleteStopSeq: '1' };
  await checkEvents(check, 'calls-of-a-run', ['board-with-calls', withCalls], [hasCalls, 'have calls']);
  const arrives = (event: unknown) => typeof parseObject(event)?.arrivalTimePlanned === 'string';
  const arriving = { depArrMacro: 'arr' };
  await checkEvents(check, 'arrivals', ['board-of-arrivals', arriving], [arrives, 'have a time of arrival']);

  const received = await check.send({ id: 'add-info', path: pathOf({ kind: 'notices' }) });
  const isList = parseObject(parseObject(parseJson(received))?.infos)?.current !== undefined;
  check.record('notices-by-add-info', isList, `status ${received.status}, ${received.body.length} bytes`);
}

/** Requests a board with these parameters and checks that some of its events are as assumed. */
async function checkEvents(
  check: Check,
  assumption: AssumptionId,
  [id, parameters]: [id: string, more: Record<string, string>],
  [fits, expectation]: [fits: (event: unknown) => boolean, what: string],
): Promise<void> {
  const events = await listOf(check, id, pathOf(TOWN_HALL_BOARD, parameters), 'stopEvents');
  const fitting = events?.filter(fits).length ?? 0;
  const saw = `${fitting} of ${events?.length ?? 0} events ${expectation}`;
  check.record(assumption, events?.length === 0 ? 'UNKNOWN' : fitting > 0, saw);
}

async function listOf(check: Check, id: string, path: string, name: string): Promise<unknown[] | null> {
  const list = parseObject(parseJson(await check.send({ id, path })))?.[name];
  return Array.isArray(list) ? list : null;
}

/** Null unless the status is 200 and the body is JSON. */
function parseJson({ status, body }: Received): unknown {
  try {
    return status === 200 ? JSON.parse(body.toString()) : null;
  } catch {
    return null;
  }
}

async function checkCoord(check: Check): Promise<void> {
  const stopsAround = async (id: string, place: { lat: number; lng: number }, radiusMetres: number) => {
    const response = await orApiError(check.queryFor(id)({ kind: 'coord', ...place, radiusMetres }));
    if (response instanceof ApiError) return response;
    const points = response.payload.locations.flatMap((location) => parseStopPoint(location) ?? []);
    const { stops } = await mapNearbyStops(response.payload, { ...place, radius: radiusMetres }, NO_REGISTER);
    return { stops, types: [...new Set(points.map(({ type }) => type))] };
  };
  const both = await stopsAround('coord-central', CENTRAL, 500);
  if (both instanceof ApiError) check.record('two-filters-in-one-coord', false, `at Central: ${causeOf(both)}`);
  const { query } = toRequest({ kind: 'coord', ...CENTRAL, radiusMetres: 500 });
  const { type_2: type_1 = '', radius_2: _radius, type_1: _type, ...alone } = query;
  const path = `/coord?${new URLSearchParams({ ...alone, type_1 })}`;
  const stopsAlone = await listOf(check, 'coord-stops', path, 'locations');
  if (!(both instanceof ApiError)) {
    const { stops, types } = both;
    const withModes = stops.filter(({ modes }) => modes.length > 0).length;
    const isBoth = types.includes('platform') && types.includes('stop') && withModes > 0;
    const saw = `at Central ${types.join(' and ') || 'nothing'}, ${withModes} of ${stops.length} stops with modes; STOP alone lists ${stopsAlone?.length ?? 'nothing'}`;
    check.record('two-filters-in-one-coord', isBoth, saw);
  }
  const wide = await stopsAround('coord-wide', CENTRAL, 2000);
  if (wide instanceof ApiError) check.record('two-filters-in-one-coord', false, `over 2,000 m: ${causeOf(wide)}`);
  const canberra = await stopsAround('coord-canberra', CANBERRA, 1000);
  const stopCount = canberra instanceof ApiError ? 0 : canberra.stops.length;
  check.record('canberra-is-served', stopCount > 0, `${stopCount} stops around ${CANBERRA.lat},${CANBERRA.lng}`);
}

async function checkSearch(check: Check): Promise<void> {
  const texts = { central: 'central', apostrophe: "king's cross", nonsense: 'qqzzxx vvkkjj', typo: 'townhal' };
  for (const [id, q] of Object.entries(texts)) {
    const { count, saw } = await search(check, `search-${id}`, q);
    const isRight = id === 'central' ? count > 0 : count >= 0;
    check.record('search-takes-any-text', isRight, `"${q}": ${saw}`);
  }
  const { count, saw } = await search(check, 'search-group', GROUP);
  check.record('group-and-platform-ids', count > 0, `search for ${GROUP}: ${saw}`);
}

/** Returns the number of stops found, or -1 for an error. */
async function search(check: Check, id: string, q: string): Promise<{ count: number; saw: string }> {
  const response = await orApiError(check.queryFor(id)(toStopSearchRequest(stopSearchQuery.parse({ q }))));
  if (response instanceof ApiError) return { count: -1, saw: causeOf(response) };
  const { results } = await rankMatches(response.payload, ['stop'], undefined);
  return { count: results.length, saw: `${results.length} stops` };
}

async function checkTrips(check: Check): Promise<void> {
  const tripsOperation = createTripsOperation({ stops: NO_REGISTER });
  const plan = (id: string, query: Record<string, string>) => {
    const parsed = tripsOperation.query.parse({ from: TOWN_HALL, to: '202091', path: 'none', ...query });
    return orApiError(tripsOperation.handle(parsed, check.context(id)));
  };
  const recordJourneys = (subject: string, result: Awaited<ReturnType<typeof plan>>, mayBeNone = false) => {
    const isKnown = !(result instanceof ApiError) || (mayBeNone && result.code === 'NO_JOURNEYS_FOUND');
    check.record(
      'trip-options',
      isKnown,
      `${subject}: ${describe(result, ({ body }) => `${body.journeys.length} journeys`)}`,
    );
  };
  recordJourneys('plain', await plan('trip-plain', {}));
  recordJourneys('wheelchair', await plan('trip-wheelchair', { wheelchair: 'true' }), true);
  recordJourneys('from a position', await plan('trip-position', { from: `${CENTRAL.lat},${CENTRAL.lng}` }));
  const trains = await plan('trip-trains', { modes: 'train' });
  if (trains instanceof ApiError) check.record('filters-hold', 'UNKNOWN', `journeys by train: ${causeOf(trains)}`);
  else {
    const modes = new Set(trains.body.journeys.flatMap(({ legs }) => legs.map(({ mode }) => mode as string)));
    const isKept = [...modes].every((mode) => mode === 'train' || mode === 'walk');
    check.record('filters-hold', isKept, `journeys by train: ${[...modes].join(', ')}`);
  }
  recordUnknown(check, 'a journey to', await plan('trip-unknown', { to: UNKNOWN_STOP }));
  const sameStop = await orApiError(
    check.queryFor('trip-same-ends')({ kind: 'trip', from: TOWN_HALL, to: TOWN_HALL, at: null, isArrival: false }),
  );
  const journeys = describe(sameStop, ({ payload }) => `${payload.journeys.length} journeys`);
  check.notes.push(`a journey from a stop to itself: ${journeys}`);
}

async function checkFeeds(check: Check): Promise<void> {
  // Only tracked departures: the others are not in a feed yet.
  const departures = check.pages.flatMap((page) => page.departures.filter(({ state }) => state.kind === 'live'));
  for (const source of FEEDS) {
    const { status, body } = await check.send({ id: `feed-${source}`, base: 'feeds', path: FEED_SOURCES[source].path });
    const feed = status === 200 ? parseFeedRuns(body) : null;
    if (!feed) {
      check.record('feed-ids-match', false, `${source}: status ${status}, no feed`);
      continue;
    }
    const runs = new Set(
      departures.flatMap((departure) =>
        findFeedSource(departure) === source && departure.runId !== null ? departure.runId : [],
      ),
    );
    const knownRuns = [...runs].filter(feed.has).length;
    const age = Math.round((check.options.now() - feed.headerAt) / 1000);
    const saw = `${source}: ${knownRuns} of ${runs.size} tracked runs, ${age} s old`;
    check.record('feed-ids-match', runs.size < MIN_RUNS ? 'UNKNOWN' : knownRuns / runs.size >= KNOWN_SHARE, saw);
  }
  const { status, body } = await check.send({ id: 'feed-positions', base: 'feeds', path: POSITIONS });
  check.notes.push(`positions of trains: status ${status}, ${body.length} bytes`);
}

async function checkCarParks(check: Check): Promise<void> {
  const record = (verdict: Verdict | boolean, saw: string) => check.record('car-parks', verdict, saw);
  const list = await check.send({ id: 'car-parks', base: 'feeds', path: CAR_PARK_PATH });
  const { status } = list;
  if (status === 401 || status === 403) {
    return record(
      'UNKNOWN',
      `status ${status}: the key may not use them. Tick the Car Park API, or set WITHOUT=carparks`,
    );
  }
  const names = parseFacilityList(parseJson(list));
  if (!names) return record(false, `status ${status}, no list of car parks`);
  for (const id of [...names.keys()].slice(0, CAR_PARKS_CHECKED)) {
    const response = await check.send({ id: `car-park-${id}`, base: 'feeds', path: facilityPath(id) });
    const report = parseReport(id, parseJson(response));
    if (!report) {
      record(false, `car park ${id}: status ${response.status}, no record`);
      continue;
    }
    const { facility, reading } = report;
    const isComplete = facility.capacity !== null && facility.lat !== null && facility.stopId !== null && reading;
    if (!isComplete) record(false, `car park ${id} lacks its capacity, position, stop or reading`);
    else {
      const minutes = Math.round((check.options.now() - reading.at) / MINUTE_MS);
      const saw = `${names.size} car parks; ${id}: ${reading.taken} of ${facility.capacity} taken, ${minutes} minutes old`;
      const isNow = minutes >= -MAX_READING_MINUTES && minutes <= MAX_READING_MINUTES;
      // A car park that has not reported for a day is out of order; one that is hours off may be read in the wrong time zone.
      record(isNow || (Math.abs(minutes) > 24 * 60 ? 'UNKNOWN' : false), saw);
    }
  }
}

/**
 * The exit code of the command: 1 if callers would see a difference, 6 if something is not settled, 4 if only the cost differs,
 * else 0.
 */
export function exitCodeOf(results: readonly Result[]): 0 | 1 | 4 | 6 {
  const harms = results.flatMap(({ id, verdict }) => (verdict === 'DIFFERS' ? ASSUMPTIONS[id].harm : []));
  if (harms.some((harm) => harm === 'silent' || harm === 'loud')) return 1;
  if (results.some(({ verdict }) => verdict === 'UNKNOWN')) return 6;
  return harms.includes('cost') ? 4 : 0;
}
