import { PLANS } from '#src/access/plan.ts';
import { sleep } from '#src/clock.ts';
import type { Ask } from '#src/efa/ask.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { CheckQueue } from '#src/nearby/check-queue.ts';
import { findLiveStops, limitCalls } from '#src/nearby/live-stops.ts';
import { checkStop, learnFromDepartures, Verdicts } from '#src/nearby/verdict.ts';
import type { Freshness } from '#src/transit/freshness.ts';
import { type Protection, protectUpstream } from '#src/upstream/protection.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { createRandom, HOUR_MS, type Plan, type Request } from './demand.ts';
import { openLiveDepartures } from './live-departures.ts';
import { createAuthority, stopId, stopsNear } from './network.ts';
import { createTimetableAuthority } from './timetable-authority.ts';

/** `fresh`: within its window; `stretched`: within the stretched window; `stale`: beyond it; `refused`: 503. */
export type Outcome = 'fresh' | 'stretched' | 'stale' | 'refused';

export interface Answered {
  at: number;
  kind: Request['kind'];
  plan: Plan;
  outcome: Outcome;
  /** In milliseconds; null for a refused request. */
  age: number | null;
  /** Whether the answer calls a departure live; false on days without feeds. */
  isLive: boolean;
  /** Whether a board has fewer departures than were asked for; false on days without feeds. */
  isShort: boolean;
}

export interface Day {
  answered: Answered[];
  /** Moments of the calls since the beginning of the day. */
  calls: number[];
  /** How many of them polled a feed. */
  polls: number;
  /** How many boards came from where; empty on days without feeds. */
  boardSources: ReadonlyMap<string, number>;
  /** Moments at which a background check was refused because calls were scarce. */
  checksGivenUp: number[];
  counts: Protection['counts'];
}

const MIDNIGHT = Date.UTC(2026, 3, 15);
/** The same number as in `nearby/operation.ts`. */
const CALLS_FOR_CHECKS = 8;
const LIMITS = { rps: 5, dailyBudget: 60_000 };
const silent = { info() {}, warn() {}, error() {} };

/**
 * Plays the demand on a simulated clock through the cache, single flight, budget and verdicts of the service, and on a
 * day with feeds through its poller, timelines and overlay. Requests of the evening before are played and not counted.
 */
export async function playDay(
  demand: readonly Request[],
  stops: number,
  options: { hasFeeds?: boolean; onHour?: (hour: number, answered: readonly Answered[]) => void } = {},
): Promise<Day> {
  const { hasFeeds = false, onHour } = options;
  const clock = createSimulatedClock(MIDNIGHT + Math.min(0, demand[0]?.at ?? 0));
  const now = () => new Date(clock.now());
  const timetable = hasFeeds ? createTimetableAuthority(clock, createRandom(1), stops) : null;
  const authority = timetable ?? createAuthority(clock, createRandom(1));
  const protection = protectUpstream({ asks: [authority.ask], limits: LIMITS, log: silent, clock });
  const verdicts = new Verdicts(now);
  const askAuthority = learnFromDepartures(protection.ask, verdicts);
  const askInBackground: Ask = (question) => askAuthority(question, { priority: 'background' });
  const checkQueue = new CheckQueue({
    ask: askAuthority,
    verdicts,
    now,
    sleep: (ms) => sleep(clock, ms),
    log: silent,
  });
  const liveDepartures =
    timetable && openLiveDepartures({ ask: askAuthority, authority: timetable, protection, clock });
  const freshMs = liveDepartures ? { ...FRESH_MS, departures: LIVE_FRESH_MS } : FRESH_MS;
  const answered: Answered[] = [];
  const checksGivenUp: number[] = [];

  async function ask(request: Request): Promise<{ freshness: Freshness; isLive?: boolean; isShort?: boolean }> {
    const options = { priority: PLANS[request.plan].priority };
    if (request.kind === 'departures' && liveDepartures) return liveDepartures.find(request.stop, options.priority);
    if (request.kind === 'departures') {
      const question = { kind: 'departureMonitor', stopId: stopId(request.stop), modes: ['bus'], at: null } as const;
      const { freshness } = await askAuthority(question, options);
      return { freshness: freshness as Freshness };
    }
    if (request.kind === 'trips') {
      const ends = { from: stopId(request.from), to: stopId(request.to) };
      const { freshness } = await askAuthority({ kind: 'trip', ...ends, at: null, isArrival: false }, options);
      return { freshness: freshness as Freshness };
    }
    const place = { lat: -30 - request.place / 100, lng: 150, radiusMetres: 500 };
    const { freshness } = await askAuthority({ kind: 'coord', ...place }, options);
    const candidates = stopsNear(request.place, stops).map((stop) => ({
      stop_id: stopId(stop),
      name: '',
      distance_metres: 0,
      lat: null,
      lng: null,
      modes: [],
      routes: [],
    }));
    const limited = limitCalls(askInBackground, CALLS_FOR_CHECKS);
    const live = await findLiveStops(
      candidates,
      { modes: ['bus'], limit: 10 },
      {
        find: (stopId) => verdicts.find(stopId),
        check: (stop) => checkStop(limited.ask, verdicts, stop, now()),
        mayCheck: () => limited.callsLeft() > 0,
      },
    );
    checkQueue.add(live.unchecked);
    if (live.unchecked.length > 0 && limited.callsLeft() > 0) checksGivenUp.push(clock.now() - MIDNIGHT);
    return { freshness: freshness as Freshness };
  }

  async function play(request: Request): Promise<void> {
    const { kind, plan } = request;
    try {
      const { freshness, isLive = false, isShort = false } = await ask(request);
      const { retrievedAt, freshUntil, shortage } = freshness;
      const age = Math.max(0, clock.now() - retrievedAt);
      const isStretched = freshUntil - retrievedAt > freshMs[kind] && age > freshMs[kind];
      const outcome = shortage !== null ? 'stale' : isStretched ? 'stretched' : 'fresh';
      answered.push({ at: clock.now() - MIDNIGHT, kind, plan, outcome, age, isLive, isShort });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      answered.push({
        at: clock.now() - MIDNIGHT,
        kind,
        plan,
        outcome: 'refused',
        age: null,
        isLive: false,
        isShort: false,
      });
    }
  }

  const playing: Promise<void>[] = [];
  let hour = 0;
  for (const request of demand) {
    if (request.at >= (hour + 1) * HOUR_MS) {
      hour = Math.floor(request.at / HOUR_MS);
      onHour?.(hour, answered);
    }
    await clock.advanceTo(MIDNIGHT + request.at);
    playing.push(play(request));
  }
  await clock.advance(60_000);
  await Promise.all(playing);
  await liveDepartures?.close();
  const ofDay = (moments: readonly number[]) =>
    moments.map((moment) => moment - MIDNIGHT).filter((moment) => moment >= 0);
  return {
    answered: answered.filter(({ at }) => at >= 0),
    calls: ofDay(authority.calls),
    polls: ofDay(timetable?.polls ?? []).length,
    boardSources: liveDepartures?.sources ?? new Map(),
    checksGivenUp,
    counts: protection.counts,
  };
}

/** With feeds, what is live is not to be older. */
const LIVE_FRESH_MS = 45_000;
const FRESH_MS = { departures: 15_000, trips: 30_000, nearby: 6 * 3_600_000 };
