import type { CarParkStatus } from '../../carparks/car-parks.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { type LiveReport, liveFeedsJson, shareOf } from '../../realtime/live-report.ts';
import type { TimetableStatus } from '../../timetable/update/keep-current.ts';
import type { PunctualityState } from '../../transit/punctuality.ts';
import { formatTimestamp } from '../../transit/time.ts';
import type { IncidentLog } from './incidents.ts';
import {
  type Bucket,
  liveShareOf,
  minuteOf,
  type OperationSummary,
  QUARTER_MINUTES,
  quarterOf,
  summarise,
  type Traffic,
  timetableShareOf,
  type UpstreamHealth,
} from './traffic.ts';

export interface StatusSources {
  /** Paths of the operations. */
  operations: readonly string[];
  traffic: Traffic;
  upstreamHealth?: (() => UpstreamHealth) | undefined;
  /** Reports this instance's feeds, and its timetable's agreement with the trip planner. */
  live?: (() => LiveReport) | undefined;
  /** Reports the car parks of this instance; absent if they are left out. */
  carParks?: (() => CarParkStatus) | undefined;
  /** Reports the timetable of this instance. */
  timetable?: (() => TimetableStatus) | undefined;
  /** What is recorded of past runs. */
  punctuality?: (() => PunctualityState) | undefined;
  incidents?: { load: IncidentLog['load'] } | undefined;
  isSandbox: boolean;
  now: () => number;
}

const WINDOWS = [
  { name: '5m', title: 'Last 5 minutes', minutes: 5 },
  { name: '1h', title: 'Last hour', minutes: 60 },
  { name: '24h', title: 'Last 24 hours', minutes: 24 * 60 },
] as const;

export type Report = Awaited<ReturnType<typeof loadReport>>;

/** Reports on all instances, or only on this one if `isOwn`. */
export async function loadReport(sources: StatusSources, { isOwn = false } = {}) {
  const { operations, traffic, upstreamHealth, timetable, incidents, isSandbox, now } = sources;
  const [view, record] = await Promise.all([isOwn ? traffic.ownView() : traffic.getView(), incidents?.load() ?? null]);
  const { recent, quarters, lastUpstreamResponse, scope, health: healthOfAll } = view;
  const health = healthOfAll ?? upstreamHealth?.() ?? null;
  const live = sources.live?.() ?? null;
  const windows = WINDOWS.map(({ name, title, minutes }) => {
    const bucket = recent(minutes);
    return {
      name,
      title,
      liveShare: liveShareOf(bucket),
      timetableShare: timetableShareOf(bucket),
      operations: operations.map((operation) => summarise(bucket, operation)),
    };
  });
  return {
    at: now(),
    isSandbox,
    scope,
    health,
    lastResponse: lastUpstreamResponse,
    live,
    timetable: timetable?.() ?? null,
    carParks: sources.carParks?.() ?? null,
    punctuality: sources.punctuality?.() ?? null,
    windows,
    quarters: quartersOf(quarters(), operations, now()),
    ...stateOf(windows[0]?.operations ?? [], { health, live, upstream: nameUpstream(isSandbox) }),
    record,
  };
}

/** Returns the last 24 hours in quarters of an hour, oldest first. */
function quartersOf(newestFirst: readonly Bucket[], operations: readonly string[], now: number) {
  const newest = quarterOf(minuteOf(now));
  return newestFirst
    .map((bucket, index) => {
      const counts = operations.flatMap((operation) => bucket.operations.get(operation) ?? []);
      return {
        from: (newest - index) * QUARTER_MINUTES * MINUTE_MS,
        answered: counts.reduce((sum, { answered }) => sum + answered, 0),
        failed: counts.reduce((sum, { failed }) => sum + failed, 0),
      };
    })
    .reverse();
}

export function nameUpstream(isSandbox: boolean): string {
  return isSandbox ? 'the sandbox' : 'Transport for NSW';
}

/** The share of responses that are no failures, 0 to 1; null without requests. */
export function successOf(operations: readonly OperationSummary[]): number | null {
  const answered = operations.reduce((sum, operation) => sum + operation.answered, 0);
  const good = operations.reduce((sum, operation) => sum + operation.answered * (operation.successRate ?? 0), 0);
  return answered === 0 ? null : good / answered;
}

/** Derives the state from the last five minutes: "idle" without requests. `reason` is null unless it is degraded or down. */
function stateOf(
  operations: readonly OperationSummary[],
  { health, live, upstream }: { health: UpstreamHealth | null; live: LiveReport | null; upstream: string },
): { status: 'ok' | 'degraded' | 'down' | 'idle'; reason: string | null } {
  const success = successOf(operations);
  const degraded = (reason: string) => ({ status: 'degraded' as const, reason });
  if (success !== null && success < 0.5) return { status: 'down', reason: 'most requests fail' };
  if (success !== null && success < 0.98) return degraded('some requests fail');
  if (health?.isBreakerOpen) return degraded(`${upstream} is failing`);
  if (health?.shortage === 'refused') return degraded(`${upstream} refuses calls`);
  if (live && areFeedsLost(live)) return degraded('boards without live times');
  return { status: success === null ? 'idle' : 'ok', reason: null };
}

/** Whether all feeds that were polled are unusable. Few feeds are polled while there are no requests. */
function areFeedsLost({ feeds }: LiveReport): boolean {
  const polled = feeds.filter(({ problem }) => problem !== 'not read yet' && problem !== 'not polled lately');
  return polled.length > 0 && polled.every(({ problem }) => problem !== null);
}

export function toJson(report: Report) {
  const { at, isSandbox, scope, health, lastResponse, live, timetable, carParks, punctuality, windows } = report;
  const { status, reason, record } = report;
  return {
    status,
    reason,
    at: formatTimestamp(at),
    source: isSandbox ? 'sandbox' : 'real',
    scope: scope === 'this instance' ? 'this_instance' : 'all_instances',
    instances: scope === 'this instance' ? 1 : scope.instances,
    upstream: {
      last_good_answer_at: lastResponse && formatTimestamp(lastResponse),
      budget_left: health && round(health.budgetLeft, 3),
      calls_of_the_day: health && (health.shortage ?? 'left'),
      breaker: health && (health.isBreakerOpen ? 'open' : 'closed'),
    },
    incidents_since: record && formatTimestamp(record.since),
    incidents: (record?.incidents ?? [])
      .map(({ from, to, ...state }) => ({
        ...state,
        from: formatTimestamp(from),
        to: to === null ? null : formatTimestamp(to),
      }))
      .reverse(),
    timetable: timetable && timetableJson(timetable, live?.agreement ?? {}),
    live_feeds: live && liveFeedsJson(live, at),
    carparks: carParks && {
      state: carParks.state,
      listed: carParks.listed,
      current: carParks.current,
      calls_left: carParks.callsLeft,
    },
    punctuality: punctuality && {
      recorded_since: punctuality.since === null ? null : formatTimestamp(punctuality.since),
      bytes: punctuality.bytes,
      problem: punctuality.problem,
    },
    windows: Object.fromEntries(
      windows.map(({ name, liveShare, timetableShare, operations }) => [
        name,
        {
          live_share: liveShare === null ? null : round(liveShare, 3),
          timetable_share: timetableShare === null ? null : round(timetableShare, 3),
          operations: Object.fromEntries(
            operations.map(({ operation, answered, successRate, p50Ms, p95Ms }) => [
              operation,
              {
                answered,
                success_rate: successRate === null ? null : round(successRate, 5),
                p50_ms: p50Ms,
                p95_ms: p95Ms,
              },
            ]),
          ),
        },
      ]),
    ),
  };
}

function timetableJson({ mode, importedAt, isUpdating, files }: TimetableStatus, agreement: LiveReport['agreement']) {
  return {
    mode,
    imported_at: importedAt === null ? null : formatTimestamp(importedAt),
    is_updating: isUpdating,
    files: Object.fromEntries(
      files.map(({ id, currentAt, problem, good }) => [
        id,
        {
          first_day: good?.report.firstDay ?? null,
          last_day: good?.report.lastDay ?? null,
          trips: good?.report.trips ?? null,
          imported_at: good && formatTimestamp(good.importedAt),
          up_to_date_at: formatTimestamp(currentAt),
          problem,
        },
      ]),
    ),
    agreement: Object.fromEntries(
      Object.entries(agreement).map(([name, { compared, agreed, isTrusted }]) => [
        name,
        { compared, agreed: shareOf(agreed, compared), trusted: isTrusted },
      ]),
    ),
  };
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
