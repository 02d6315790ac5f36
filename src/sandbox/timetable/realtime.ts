import { seedWith, trait } from '../trait.ts';
import { plannedSeconds, type Run } from './run.ts';

/** What the authority knows at some moment about one call of one run. */
export type CallState =
  | { kind: 'timetable' }
  | { kind: 'live'; estimatedSeconds: number; occupancy: Occupancy | undefined; isExtraStop: boolean }
  | { kind: 'cancelled'; scope: 'trip' | 'departure' };

export type Occupancy = 'MANY_SEATS' | 'FEW_SEATS' | 'STANDING_ONLY';

/* Numbers of a run's traits; `STEP + n` is the one of call n. */
const MONITORED = 1;
const HORIZON = 2;
const CANCELLED = 3;
const CANCELLED_CALL = 4;
const EXTRA = 5;
const PUNCTUALITY = 6;
const MINUTES_LATE = 7;
const COUNTED = 8;
const CROWDING = 9;
const EXTRA_STOP = 10;
const STEP = 100;

const TIMETABLE_ONLY_SHARE = 0.12;
const CANCELLED_SHARE = 0.02;
const CALL_CANCELLED_SHARE = 0.01;
const EXTRA_SHARE_OF_CANCELLED = 0.4;
const EXTRA_STOP_SHARE = 0.01;
const ACTUALS_KEPT_SECONDS = 3600;
/** No vehicle is later. */
export const LONGEST_DELAY_SECONDS = 1500;

export function callState(run: Run, call: number, nowSeconds: number): CallState {
  if (!isReported(run, plannedSeconds(run, call), nowSeconds)) return { kind: 'timetable' };
  const cancelled = cancellationOf(run);
  if (cancelled === 'trip') return { kind: 'cancelled', scope: 'trip' };
  if (cancelled === call) return { kind: 'cancelled', scope: 'departure' };
  return {
    kind: 'live',
    estimatedSeconds: plannedSeconds(run, call) + delaySeconds(run, call),
    occupancy: occupancyOf(run, call),
    isExtraStop: isExtraStop(run, call),
  };
}

/** Vehicles report from 60 to 90 minutes ahead, some never; reports are kept for an hour afterwards. */
function isReported(run: Run, atSeconds: number, nowSeconds: number): boolean {
  if (!run.pattern.line.monitored || trait(run.seed, MONITORED) < TIMETABLE_ONLY_SHARE) return false;
  const horizonSeconds = 3600 + 1800 * trait(run.seed, HORIZON);
  return atSeconds - nowSeconds <= horizonSeconds && nowSeconds - atSeconds <= ACTUALS_KEPT_SECONDS;
}

/** "trip" for a cancelled run; the number of the one call that is left out, never the first or last; else undefined. */
export function cancellationOf(run: Run): 'trip' | number | undefined {
  const fate = trait(run.seed, CANCELLED);
  if (fate < CANCELLED_SHARE) return 'trip';
  const between = run.pattern.offsetSeconds.length - 2;
  if (fate >= CANCELLED_SHARE + CALL_CANCELLED_SHARE || between < 1) return undefined;
  return 1 + Math.floor(trait(run.seed, CANCELLED_CALL) * between);
}

/** Whether the run is already known to be cancelled, in whole or at one call. Journeys do not use such runs. */
export function isKnownToBeCut(run: Run, nowSeconds: number): boolean {
  return cancellationOf(run) !== undefined && isReported(run, run.startSeconds, nowSeconds);
}

/** Some cancelled runs are replaced by an extra run at the same time. */
export function isReplaced(run: Run): boolean {
  return cancellationOf(run) === 'trip' && trait(run.seed, EXTRA) < EXTRA_SHARE_OF_CANCELLED;
}

/**
 * How late the vehicle is at a call; negative when early. Vehicles never leave their first call early. A delay shrinks
 * by at most half of the planned time between two calls, so a vehicle never departs before it left the call before.
 */
export function delaySeconds(run: Run, call: number): number {
  const tendency = tendencySeconds(run);
  const offsets = run.pattern.offsetSeconds;
  let delay = Math.max(0, tendency);
  for (let i = 1; i <= call; i++) {
    const gap = (offsets[i] ?? 0) - (offsets[i - 1] ?? 0);
    const wish = 6 * Math.round(4 * trait(run.seed, STEP + i) - 1.5) + (delay > tendency ? -6 : 0);
    const shortest = -6 * Math.floor(gap / 12);
    delay = Math.max(delay + Math.max(wish, shortest), -90);
  }
  return delay;
}

/** About 30 % on time, 10 % early, 46 % up to 3 minutes late, 10 % up to 7 minutes, 4 % up to 17 minutes. */
function tendencySeconds(run: Run): number {
  const punctuality = trait(run.seed, PUNCTUALITY);
  const spread = trait(run.seed, MINUTES_LATE);
  if (punctuality < 0.3) return 0;
  if (punctuality < 0.4) return -6 * Math.ceil(spread * 12);
  if (punctuality < 0.86) return 6 * Math.ceil(spread * 30);
  if (punctuality < 0.96) return 180 + 6 * Math.ceil(spread * 40);
  return 420 + 6 * Math.ceil(spread * 100);
}

/** Four vehicles in ten count their passengers; crowding changes every four calls. */
export function occupancyOf(run: Run, call: number): Occupancy | undefined {
  if (trait(run.seed, COUNTED) > 0.4) return undefined;
  const crowding = 0.8 * trait(run.seed, CROWDING) + 0.2 * trait(seedWith(run.seed, Math.floor(call / 4)), CROWDING);
  if (crowding < 0.7) return 'MANY_SEATS';
  return crowding < 0.92 ? 'FEW_SEATS' : 'STANDING_ONLY';
}

/** A train that stops where it usually does not. The authority then names its platform by the internal code. */
export function isExtraStop(run: Run, call: number): boolean {
  return run.pattern.line.product.class === 1 && trait(seedWith(run.seed, call), EXTRA_STOP) < EXTRA_STOP_SHARE;
}
