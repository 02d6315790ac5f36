import { PLANS } from '#src/access/plan.ts';
import { DAY_MS } from '#src/core/clock.ts';
import type { CallUpstream, QueryUpstream } from '#src/efa/query-upstream.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { createOperations } from '#src/operations/all-operations.ts';
import { departuresOperation } from '#src/operations/departures/operation.ts';
import { type Operation, parseQuery } from '#src/operations/operation.ts';
import { createResponses } from '#src/operations/serve.ts';
import { createSources } from '#src/operations/sources.ts';
import { loadBuiltIn } from '#src/stops/file.ts';
import { freshnessOfList, StopRegister } from '#src/stops/register.ts';
import type { Freshness } from '#src/transit/freshness.ts';
import type { Place } from '#src/transit/place.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { ids } from '#test/support/ids.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { HOUR_MS, type Plan, type Request } from './demand.ts';
import { createLiveUpstream, openLive } from './live.ts';
import { createMadeUpUpstream, stopId } from './network.ts';
import { createRandom } from './random.ts';

/** `fresh`: within its freshness window; `stale`: beyond it; `refused`: 503. */
export type Outcome = 'fresh' | 'stale' | 'refused';

export interface Answered {
  at: number;
  kind: Request['kind'];
  plan: Plan;
  outcome: Outcome;
  /** In milliseconds; null for a refused request. */
  age: number | null;
  /** Whether the response has a live departure; set only on days with feeds. */
  isLive: boolean;
}

export interface Day {
  answered: Answered[];
  /** The times of upstream calls since the beginning of the day. */
  calls: number[];
  /** The number of upstream calls of each kind, by day. */
  callsOfKind: ReadonlyMap<string, number>[];
  /** The times when a background check was refused because calls were scarce. */
  checksGivenUp: number[];
  /** The number of feed polls; 0 on days without feeds. */
  polls: number;
  /** The number of uncached boards by origin; empty on days without feeds. */
  boardOrigins: ReadonlyMap<string, number>;
  counts: ReturnType<typeof protectUpstream>['counts'];
}

const MIDNIGHT = Date.UTC(2026, 3, 15);
/** Longer than the simulation takes, because deadlines use real time. */
const DEADLINE_MS = 2 ** 31 - 1;
const LIMITS = { rps: 5, dailyBudget: 60_000 };
const silent = { info() {}, warn() {}, error() {} };

/** Simulates the demand through the cache, single flight and budget of the service; `live` adds its timetable and feeds. */
export async function playDay(
  demand: readonly Request[],
  options: {
    live?: { stops: number; journeys: 'planner' | 'auto'; headerSeconds: number | null } | null;
    onHour?: (hour: number, answered: readonly Answered[]) => void;
  } = {},
): Promise<Day> {
  const clock = createSimulatedClock(MIDNIGHT + Math.min(0, demand[0]?.at ?? 0));
  const now = () => new Date(clock.now());
  const liveUpstream = options.live ? createLiveUpstream(clock, createRandom(1), options.live) : null;
  const madeUpUpstream = liveUpstream ?? createMadeUpUpstream(clock, createRandom(1));
  const callsOfKind: Map<string, number>[] = [];
  const counting: CallUpstream = (request, options) => {
    const day = Math.floor((clock.now() - MIDNIGHT) / DAY_MS);
    if (day < 0) return madeUpUpstream.callUpstream(request, options);
    const counts = callsOfKind[day] ?? new Map<string, number>();
    callsOfKind[day] = counts;
    counts.set(request.kind, (counts.get(request.kind) ?? 0) + 1);
    return madeUpUpstream.callUpstream(request, options);
  };
  const protection = protectUpstream({ callByKey: [counting], limits: LIMITS, log: silent, clock });
  const checksGivenUp: number[] = [];
  const queryUpstream: QueryUpstream = (request, options) =>
    protection.queryUpstream(request, options).catch((error) => {
      const isCheck = options?.priority === 'background';
      if (isCheck && error instanceof ApiError && error.code === 'UPSTREAM_UNAVAILABLE') {
        checksGivenUp.push(clock.now() - MIDNIGHT);
      }
      throw error;
    });
  const live =
    liveUpstream && options.live ? await openLive(liveUpstream, protection, { ...options.live, clock }) : null;
  const { stops = new StopRegister(loadBuiltIn) } = live ?? {};
  const sources = createSources(live ? { queryUpstream, ...live } : { queryUpstream, stops }, () => now().getTime());
  const operations = createOperations({ sources, docsUrl: 'https://example.test/docs' });
  const operationOf = {
    nearby: operations.find(({ id }) => id === 'getNearbyStops') as Operation,
    search: operations.find(({ id }) => id === 'searchStops') as Operation,
  };
  const responses = createResponses({
    sources,
    ids,
    now: () => now().getTime(),
    deadlineMs: DEADLINE_MS,
    log: { ...silent, debug() {} },
  });
  const answered: Answered[] = [];

  async function send(request: Request): Promise<{ freshness: Freshness; isLive?: boolean }> {
    const options = { priority: PLANS[request.plan].priority };
    if (request.kind === 'departures' && live) {
      const query = parseQuery(departuresOperation, { stop: stopId(request.stop), modes: 'all' });
      const { freshness, body } = await responses.get(departuresOperation, query, options);
      return { freshness, isLive: body.bytes.includes('"is_live":true') };
    }
    if (request.kind === 'departures') {
      const sent = { kind: 'departureMonitor', stopId: stopId(request.stop), modes: ['bus'], at: null } as const;
      const { freshness } = await queryUpstream(sent, options);
      return { freshness: freshness as Freshness };
    }
    if (request.kind === 'trips') {
      const { from, to } = request;
      const start = typeof from === 'number' ? stopId(from) : ([from.lat, from.lng] as const);
      const ends = { from: start as Place, to: stopId(to) };
      if (live) {
        const sent = {
          ...ends,
          at: null,
          isArrival: false,
          modes: [],
          isAccessible: false,
          mayBeNone: true,
          cancelled: 'exclude',
        } as const;
        const found = await live.journeys.fetch(sent, { queryUpstream: (one) => queryUpstream(one, options) });
        return { freshness: found.freshness as Freshness };
      }
      const { freshness } = await queryUpstream({ kind: 'trip', ...ends, at: null, isArrival: false }, options);
      return { freshness: freshness as Freshness };
    }
    if (request.kind === 'search' && live) {
      // The list of stops replaces upstream here, because searching names would take most of the simulation.
      const listed = () => ({ freshness: freshnessOfList(stops, clock.now()) });
      return queryUpstream({ kind: 'stopFinder', text: request.text.trim() }, options).then(
        ({ freshness }) => ({ freshness: freshness as Freshness }),
        listed,
      );
    }
    const query =
      request.kind === 'nearby'
        ? { lat: String(request.place.lat), lng: String(request.place.lng) }
        : { q: request.text };
    const operation = operationOf[request.kind];
    const { freshness } = await responses.get(operation, parseQuery(operation, query), options);
    return { freshness };
  }

  async function play(request: Request): Promise<void> {
    const { kind, plan } = request;
    try {
      const { freshness, isLive = false } = await send(request);
      const { retrievedAt, shortage } = freshness;
      const age = Math.max(0, clock.now() - retrievedAt);
      const outcome = shortage === null ? 'fresh' : 'stale';
      answered.push({ at: clock.now() - MIDNIGHT, kind, plan, outcome, age, isLive });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      answered.push({ at: clock.now() - MIDNIGHT, kind, plan, outcome: 'refused', age: null, isLive: false });
    }
  }

  const playing: Promise<void>[] = [];
  let hour = 0;
  for (const request of demand) {
    if (request.at >= (hour + 1) * HOUR_MS) {
      hour = Math.floor(request.at / HOUR_MS);
      options.onHour?.(hour, answered);
    }
    await clock.advanceTo(MIDNIGHT + request.at);
    playing.push(play(request));
  }
  await clock.advance(60_000);
  await Promise.all(playing);
  await live?.close();
  const ofDay = (moments: readonly number[]) =>
    moments.map((moment) => moment - MIDNIGHT).filter((moment) => moment >= 0);
  return {
    answered: answered.filter(({ at }) => at >= 0),
    calls: ofDay(madeUpUpstream.calls),
    callsOfKind,
    checksGivenUp,
    polls: ofDay(liveUpstream?.polls ?? []).length,
    boardOrigins: live?.origins ?? new Map(),
    counts: protection.counts,
  };
}
