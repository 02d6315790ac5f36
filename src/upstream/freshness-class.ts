import type { Question } from './question-key.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * For how long an answer is fresh and, on top of that, for how long it may be served while a fresh one cannot be had
 * (the two numbers of `Cache-Control: max-age, stale-if-error`).
 */
export const FRESHNESS_CLASSES = {
  departuresNow: { freshMs: 15 * SECOND, staleMs: 3 * MINUTE },
  departuresAtTime: { freshMs: 60 * SECOND, staleMs: 10 * MINUTE },
  trips: { freshMs: 30 * SECOND, staleMs: 3 * MINUTE },
  nearby: { freshMs: 6 * HOUR, staleMs: 24 * HOUR },
  search: { freshMs: 24 * HOUR, staleMs: 7 * DAY },
} as const satisfies Record<string, { freshMs: number; staleMs: number }>;

export type FreshnessClass = (typeof FRESHNESS_CLASSES)[keyof typeof FRESHNESS_CLASSES];

export function freshnessClassOf(question: Question): FreshnessClass {
  switch (question.kind) {
    case 'departureMonitor':
      return question.at === null || question.isForNow
        ? FRESHNESS_CLASSES.departuresNow
        : FRESHNESS_CLASSES.departuresAtTime;
    case 'tripPlan':
      return FRESHNESS_CLASSES.trips;
    case 'coordSearch':
      return FRESHNESS_CLASSES.nearby;
    case 'stopFinder':
      return FRESHNESS_CLASSES.search;
  }
}

/** `stretch` is 1 to 4: the scarcer calls are, the longer an answer has to do. */
export function freshUntil(retrievedAt: number, { freshMs }: FreshnessClass, stretch: number): number {
  return retrievedAt + freshMs * stretch;
}

export function staleUntil(retrievedAt: number, { freshMs, staleMs }: FreshnessClass): number {
  return retrievedAt + freshMs + staleMs;
}
