import { MINUTE_MS } from '../clock.ts';
import type { Ask, UpstreamResponse } from '../efa/ask.ts';
import { AuthorityClock } from '../efa/authority-http.ts';
import { readPayload } from '../efa/client.ts';
import { type DeparturePage, EVENTS_PER_PAGE, readPage } from '../efa/departure-page.ts';
import { outcomeOf, unexpectedStatus } from '../efa/failure.ts';
import { toRequest, type UpstreamRequest } from '../efa/request.ts';
import { readObject } from '../efa/response/field.ts';
import { readStopPoint } from '../efa/stop-point.ts';
import { ApiError } from '../errors/api-error.ts';
import { monitorBoards } from '../live/boards/boards.ts';
import { StopCalls } from '../live/boards/stop-calls.ts';
import { Feed } from '../live/feed/feed.ts';
import { readFeed } from '../live/feed/feed-reader.ts';
import { FEED_SOURCES, type FeedSourceId, findFeedSource } from '../live/polling/feed-source.ts';
import { mapNearbyStops } from '../nearby/map.ts';
import { mapSearchResults } from '../stop-search/operation.ts';
import { stopSearchQuery, toStopSearchRequest } from '../stop-search/query.ts';
import { MODES, type Mode } from '../transit/mode.ts';
import { toSydneyWallClock } from '../transit/time.ts';
import { createTripsOperation } from '../trips/operation.ts';
import { ASSUMPTION_IDS, ASSUMPTIONS, type AssumptionId } from './assumptions.ts';

/** One request of the check. `id` names it in saved responses. */
export interface Step {
  id: string;
  /** It follows the base address of the trip planner, or of the feeds. */
  path: string;
  base: 'trip planner' | 'feeds';
  key: 'first' | 'second' | 'made up';
  /** Several steps of a burst are sent at once. */
  isBurst?: boolean;
}

export interface Received {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** The time from sending to the end of the body. */
  tookMs: number;
  sentAt: number;
}

/** Sends one step and waits for its turn. Throws when no response comes. */
export type Transport = (step: Step) => Promise<Received>;

type Verdict = 'HOLDS' | 'DIFFERS' | 'UNKNOWN';

export interface Result {
  id: AssumptionId;
  verdict: Verdict;
  /** One sentence for each request that told something. */
  saw: string[];
}

export interface CheckOptions {
  transport: Transport;
  now: () => number;
  timeoutMs: number;
  only?: readonly AssumptionId[];
  isBurst?: boolean;
  hasSecondKey?: boolean;
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
const BURST = 8;
/** A feed is expected to know at least this share of the runs that boards have estimates for. */
const KNOWN_SHARE = 0.5;
const FEWEST_RUNS = 5;
/** Nothing is known already, because upstream's own word counts here. */
const NO_REGISTER = { get: () => null };
const LARGEST_BYTES = 6_000_000;
/** These headers are about servers, gateways and connections, and say nothing about a key. */
const ORDINARY_HEADERS =
  /^(date|server|content-|connection|keep-alive|transfer-encoding|vary|cache-control|expires|pragma|access-control-|strict-transport|x-content-type|x-frame|x-xss|via|set-cookie|etag|last-modified|x-request|x-transaction|x-sandbox)/;

/** A part of the check: what it settles, how many calls it makes, and how. */
interface Part {
  settles: readonly AssumptionId[];
  calls: number;
  needs?: 'burst' | 'second key';
  run(check: Check): Promise<void>;
}

const PARTS: readonly Part[] = [
  { settles: ['only-401-refuses-a-key', 'daily-quota', 'sizes-and-times'], calls: 2, run: checkKey },
  { settles: ['full-page-is-40', 'filters-hold'], calls: 3, run: checkPages },
  { settles: ['asked-times-are-sydney', 'order-of-asked-boards'], calls: 2, run: checkTimes },
  { settles: ['group-and-platform-ids', 'unknown-is-200', 'empty-is-not-unknown'], calls: 4, run: checkStops },
  { settles: ['calls-of-a-run', 'arrivals', 'notices-by-add-info'], calls: 3, run: checkFurther },
  { settles: ['two-filters-in-one-coord', 'canberra-is-served'], calls: 4, run: checkCoord },
  { settles: ['search-takes-any-text', 'group-and-platform-ids'], calls: 5, run: checkSearch },
  { settles: ['trip-options', 'filters-hold', 'unknown-is-200'], calls: 6, run: checkTrips },
  { settles: ['feed-ids-match'], calls: FEEDS.length + 1, run: checkFeeds },
  { settles: ['over-rate-is-known'], calls: BURST, needs: 'burst', run: checkBurst },
  { settles: ['quota-per-key'], calls: BURST + 1, needs: 'second key', run: checkSecondKey },
];

/** Lists the parts that settle the wanted assumptions, and counts the calls that they make at most. */
export function planCheck({ only, isBurst, hasSecondKey }: Omit<CheckOptions, 'transport' | 'now' | 'timeoutMs'>) {
  const parts = PARTS.filter(
    ({ settles, needs }, index) =>
      (needs !== 'burst' || isBurst) &&
      (needs !== 'second key' || hasSecondKey) &&
      // The first part makes sure that the key works.
      (index === 0 || !only || settles.some((id) => only.includes(id))),
  );
  return { parts, calls: parts.reduce((sum, { calls }) => sum + calls, 0) };
}

/** Throws `KeyRefused`, and the error of the network when the very first call fails. */
export async function runCheck(options: CheckOptions): Promise<{ results: Result[]; calls: number; notes: string[] }> {
  const check = new Check(options);
  for (const part of planCheck(options).parts) await part.run(check);
  const ids = ASSUMPTION_IDS.filter((id) => !options.only || options.only.includes(id));
  return { results: ids.map((id) => check.result(id)), calls: check.calls, notes: check.notes };
}

/** The state of one run: what was seen, and the boards that later parts compare with. */
class Check {
  readonly options: CheckOptions;
  readonly notes: string[] = [];
  readonly clock: AuthorityClock;
  readonly pages: DeparturePage[] = [];
  calls = 0;
  readonly #seen = new Map<AssumptionId, { verdict: Verdict; saw: string }[]>();

  constructor(options: CheckOptions) {
    this.options = options;
    const warn = (_fields: object, message: string) => void this.notes.push(message);
    this.clock = new AuthorityClock({ warn, info: () => {} });
  }

  see(id: AssumptionId, verdict: Verdict, saw: string): void {
    this.#seen.set(id, [...(this.#seen.get(id) ?? []), { verdict, saw }]);
  }

  result(id: AssumptionId): Result {
    const seen = this.#seen.get(id) ?? [];
    const verdict = (['DIFFERS', 'HOLDS'] as const).find((one) => seen.some((entry) => entry.verdict === one));
    return { id, verdict: verdict ?? 'UNKNOWN', saw: seen.map(({ saw }) => saw) };
  }

  async send(step: Omit<Step, 'base' | 'key'> & Partial<Step>): Promise<Received> {
    this.calls++;
    const received = await this.options.transport({ base: 'trip planner', key: 'first', ...step });
    const { sentAt, tookMs, body, headers } = received;
    this.clock.note(headers.date, { sentAt, receivedAt: sentAt + tookMs });
    const large = body.length > LARGEST_BYTES;
    const slow = tookMs > this.options.timeoutMs;
    if (large) this.see('sizes-and-times', 'DIFFERS', `${step.id} has ${body.length} bytes`);
    if (slow) this.see('sizes-and-times', 'DIFFERS', `${step.id} took ${Math.round(tookMs)} ms`);
    if (!large && !slow && received.status === 200) this.see('sizes-and-times', 'HOLDS', '');
    return received;
  }

  /** Asks as the service does: its request, its reader of the response. The second call of one `id` is "id-2". */
  ask(id: string, more: Partial<Step> = {}): Ask {
    let count = 0;
    const ask = async (request: UpstreamRequest): Promise<UpstreamResponse<unknown>> => {
      count++;
      const { endpoint, query } = toRequest(request);
      const path = `/${endpoint}?${new URLSearchParams(query)}`;
      const received = await this.send({ id: count === 1 ? id : `${id}-${count}`, path, ...more });
      return { payload: await payloadOf(received, request), retrievedAt: new Date(received.sentAt + received.tookMs) };
    };
    return ask as Ask;
  }

  /** The page, or the error that a caller would get. */
  async page(id: string, request: Partial<UpstreamRequest & { kind: 'departureMonitor' }> = {}) {
    const page = await orApiError(readPage(this.ask(id), { ...TOWN_HALL_BOARD, ...request }));
    if (!(page instanceof ApiError)) this.pages.push(page);
    return page;
  }

  context(id: string) {
    const now = () => new Date(this.options.now());
    const calls = new StopCalls({ now: () => this.options.now() });
    const run = () => Promise.reject(new Error('no operation'));
    return { ask: this.ask(id), boards: monitorBoards, calls, now, run };
  }
}

async function payloadOf(received: Received, request: UpstreamRequest): Promise<unknown> {
  const { status, headers, body, sentAt } = received;
  if (status === 200) return readPayload(body, request, '');
  throw unexpectedStatus(status, headers, body.toString(), { now: new Date(sentAt), apiKey: '' });
}

async function orApiError<Value>(work: Promise<Value>): Promise<Value | ApiError> {
  return work.catch((error) => {
    if (error instanceof ApiError) return error;
    throw error;
  });
}

async function checkKey(check: Check): Promise<void> {
  const { endpoint, query } = toRequest(TOWN_HALL_BOARD);
  const path = `/${endpoint}?${new URLSearchParams(query)}`;
  const good = await check.send({ id: 'key-good', path });
  if (good.status === 401 || good.status === 403)
    throw new KeyRefused(`status ${good.status} ${good.headers['x-error-detail'] ?? ''}`.trim());
  const first = await orApiError(
    readPage(
      (async (request: UpstreamRequest) => ({
        payload: await payloadOf(good, request),
        retrievedAt: new Date(good.sentAt + good.tookMs),
      })) as Ask,
      TOWN_HALL_BOARD,
    ),
  );
  if (first instanceof ApiError) check.notes.push(`the board of Town Hall cannot be read: ${causeOf(first)}`);
  else check.pages.push(first);

  const unusual = Object.entries(good.headers).filter(([name]) => !ORDINARY_HEADERS.test(name));
  check.notes.push(
    `first response: status ${good.status}, ${good.body.length} bytes, ${Math.round(good.tookMs)} ms`,
    `unusual headers: ${unusual.map(([name, value]) => `${name}: ${value}`).join('; ') || 'none'}`,
  );
  const quota = unusual.find(
    ([name]) => /(quota|rate-?limit)/.test(name) && !/(remaining|left|reset|used|second)/.test(name),
  );
  const calls = quota && /\b\d{4,9}\b/.exec(quota[1])?.[0];
  if (calls) check.see('daily-quota', calls === '60000' ? 'HOLDS' : 'DIFFERS', `${quota[0]}: ${quota[1]}`);

  const bad = await check.send({ id: 'key-made-up', path, key: 'made up' });
  check.see('only-401-refuses-a-key', bad.status === 401 ? 'HOLDS' : 'DIFFERS', `a made-up key gets ${bad.status}`);
}

async function checkPages(check: Check): Promise<void> {
  const [first] = check.pages;
  const buses = await check.page('board-buses', { modes: ['bus'] });
  for (const [id, page, modes] of [
    ['board-next', first, MODES],
    ['board-buses-next', buses, ['bus']],
  ] as [string, DeparturePage | ApiError | undefined, readonly Mode[]][]) {
    if (!page || page instanceof ApiError || page.lastPlannedAt === null) continue;
    const { lastPlannedAt } = page;
    const next = await check.page(id, { modes, at: toSydneyWallClock(new Date(lastPlannedAt)) });
    if (next instanceof ApiError) continue;
    const goesOn = (next.lastPlannedAt ?? 0) > lastPlannedAt;
    const events = eventCount(page);
    const within = goesOn ? 'more follow' : 'nothing follows';
    // Beyond the hour the service believes a short page.
    const isShort = events < EVENTS_PER_PAGE;
    const verdict = isShort ? (goesOn ? 'DIFFERS' : 'UNKNOWN') : events === EVENTS_PER_PAGE ? 'HOLDS' : 'DIFFERS';
    check.see('full-page-is-40', verdict, `${events} events, and ${within}`);
  }
  if (!(buses instanceof ApiError)) {
    const others = buses.departures.filter(({ mode }) => mode !== 'bus').length;
    const verdict = others > 0 ? 'DIFFERS' : buses.departures.length > 0 ? 'HOLDS' : 'UNKNOWN';
    check.see('filters-hold', verdict, `a board of buses has ${others} other departures of ${buses.departures.length}`);
  }
}

function eventCount({ departures, leftOut }: DeparturePage): number {
  return departures.length + Object.values(leftOut).reduce((sum: number, records) => sum + (records ?? 0), 0);
}

async function checkTimes(check: Check): Promise<void> {
  for (const minutes of [10, 60]) {
    const askedFor = Math.floor((check.options.now() + minutes * MINUTE_MS) / MINUTE_MS) * MINUTE_MS;
    const page = await check.page(`board-in-${minutes}`, { at: toSydneyWallClock(new Date(askedFor)) });
    const times = page instanceof ApiError ? [] : page.departures.map(({ plannedAt }) => plannedAt);
    if (page instanceof ApiError || times.length === 0) {
      check.see('asked-times-are-sydney', 'UNKNOWN', `in ${minutes} minutes: nothing leaves`);
      continue;
    }
    const offMinutes = Math.round((Math.min(...times) - askedFor) / MINUTE_MS);
    // A vehicle that is late is listed although it was planned earlier.
    const isRight = offMinutes > -60 && offMinutes < 180;
    check.see(
      'asked-times-are-sydney',
      isRight ? 'HOLDS' : 'DIFFERS',
      `the first departure is ${offMinutes} minutes after the time asked for`,
    );
    const isByPlan = isSorted(times);
    const isByEstimate = isSorted(
      page.departures.map(({ plannedAt, state }) => (state.kind === 'live' ? state.leavesAt : plannedAt)),
    );
    const saw =
      isByPlan === isByEstimate ? 'the order does not tell' : `ordered by ${isByPlan ? 'the timetable' : 'estimates'}`;
    check.see('order-of-asked-boards', isByPlan === isByEstimate ? 'UNKNOWN' : isByPlan ? 'HOLDS' : 'DIFFERS', saw);
  }
}

function isSorted(times: readonly number[]): boolean {
  return times.every((time, index) => index === 0 || time >= (times[index - 1] ?? 0));
}

async function checkStops(check: Check): Promise<void> {
  for (const stopId of [GROUP, PLATFORM]) {
    const page = await check.page(`board-${stopId}`, { stopId });
    const isRead = !(page instanceof ApiError);
    check.see(
      'group-and-platform-ids',
      isRead ? 'HOLDS' : 'DIFFERS',
      `board of ${stopId}: ${isRead ? page.stopName : causeOf(page)}`,
    );
  }
  const unknown = await check.page('board-unknown', { stopId: UNKNOWN_STOP });
  seeUnknown(check, 'the board of', unknown, 'STOP_NOT_FOUND');
  const empty = await check.page('board-ferries', { modes: ['ferry'] });
  if (empty instanceof ApiError) {
    check.see('empty-is-not-unknown', 'DIFFERS', `ferries at Town Hall: ${empty.code}`);
  } else {
    check.see(
      'empty-is-not-unknown',
      empty.departures.length === 0 ? 'HOLDS' : 'UNKNOWN',
      `ferries at ${empty.stopName}: ${empty.departures.length}`,
    );
  }
}

function seeUnknown(check: Check, what: string, found: unknown, code: string): void {
  const isKnownError = found instanceof ApiError && found.code === code;
  const saw = found instanceof ApiError ? `${found.code}, ${causeOf(found)}` : 'no error';
  check.see('unknown-is-200', isKnownError ? 'HOLDS' : 'DIFFERS', `${what} an unknown stop: ${saw}`);
}

async function checkFurther(check: Check): Promise<void> {
  const { query } = toRequest(TOWN_HALL_BOARD);
  const withSequence = { ...query, depType: 'stopEvents', includeCompleteStopSeq: '1' };
  const events = await listOf(
    check,
    'board-with-calls',
    `/departure_mon?${new URLSearchParams(withSequence)}`,
    'stopEvents',
  );
  const hasCalls = (event: unknown) =>
    ['onwardLocations', 'previousLocations'].some((name) => Array.isArray(readObject(event)?.[name]));
  check.see(
    'calls-of-a-run',
    verdictOf(events, hasCalls),
    `${events?.filter(hasCalls).length ?? 0} of ${events?.length ?? 0} events have calls`,
  );
  const arriving = { ...query, depArrMacro: 'arr' };
  const arrivals = await listOf(
    check,
    'board-of-arrivals',
    `/departure_mon?${new URLSearchParams(arriving)}`,
    'stopEvents',
  );
  const arrives = (event: unknown) => typeof readObject(event)?.arrivalTimePlanned === 'string';
  check.see(
    'arrivals',
    verdictOf(arrivals, arrives),
    `${arrivals?.filter(arrives).length ?? 0} of ${arrivals?.length ?? 0} events have a time of arrival`,
  );
  const notices = new URLSearchParams(toRequest({ kind: 'notices' }).query);
  const { status, body } = await check.send({ id: 'add-info', path: `/add_info?${notices}` });
  const isList = status === 200 && readObject(readObject(tryJson(body))?.infos)?.current !== undefined;
  check.see('notices-by-add-info', isList ? 'HOLDS' : 'DIFFERS', `status ${status}, ${body.length} bytes`);
}

async function listOf(check: Check, id: string, path: string, name: string): Promise<unknown[] | null> {
  const { status, body } = await check.send({ id, path });
  const list = status === 200 ? readObject(tryJson(body))?.[name] : null;
  return Array.isArray(list) ? list : null;
}

function verdictOf(list: readonly unknown[] | null, fits: (entry: unknown) => boolean): Verdict {
  if (list?.length === 0) return 'UNKNOWN';
  return list?.some(fits) ? 'HOLDS' : 'DIFFERS';
}

function tryJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

async function checkCoord(check: Check): Promise<void> {
  const around = async (id: string, place: { lat: number; lng: number }, radiusMetres: number) => {
    const response = await orApiError(check.ask(id)({ kind: 'coord', ...place, radiusMetres }));
    if (response instanceof ApiError) return response;
    const points = response.payload.locations.flatMap((location) => readStopPoint(location) ?? []);
    const { stops } = await mapNearbyStops(response.payload, { ...place, radius: radiusMetres }, NO_REGISTER);
    return {
      stops,
      types: new Set(points.map(({ type }) => type)),
      withModes: stops.filter(({ modes }) => modes.length > 0),
    };
  };
  const both = await around('coord-central', CENTRAL, 500);
  const { query } = toRequest({ kind: 'coord', ...CENTRAL, radiusMetres: 500 });
  const { type_2: type_1 = '', radius_2: _radius, type_1: _type, ...alone } = query;
  const stopsAlone = await listOf(
    check,
    'coord-stops',
    `/coord?${new URLSearchParams({ ...alone, type_1 })}`,
    'locations',
  );
  if (both instanceof ApiError) check.see('two-filters-in-one-coord', 'DIFFERS', `at Central: ${causeOf(both)}`);
  else {
    const hasBoth = both.types.has('platform') && both.types.has('stop');
    const saw = `at Central ${[...both.types].join(' and ') || 'nothing'}, ${both.withModes.length} of ${both.stops.length} stops with modes; STOP alone lists ${stopsAlone?.length ?? 'nothing'}`;
    check.see('two-filters-in-one-coord', hasBoth && both.withModes.length > 0 ? 'HOLDS' : 'DIFFERS', saw);
  }
  const wide = await around('coord-wide', CENTRAL, 2000);
  if (wide instanceof ApiError) check.see('two-filters-in-one-coord', 'DIFFERS', `over 2,000 m: ${causeOf(wide)}`);
  const canberra = await around('coord-canberra', CANBERRA, 1000);
  const found = canberra instanceof ApiError ? 0 : canberra.stops.length;
  check.see(
    'canberra-is-served',
    found > 0 ? 'HOLDS' : 'DIFFERS',
    `${found} stops around ${CANBERRA.lat},${CANBERRA.lng}`,
  );
}

async function checkSearch(check: Check): Promise<void> {
  for (const [id, q] of Object.entries({
    central: 'central',
    apostrophe: "king's cross",
    nonsense: 'qqzzxx vvkkjj',
    typo: 'townhal',
  })) {
    const found = await search(check, `search-${id}`, q);
    const saw = found instanceof ApiError ? causeOf(found) : `${found.length} stops`;
    const isMissing = id === 'central' && !(found instanceof ApiError) && found.length === 0;
    check.see('search-takes-any-text', found instanceof ApiError || isMissing ? 'DIFFERS' : 'HOLDS', `"${q}": ${saw}`);
  }
  const found = await search(check, 'search-group', GROUP);
  const isFound = !(found instanceof ApiError) && found.length > 0;
  check.see(
    'group-and-platform-ids',
    isFound ? 'HOLDS' : 'DIFFERS',
    `search for ${GROUP}: ${found instanceof ApiError ? causeOf(found) : `${found.length} stops`}`,
  );
}

async function search(check: Check, id: string, q: string) {
  const response = await orApiError(check.ask(id)(toStopSearchRequest(stopSearchQuery.parse({ q }))));
  return response instanceof ApiError ? response : (await mapSearchResults(response.payload, NO_REGISTER)).results;
}

async function checkTrips(check: Check): Promise<void> {
  const tripsOperation = createTripsOperation({ stops: NO_REGISTER });
  const plan = (id: string, query: Record<string, string>) => {
    const parsed = tripsOperation.query.parse({ from: TOWN_HALL, to: '202091', path: 'none', ...query });
    return orApiError(tripsOperation.find(parsed, check.context(id)));
  };
  const plain = await plan('trip-plain', {});
  const told = (found: Awaited<ReturnType<typeof plan>>) =>
    found instanceof ApiError ? causeOf(found) : `${found.body.journeys.length} journeys`;
  check.see('trip-options', plain instanceof ApiError ? 'DIFFERS' : 'HOLDS', `plain: ${told(plain)}`);
  const wheelchair = await plan('trip-wheelchair', { wheelchair: 'true' });
  const isKnownAnswer = !(wheelchair instanceof ApiError) || wheelchair.code === 'NO_JOURNEYS_FOUND';
  check.see('trip-options', isKnownAnswer ? 'HOLDS' : 'DIFFERS', `wheelchair: ${told(wheelchair)}`);
  const position = await plan('trip-position', { from: `${CENTRAL.lat},${CENTRAL.lng}` });
  check.see('trip-options', position instanceof ApiError ? 'DIFFERS' : 'HOLDS', `from a position: ${told(position)}`);
  const trains = await plan('trip-trains', { modes: 'train' });
  if (!(trains instanceof ApiError)) {
    const modes = new Set(trains.body.journeys.flatMap(({ legs }) => legs.map(({ mode }) => mode as string)));
    const isKept = [...modes].every((mode) => mode === 'train' || mode === 'walk');
    check.see('filters-hold', isKept ? 'HOLDS' : 'DIFFERS', `journeys by train: ${[...modes].join(', ')}`);
  }
  seeUnknown(check, 'a journey to', await plan('trip-unknown', { to: UNKNOWN_STOP }), 'STOP_NOT_FOUND');
  const same = await orApiError(
    check.ask('trip-same-ends')({ kind: 'trip', from: TOWN_HALL, to: TOWN_HALL, at: null, isArrival: false }),
  );
  check.notes.push(
    `a journey from a stop to itself: ${same instanceof ApiError ? causeOf(same) : `${same.payload.journeys.length} journeys`}`,
  );
}

async function checkFeeds(check: Check): Promise<void> {
  // Those that the authority tracks; the others are in no feed yet.
  const departures = check.pages.flatMap((page) => page.departures.filter(({ state }) => state.kind === 'live'));
  for (const source of FEEDS) {
    const { status, body } = await check.send({ id: `feed-${source}`, base: 'feeds', path: FEED_SOURCES[source].path });
    const feed = status === 200 ? tryFeed(body) : null;
    if (!feed) {
      check.see('feed-ids-match', 'DIFFERS', `${source}: status ${status}, no feed`);
      continue;
    }
    const runs = new Set(
      departures.flatMap((one) => (findFeedSource(one) === source && one.runId !== null ? one.runId : [])),
    );
    const known = [...runs].filter((runId) => feed.findTrips(runId).length > 0).length;
    const age = Math.round((check.options.now() - feed.headerAt) / 1000);
    const saw = `${source}: ${known} of ${runs.size} tracked runs, ${age} s old`;
    const verdict = runs.size < FEWEST_RUNS ? 'UNKNOWN' : known / runs.size >= KNOWN_SHARE ? 'HOLDS' : 'DIFFERS';
    check.see('feed-ids-match', verdict, saw);
  }
  const { status, body } = await check.send({ id: 'feed-positions', base: 'feeds', path: POSITIONS });
  check.notes.push(`positions of trains: status ${status}, ${body.length} bytes`);
}

function tryFeed(bytes: Buffer): Feed | null {
  try {
    return new Feed(readFeed(bytes));
  } catch {
    return null;
  }
}

async function checkBurst(check: Check): Promise<void> {
  const refused = await burst(check, 'burst');
  const unclear = refused.filter((error) => outcomeOf(error) !== 'rate-limited');
  const verdict = unclear.length > 0 ? 'DIFFERS' : refused.length > 0 ? 'HOLDS' : 'UNKNOWN';
  const [one] = unclear.length > 0 ? unclear : refused;
  check.see(
    'over-rate-is-known',
    verdict,
    `${refused.length} of ${BURST} calls at once were refused${one ? `: ${causeOf(one)}` : ''}`,
  );
}

async function burst(check: Check, id: string): Promise<ApiError[]> {
  const calls = Array.from({ length: BURST }, (_, index) =>
    orApiError(check.ask(`${id}-${index + 1}`, { isBurst: true })(TOWN_HALL_BOARD)),
  );
  return (await Promise.all(calls)).filter((outcome) => outcome instanceof ApiError);
}

async function checkSecondKey(check: Check): Promise<void> {
  const refused = await burst(check, 'second-key-burst');
  const second = await orApiError(check.ask('second-key', { key: 'second', isBurst: true })(TOWN_HALL_BOARD));
  const verdict = refused.length === 0 ? 'UNKNOWN' : second instanceof ApiError ? 'DIFFERS' : 'HOLDS';
  const saw = second instanceof ApiError ? causeOf(second) : 'a response';
  check.see(
    'quota-per-key',
    verdict,
    `while ${refused.length} calls of the first key were refused, the second got ${saw}`,
  );
}

function causeOf({ cause, message }: ApiError): string {
  return cause instanceof Error ? cause.message : message;
}

/** The exit code of the command: 1 where callers would see the difference, 4 where only the cost differs, else 0. */
export function exitCodeOf(results: readonly Result[]): 0 | 1 | 4 {
  const harms = results.flatMap(({ id, verdict }) => (verdict === 'DIFFERS' ? ASSUMPTIONS[id].harm : []));
  if (harms.some((harm) => harm === 'silent' || harm === 'loud')) return 1;
  return harms.includes('cost') ? 4 : 0;
}
