import type { z } from 'zod';
import type { BoardRequest } from '../../boards/pager.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { unknownStop } from '../../errors/messages.ts';
import { routeOf } from '../../routes.ts';
import { alertTexts } from '../../transit/additional-fields.ts';
import type { RunCall } from '../../transit/call.ts';
import { compareDepartures, type Departure, isCancelled, leavesAt } from '../../transit/departure.ts';
import { sumLeftOut } from '../../transit/left-out.ts';
import { isNamed } from '../../transit/line-id.ts';
import { type Mode, nameModes } from '../../transit/mode.ts';
import { earliestMoment, formatTimestamp } from '../../transit/time.ts';
import { bindingOf, checkedCursor } from '../cursor.ts';
import { defineOperation, type FindContext, type Notice } from '../operation.ts';
import { fetchGoingTo, findCallAt } from './calls.ts';
import { arrivalsResponse, departuresResponse, nextMinuteAway, toArrival, toDeparture } from './departure.ts';
import { pagesOfBoard, toPageRequest } from './pages.ts';
import { arrivalsQuery, type DeparturesQuery, departuresQuery, toDeparturesRequest } from './query.ts';
import { loadUsual } from './usual.ts';

/** A vehicle that left longer ago cannot be caught any more. */
const GRACE_MS = MINUTE_MS;

const exampleBody: z.infer<typeof departuresResponse> = {
  stop_id: '200070',
  stop_name: 'Town Hall Station',
  retrieved_at: '2026-11-20T02:00:20Z',
  departures: [
    {
      route: 'T1',
      mode: 'train',
      destination: 'Berowra via Gordon',
      platform: 'Platform 3',
      scheduled_at: '2026-11-20T02:04:00Z',
      realtime_at: '2026-11-20T02:03:12Z',
      minutes_away: 2,
      is_live: true,
      wheelchair_accessible: true,
      occupancy: null,
      alerts: [
        'Station Update - Sydney: The northern entrance of Town Hall Station is closed for upgrades. Use the main entrance & allow extra time.',
      ],
    },
  ],
};

/** `GET /v1/departures` */
export const departuresOperation = defineOperation({
  ...routeOf('getDepartures'),
  tag: 'Stops',
  summary: 'Departures of a stop',
  description:
    'Live and scheduled departures of one stop, in order of departure. Returns only buses unless `modes` is set. Filters are applied before `limit`.\n\nCancelled departures are left out unless you set `cancelled=include`. If nothing leaves, the list is empty.',
  query: departuresQuery,
  body: departuresResponse,
  example: { query: 'stop=200070&modes=all&limit=5', body: exampleBody },
  tool: {
    description:
      'The next departures of one stop, in order of time: route, headsign, platform, planned time, and the live time if the vehicle is tracked. To get from one place to another use planTrips, which also lists where a vehicle stops. An empty list means that nothing matching the filters leaves soon.',
    defaults: { modes: 'all' },
  },
  stream: {
    id: 'streamDepartures',
    summary: 'Departures of a stop as a stream',
    description:
      'The departures of one stop as server-sent events. A `board` event with the whole `/v1/departures` response is sent at the start and on every change, and a comment every 15 seconds. `failure` means that there is currently no response; `end` is the last event and gives the reason. Both carry an error as data. With `Last-Event-ID`, a board that you already have is not sent again.\n\nCosts one request a minute. `/docs/limits` lists how many streams each plan may open. `EventSource` cannot send headers: pass a publishable key or a token as `access_token`.',
  },

  async handle(query, context) {
    const { head, shown, alerts, sentAt, result } = await fetchShown(query, context, { isArrival: false });
    const { ids, lines } = context;
    const usual = query.include?.includes('usual')
      ? await loadUsual(
          shown.map(({ departure }) => departure),
          context,
        )
      : [];
    const departures = shown.map(({ departure, ...beside }, index) =>
      toDeparture(departure, sentAt, query, { ...beside, stopId: query.stop, usual: usual[index], ids, lines }),
    );
    return { body: { ...head, departures, ...alerts }, ...result };
  },
});

function exampleArrivals(): z.infer<typeof arrivalsResponse> {
  const { departures, ...head } = exampleBody;
  return { ...head, arrivals: departures.map((departure) => ({ ...departure, origin: 'Leppington Station' })) };
}

/** `GET /v1/arrivals` */
export const arrivalsOperation = defineOperation({
  ...routeOf('getArrivals'),
  tag: 'Stops',
  summary: 'Arrivals at a stop',
  description:
    'Arrivals at one stop, in order of arrival, with the first stop of each run. Returns only buses unless `modes` is set. Filters are applied before `limit`.\n\nCancelled arrivals are left out unless you set `cancelled=include`. If nothing arrives, the list is empty. If the trip planner returns departures instead, the response is 502.',
  query: arrivalsQuery,
  body: arrivalsResponse,
  example: { query: 'stop=200070&modes=all&limit=5', body: exampleArrivals() },
  tool: {
    description:
      'The next arrivals at one stop, in order of time: route, headsign, origin of the run, platform, planned time, and the live time if the vehicle is tracked. For departures use getDepartures. An empty list means that nothing matching the filters arrives soon.',
    defaults: { modes: 'all' },
  },

  async handle(query, context) {
    const { head, shown, alerts, sentAt, result } = await fetchShown(query, context, { isArrival: true });
    const arrivals = shown.map(({ departure }) => toArrival(departure, sentAt, query, context));
    return { body: { ...head, arrivals, ...alerts }, ...result };
  },
});

/**
 * Returns the body without its list (`head`), the departures to list (`shown`), the texts of their alerts, the time that
 * `minutes_away` counts from (`sentAt`), and the rest of the result.
 */
async function fetchShown(query: DeparturesQuery, context: FindContext, { isArrival }: { isArrival: boolean }) {
  const { board, listed, notices: ofBoard, pages } = await fetchBoard(query, context, { isArrival });
  const { runs, now, lines } = context;
  const departures = listed.filter((one) => !isCancelled(one) || query.cancelled === 'include');
  const notShown = listed.length - departures.length;
  const leftOut = notShown > 0 ? sumLeftOut([board.leftOut, { cancelled: notShown }]) : board.leftOut;
  const needsCarriages = query.include?.includes('carriages') ?? false;
  const shown = departures.map((departure) => {
    const known = needsCalls(query) || needsCarriages ? board.callsOf(departure) : null;
    const found = needsCarriages
      ? chooseCarriages(departure, known, runs)
      : { calls: known, carriages: null, asOf: Number.POSITIVE_INFINITY };
    return { departure, ...found, arrivesAt: query.to === undefined ? undefined : findCallAt(found.calls, query.to) };
  });
  const asOf = Math.min(...shown.map((one) => one.asOf));
  const freshness = { ...board.freshness, retrievedAt: Math.min(board.freshness.retrievedAt, asOf) };
  const sentAt = now();
  const head = {
    stop_id: query.stop,
    stop_name: board.stopName,
    retrieved_at: formatTimestamp(freshness.retrievedAt),
  };
  const words = isArrival ? ARRIVING : LEAVING;
  const notices = [
    ...(departures.length > 0 ? [] : whyEmpty(query, board.stopModes, notShown, words)),
    ...ofBoard,
    ...lines.noticesOfUnknown(query.routes),
  ];
  const changesAt = nextMinuteAway(departures, sentAt);
  return {
    head,
    shown,
    alerts: alertTexts(departures, query.include),
    sentAt,
    result: { freshness, leftOut, changesAt, boards: [board.origin], notices, pages },
  };
}

/** Finds the board, the calls of its departures, their order on this page, and the cursors of the pages before and after. */
async function fetchBoard(
  query: DeparturesQuery,
  { queryUpstream, boards, now, ids, lines }: FindContext,
  { isArrival }: { isArrival: boolean },
) {
  const { limit, per_route: perRoute } = query;
  const request = { ...toDeparturesRequest(query, now()), ...(isArrival && { isArrival }) };
  const base = request.at ? earliestMoment(request.at) : now();
  const binding = bindingOf(isArrival ? 'arrivals' : 'departures', query.stop);
  const cursor = checkedCursor(query.cursor, { binding, base, ids });
  const isWanted = (departure: Departure) =>
    matches(query, departure) &&
    (request.at !== null || cursor?.direction === 'prev' || canBeCaught(departure, now())) &&
    leavesAfterLead(departure, query.lead, base);
  const showsCancelled = query.cancelled === 'include';
  const first: BoardRequest = {
    queryUpstream,
    request,
    limit,
    perRoute,
    showsCancelled,
    isWanted,
    withCalls: needsCalls(query),
    only: { routes: query.routes },
  };
  const requested = cursor ? toPageRequest(first, cursor, now()) : first;
  const found =
    query.to === undefined
      ? { board: await boards.fetch(requested), notices: [] }
      : await fetchGoingTo(requested, query.to, boards);
  const { board } = found;
  // Not before, because the departure monitor may know a stop that is new.
  if (query.to !== undefined && !cursor && board.departures.length === 0 && !lines.hasStop(query.to)) {
    throw unknownStop(query.to, 'to');
  }
  boards.count(board);
  const pages = pagesOfBoard(board, cursor, {
    binding,
    base,
    ids,
    perRoute,
    hasPrev: query.lead === undefined,
  });
  const listed = cursor ? board.departures.toSorted(compareDepartures) : board.departures;
  const isOver = listed.length === 0 && cursor !== null && perRoute !== undefined;
  const side = cursor?.direction === 'prev' ? 'earlier' : 'further';
  const text = `No ${side} departures: per_route=${perRoute} limits each route and headsign.`;
  const notices = [
    ...(isOver ? [{ text }] : []),
    ...found.notices,
    ...(board.notices ?? []).map((one) => ({ text: one })),
  ];
  return { board, listed, pages, notices };
}

function needsCalls({ to, include }: DeparturesQuery): boolean {
  return to !== undefined || (include?.includes('calls') ?? false);
}

/** The carriages here and at each call, from the feeds if the board has none. `asOf` is the time of the feed. */
function chooseCarriages(departure: Departure, calls: RunCall[] | null, runs: FindContext['runs']) {
  const known = calls?.[0]?.carriages;
  if (known !== undefined) return { carriages: known, calls, asOf: Number.POSITIVE_INFINITY };
  const { plannedAt, stopId } = departure;
  const place = { stopId, name: stopId, platform: null, position: null, ids: [stopId], occupancy: null };
  const here = { ...place, arrival: null, departure: { plannedAt, realtimeAt: null }, isCancelled: false };
  const view = runs.findRide(departure, calls ?? [here]);
  const carriagesOf = (index: number) => view?.calls[index]?.carriages ?? null;
  return {
    carriages: carriagesOf(0),
    calls: calls?.map((call, index) => ({ ...call, carriages: carriagesOf(index) })) ?? null,
    asOf: view?.asOf ?? Number.POSITIVE_INFINITY,
  };
}

const LEAVING = { all: 'departures', one: 'leaves', many: 'leave' };
const ARRIVING = { all: 'arrivals', one: 'arrives', many: 'arrive' };

/**
 * Says why a list is empty. `notShown` of the departures or arrivals are cancelled. Further pages give no reason that earlier
 * pages could contradict.
 */
function whyEmpty(
  { modes, cursor }: DeparturesQuery,
  stopModes: readonly Mode[],
  notShown: number,
  { all, one, many }: typeof LEAVING,
): Notice[] {
  const notices: Notice[] = [];
  if (notShown > 0) {
    const text = `All ${all} found are cancelled and left out by default. To list them: cancelled=include.`;
    notices.push({ text, defaultOf: 'cancelled' });
  }
  const others = stopModes.filter((mode) => !modes.includes(mode));
  const theyStop =
    others.length === 0 ? `Others may ${many}` : `${nameModes(others)} ${others.length === 1 ? one : many}`;
  if (cursor === undefined && (others.length > 0 || stopModes.length === 0)) {
    const text = `By default only buses are listed. ${theyStop} here: modes=all.`;
    notices.push({ text, defaultOf: 'modes' });
  }
  return notices;
}

function matches({ modes, routes }: DeparturesQuery, departure: Departure): boolean {
  return modes.includes(departure.mode) && (routes === undefined || isNamed(routes, departure));
}

function leavesAfterLead(departure: Departure, lead: number | undefined, from: number): boolean {
  return lead === undefined || leavesAt(departure) >= from + lead * MINUTE_MS;
}

function canBeCaught(departure: Departure, now: number): boolean {
  return leavesAt(departure) >= now - GRACE_MS;
}
