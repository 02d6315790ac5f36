import type { PointNode } from '../network/network-index.ts';
import { seedWith, trait } from '../trait.ts';
import { actualPoint, cancellationOf, isExtraStop } from './alteration.ts';
import { expectedDelaySeconds } from './punctuality.ts';
import { plannedSeconds, type Run } from './run.ts';

/** What the authority knows at some moment about one call of one run. */
export type CallState =
  | { kind: 'timetable' }
  | {
      kind: 'live';
      estimatedSeconds: number;
      occupancy: Occupancy | undefined;
      isExtraStop: boolean;
      /** Where the vehicle calls. */
      point: PointNode;
    }
  | { kind: 'cancelled'; scope: 'trip' | 'departure' };

export type Occupancy = 'MANY_SEATS' | 'FEW_SEATS' | 'STANDING_ONLY';

/* Numbers of a run's traits. */
const MONITORED = 1;
const HORIZON = 2;
const COUNTED = 8;
const CROWDING = 9;
const TRACKED = 12;

const BUS = 5;
const TIMETABLE_ONLY_SHARE = 0.12;
const ACTUALS_KEPT_SECONDS = 3600;
/** A vehicle is reported at most this long before it leaves its first call. */
const LONGEST_HORIZON_SECONDS = 4200;

export function callState(run: Run, call: number, nowSeconds: number): CallState {
  const isKept = nowSeconds - plannedSeconds(run, call) <= ACTUALS_KEPT_SECONDS;
  if (!isKept || !isReported(run, nowSeconds)) return { kind: 'timetable' };
  const cancelled = cancellationOf(run);
  if (cancelled === 'trip') return { kind: 'cancelled', scope: 'trip' };
  if (cancelled === call) return { kind: 'cancelled', scope: 'departure' };
  if (!isTracked(run, nowSeconds)) return { kind: 'timetable' };
  return {
    kind: 'live',
    estimatedSeconds: plannedSeconds(run, call) + expectedDelaySeconds(run, call, nowSeconds),
    occupancy: occupancyOf(run, call),
    isExtraStop: isExtraStop(run, call),
    point: actualPoint(run, call),
  };
}

/** Whether the authority knows how the run goes. Some runs are never reported. */
export function isReported(run: Run, nowSeconds: number): boolean {
  return trait(run.seed, MONITORED) >= TIMETABLE_ONLY_SHARE && isAhead(run, nowSeconds);
}

/** Whether the run is near enough to be reported: 60 to 70 minutes before it leaves its first call. */
export function isAhead(run: Run, nowSeconds: number): boolean {
  const horizonSeconds = 3600 + (LONGEST_HORIZON_SECONDS - 3600) * trait(run.seed, HORIZON);
  return run.pattern.line.monitored && run.startSeconds - nowSeconds <= horizonSeconds;
}

/** Buses are tracked only when a vehicle has taken up the run, in the last hour before it starts. */
export function isTracked(run: Run, nowSeconds: number): boolean {
  const isBus = run.pattern.line.product.class === BUS;
  return !isBus || run.startSeconds - nowSeconds <= 3600 * trait(run.seed, TRACKED);
}

/** Whether the run is already known to be cancelled, in whole or at one call. Journeys do not use such runs. */
export function isKnownToBeCut(run: Run, nowSeconds: number): boolean {
  return cancellationOf(run) !== undefined && isReported(run, nowSeconds);
}

/** Four vehicles in ten count their passengers; crowding changes every four calls. */
export function occupancyOf(run: Run, call: number): Occupancy | undefined {
  if (trait(run.seed, COUNTED) > 0.4) return undefined;
  const crowding = 0.8 * trait(run.seed, CROWDING) + 0.2 * trait(seedWith(run.seed, Math.floor(call / 4)), CROWDING);
  if (crowding < 0.7) return 'MANY_SEATS';
  return crowding < 0.92 ? 'FEW_SEATS' : 'STANDING_ONLY';
}
