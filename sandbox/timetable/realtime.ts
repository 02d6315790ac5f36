import { BUS, FERRY, METRO, TRAIN } from '../network/network.ts';
import type { PointNode } from '../network/network-index.ts';
import { seedWith, trait } from '../trait.ts';
import { classOf, plannedSeconds, type Run } from './run.ts';

/** What upstream knows about one call of a run at a given time. */
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

/* Trait numbers of a run; `STEP + n` is the trait number of call n. Numbers from 15 to 99 belong to the feeds. */
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
const MOVED = 11;
const TRACKED = 12;
const OMITTED = 13;
const LISTED_ANEW = 14;
const STEP = 100;

const TIMETABLE_ONLY_SHARE = 0.12;
const ACTUALS_KEPT_SECONDS = 3600;
/** A vehicle is reported at most this long before it leaves its first call. */
const MAX_HORIZON_SECONDS = 4200;

/** The state of a call; without a time, as in the timetable. */
export function callState(run: Run, call: number, nowSeconds: number | undefined): CallState {
  if (nowSeconds === undefined) return { kind: 'timetable' };
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

/** Whether upstream has realtime for the run. Some runs are never reported. */
export function isReported(run: Run, nowSeconds: number): boolean {
  return (trait(run.seed, MONITORED) >= TIMETABLE_ONLY_SHARE || isSuspended(run)) && isAhead(run, nowSeconds);
}

/** Whether the run is close enough to be reported: 60 to 70 minutes before it leaves its first call. */
export function isAhead(run: Run, nowSeconds: number): boolean {
  const horizonSeconds = 3600 + (MAX_HORIZON_SECONDS - 3600) * trait(run.seed, HORIZON);
  return run.pattern.line.monitored && run.startSeconds - nowSeconds <= horizonSeconds;
}

/** Buses are tracked only once a vehicle is assigned to the run, in the last hour before it starts. */
export function isTracked(run: Run, nowSeconds: number): boolean {
  return classOf(run) !== BUS || run.startSeconds - nowSeconds <= 3600 * trait(run.seed, TRACKED);
}

/** Whether the run is already known to be cancelled, entirely or at one call. Journeys do not use such runs. */
export function isKnownToBeCancelled(run: Run, nowSeconds: number): boolean {
  return cancellationOf(run) !== undefined && isReported(run, nowSeconds);
}

/** Four in ten vehicles count their passengers; crowding changes every four calls. */
export function occupancyOf(run: Run, call: number): Occupancy | undefined {
  if (trait(run.seed, COUNTED) > 0.4) return undefined;
  const crowding = 0.8 * trait(run.seed, CROWDING) + 0.2 * trait(seedWith(run.seed, Math.floor(call / 4)), CROWDING);
  if (crowding < 0.7) return 'MANY_SEATS';
  return crowding < 0.92 ? 'FEW_SEATS' : 'STANDING_ONLY';
}

/*
 * A run can be altered: cancelled entirely or at one call, moved to another platform, or given an extra stop. An alteration is
 * known as soon as the run is reported.
 */

const CANCELLED_SHARE = 0.02;
const CALL_CANCELLED_SHARE = 0.01;
const EXTRA_SHARE_OF_CANCELLED = 0.4;
const EXTRA_STOP_SHARE = 0.01;
const OMITTED_SHARE_OF_CANCELLED_CALLS = 0.5;

/** The share of calls that move, by product class: trains change their platform, ferries their wharf. */
const MOVED_SHARES: Readonly<Record<number, number>> = { [TRAIN]: 0.004, [FERRY]: 0.03 };
/** The share of runs, by product class, that have a new list of calls even if nothing is altered. */
const LISTED_ANEW_SHARES: Readonly<Record<number, number>> = { [TRAIN]: 0.18, [METRO]: 0.1, [FERRY]: 0.1 };

/** An extra run leaves this long after the cancelled one that it replaces. */
export const EXTRA_RUN_DELAY_SECONDS = 120;

/** The short name of the line whose runs are all cancelled. */
const SUSPENDED = '507';

function isSuspended({ pattern }: Run): boolean {
  return pattern.line.number === SUSPENDED;
}

/** "trip" if the run is cancelled; the index of a skipped call, never the first or last; else undefined. */
export function cancellationOf(run: Run): 'trip' | number | undefined {
  const cancelTrait = trait(run.seed, CANCELLED);
  if (cancelTrait < CANCELLED_SHARE || isSuspended(run)) return 'trip';
  const between = run.pattern.offsetSeconds.length - 2;
  if (cancelTrait >= CANCELLED_SHARE + CALL_CANCELLED_SHARE || between < 1) return undefined;
  return 1 + Math.floor(trait(run.seed, CANCELLED_CALL) * between);
}

/** Some cancelled runs are replaced by an extra run at the same time. */
export function isReplaced(run: Run): boolean {
  return cancellationOf(run) === 'trip' && trait(run.seed, EXTRA) < EXTRA_SHARE_OF_CANCELLED;
}

/** Whether a train makes an extra stop here. Upstream then uses the internal code as the platform's name. */
export function isExtraStop(run: Run, call: number): boolean {
  return classOf(run) === TRAIN && trait(seedWith(run.seed, call), EXTRA_STOP) < EXTRA_STOP_SHARE;
}

/** Where the vehicle calls: the planned point, or another one of the same stop and mode. */
export function actualPoint(run: Run, call: number): PointNode {
  const planned = run.pattern.points[call] as PointNode;
  const share = trait(seedWith(run.seed, call), MOVED) / (MOVED_SHARES[classOf(run)] ?? 0);
  if (!(share < 1) || isExtraStop(run, call) || call === run.pattern.points.length - 1) return planned;
  const otherPoints = planned.home.points.filter(
    (point) => point !== planned && point.calls.some(({ pattern }) => pattern.line.product.class === classOf(run)),
  );
  return otherPoints[Math.floor(share * otherPoints.length)] ?? planned;
}

/**
 * Whether the feed has a new list of calls for the run (REPLACEMENT): altered trains, unless they only skip a stop and report
 * that, and some unaltered runs.
 */
export function isListedAnew(run: Run): boolean {
  if (trait(run.seed, LISTED_ANEW) < (LISTED_ANEW_SHARES[classOf(run)] ?? 0)) return true;
  if (classOf(run) !== TRAIN) return false;
  const isAltered = (point: PointNode, call: number) => isExtraStop(run, call) || actualPoint(run, call) !== point;
  return isOmitted(run) || run.pattern.points.some(isAltered);
}

/** Whether the new list omits the cancelled call instead of marking it as skipped. */
export function isOmitted(run: Run): boolean {
  const isCallCancelled = typeof cancellationOf(run) === 'number';
  return classOf(run) === TRAIN && isCallCancelled && trait(run.seed, OMITTED) < OMITTED_SHARE_OF_CANCELLED_CALLS;
}

/** The maximum delay of a vehicle. */
export const MAX_DELAY_SECONDS = 1500;
/** Delays are known this far ahead. */
const FORESEEN_SECONDS = 300;

/**
 * The expected delay of the vehicle at a call. Delays are known for the next five minutes and assumed constant after that, so
 * estimates change during the run.
 */
export function expectedDelaySeconds(run: Run, call: number, nowSeconds: number): number {
  let foreseen = 0;
  while (foreseen < call && plannedSeconds(run, foreseen + 1) <= nowSeconds + FORESEEN_SECONDS) foreseen++;
  return delaySeconds(run, foreseen);
}

/**
 * The delay of the vehicle at a call; negative if it is early. Vehicles never leave their first call early. A delay shrinks by
 * at most half of the planned time between two calls, so calls stay in order.
 */
export function delaySeconds(run: Run, call: number): number {
  const tendency = tendencySeconds(run);
  const offsets = run.pattern.offsetSeconds;
  let delay = Math.max(0, tendency);
  for (let i = 1; i <= call; i++) {
    const gap = (offsets[i] ?? 0) - (offsets[i - 1] ?? 0);
    const change = 6 * Math.round(4 * trait(run.seed, STEP + i) - 1.5) + (delay > tendency ? -6 : 0);
    const shortest = -6 * Math.floor(gap / 12);
    delay = Math.max(delay + Math.max(change, shortest), -90);
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
