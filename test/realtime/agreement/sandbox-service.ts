import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { departureResponse } from '#sandbox/responses/departure-response.ts';
import { tripResponse } from '#sandbox/responses/trip-response.ts';
import { Runs } from '#src/boards/runs.ts';
import { monitorBoards } from '#src/boards/source.ts';
import type { CallUpstream, QueryUpstream } from '#src/efa/query-upstream.ts';
import { toRequest } from '#src/efa/request.ts';
import { plannerJourneys } from '#src/journeys/planner/planner.ts';
import { LineCatalogue } from '#src/lines/lines.ts';
import { arrivalsOperation, departuresOperation } from '#src/operations/departures/operation.ts';
import { createFollowOperation } from '#src/operations/follow/operation.ts';
import { parseQuery } from '#src/operations/operation.ts';
import { runOperation } from '#src/operations/runs/operation.ts';
import { createTripsOperation } from '#src/operations/trips/operation.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { ids } from '#test/support/ids.ts';
import { receivedResponse } from '#test/support/received-response.ts';
import { createSandboxFeeds } from '#test/support/sandbox-feeds.ts';
import { importSandbox } from '#test/support/sandbox-timetable.ts';
import { currentOf } from '#test/support/timetable.ts';

const MINUTE_MS = 60_000;
const network = indexNetwork(loadNetwork());
/** 00:00 in Sydney, a Wednesday: the day of these tests. */
export const MIDNIGHT = Date.parse('2026-11-17T13:00:00Z');
let imported: Promise<Timetable> | null = null;

/** Alerts of the network: one of a line, one of a single run, one of a lift elsewhere on the line, and one that has ended. */
const ALERT = {
  title: null,
  kind: 'line',
  category: null,
  cause: null,
  severity: 'normal',
  url: null,
  updatedAt: null,
} as const;
const T1 = [{ route: 'T1', mode: 'train' as const, network: 1 }];
const RUN = { tripId: 'none', route: null, startsAt: null, endsAt: null };
const LIFT = { kind: 'facility', stops: [{ id: '999', parent: null }] } as const;
const ALERTS = [
  {
    ...ALERT,
    text: 'Of the line',
    periods: [],
    stops: [],
    routes: T1,
    runs: [],
    isOnWholeLines: true,
    restrictsWheelchairs: false,
  },
  {
    ...ALERT,
    text: 'Of a run',
    periods: [],
    stops: [],
    routes: T1,
    runs: [RUN],
    isOnWholeLines: false,
    restrictsWheelchairs: false,
  },
  {
    ...ALERT,
    text: 'Of a lift',
    periods: [],
    routes: T1,
    runs: [],
    isOnWholeLines: true,
    restrictsWheelchairs: false,
    ...LIFT,
  },
  {
    ...ALERT,
    text: 'Over',
    periods: [{ from: 0, until: 1 }],
    stops: [],
    routes: T1,
    runs: [],
    isOnWholeLines: true,
    restrictsWheelchairs: false,
  },
];

export type Body = Awaited<ReturnType<typeof departuresOperation.handle>>['body'];

/**
 * Boards and journeys of the sandbox from its trip planner, with the runs of its timetable and feeds, without sockets. Tests move
 * the clock. `layer` wraps upstream.
 */
export async function createSandboxService(layer = (callUpstream: CallUpstream): QueryUpstream => callUpstream) {
  imported ??= importSandbox(network, MIDNIGHT);
  const timetable = await imported;
  let moment = 0;
  let callCount = 0;
  const stops = new StopRegister(noStops);
  const tripsOperation = createTripsOperation({ stops });
  const followOperation = createFollowOperation({ journeys: plannerJourneys(stops), listAlerts: async () => ALERTS });
  const now = () => moment;

  const queryUpstream = layer(async (request) => {
    const seconds = Math.floor(moment / MINUTE_MS) * 60;
    const respond = request.kind === 'trip' ? tripResponse : departureResponse;
    callCount++;
    const response = respond(network, new URLSearchParams(toRequest(request).query), seconds);
    return receivedResponse(request, JSON.parse(JSON.stringify(response)), new Date(moment));
  });

  const feeds = createSandboxFeeds(network, { now, timetable: () => timetable });
  const createRuns = () => new Runs({ now, feeds, timetable: { get: () => timetable } });
  const run = () => Promise.reject(new Error('no other operation is run'));
  const lines = new LineCatalogue(new StopRegister(noStops, { timetable: currentOf(timetable) }));
  const context = { queryUpstream, boards: monitorBoards, runs: createRuns(), lines, now, ids, run };

  async function find(query: Record<string, string>): Promise<Body> {
    return (await departuresOperation.handle(parseQuery(departuresOperation, query), context)).body;
  }

  return {
    /** Stops with a departure during the day. */
    stopIds: network.stops.filter(({ isDecommissioned }) => !isDecommissioned).map(({ id }) => id),
    advanceTo(next: number): void {
      moment = next;
    },
    network,
    async run(runId: string, more: Record<string, string> = {}) {
      const query = parseQuery(runOperation, { run_id: runId, ...more });
      return (await runOperation.handle(query, context)).body;
    },
    async trips(query: Record<string, string>) {
      return (await tripsOperation.handle(parseQuery(tripsOperation, query), context)).body.journeys;
    },
    /** Follows a journey on an instance with an empty cache, and counts the upstream calls. */
    async follow(journeyId: string, more: Record<string, string> = {}) {
      const query = parseQuery(followOperation, { journey_id: journeyId, ...more });
      const before = callCount;
      const { body } = await followOperation.handle(query, { ...context, runs: createRuns() });
      return { ...body, callCount: callCount - before };
    },
    direct: find,
    async arrivals(query: Record<string, string>) {
      return (await arrivalsOperation.handle(parseQuery(arrivalsOperation, query), context)).body.arrivals;
    },
    /** The number of upstream calls so far. */
    callCount: () => callCount,
  };
}
