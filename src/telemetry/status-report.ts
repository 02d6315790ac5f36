import { formatTimestamp } from '../transit/time.ts';
import type { OperationSummary, Traffic } from './traffic.ts';

/** State of the layers that protect the authority. */
export interface UpstreamHealth {
  /** 1 is the whole budget, 0 is nothing left for now. */
  budgetLeft: number;
  /** The authority has failed several times in a row and is not asked for a while. */
  isBreakerOpen: boolean;
}

export interface StatusSources {
  /** Paths of the operations. */
  operations: readonly string[];
  traffic: Traffic;
  upstreamHealth?: (() => UpstreamHealth) | undefined;
  isSandbox: boolean;
  now: () => Date;
}

const WINDOWS = [
  { name: '5m', title: 'Last 5 minutes', minutes: 5 },
  { name: '1h', title: 'Last hour', minutes: 60 },
  { name: '24h', title: 'Last 24 hours', minutes: 24 * 60 },
] as const;

export type Report = ReturnType<typeof readReport>;

export function readReport({ operations, traffic, upstreamHealth, isSandbox, now }: StatusSources) {
  const state = upstreamHealth?.() ?? null;
  const health = state && { ...state, budgetLeft: Math.min(1, Math.max(0, state.budgetLeft)) };
  const windows = WINDOWS.map(({ name, title, minutes }) => ({
    name,
    title,
    liveShare: traffic.liveShare(minutes),
    operations: traffic.summarise(minutes, operations),
  }));
  return {
    at: now(),
    isSandbox,
    health,
    lastAnswer: traffic.lastUpstreamAnswer(),
    windows,
    verdict: verdictOf(windows[0]?.operations ?? [], health),
  };
}

/** Read off the last five minutes. */
function verdictOf(operations: readonly OperationSummary[], health: UpstreamHealth | null): 'ok' | 'degraded' | 'down' {
  const answered = operations.reduce((sum, operation) => sum + operation.answered, 0);
  const good = operations.reduce((sum, operation) => sum + operation.answered * (operation.successRate ?? 0), 0);
  if (answered > 0 && good / answered < 0.5) return 'down';
  return health?.isBreakerOpen || (answered > 0 && good / answered < 0.98) ? 'degraded' : 'ok';
}

export function toJson({ at, isSandbox, health, lastAnswer, windows, verdict }: Report) {
  return {
    status: verdict,
    at: formatTimestamp(at),
    source: isSandbox ? 'sandbox' : 'authority',
    upstream: {
      last_good_answer_at: lastAnswer && formatTimestamp(lastAnswer),
      budget_left: health && round(health.budgetLeft, 3),
      breaker: health && (health.isBreakerOpen ? 'open' : 'closed'),
    },
    windows: Object.fromEntries(
      windows.map(({ name, liveShare, operations }) => [
        name,
        {
          live_share: liveShare === null ? null : round(liveShare, 3),
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

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
