import { BUS, FERRY, METRO, TRAIN } from '../network/network.ts';
import type { PointNode } from '../network/network-index.ts';
import { seedWith, trait } from '../trait.ts';
import { classOf, plannedSeconds, type Run } from './run.ts';

/** Upstream's knowledge of one call of one run at some moment. */
export type CallState =
  | { kind: 'timetable' }
  | {
      kind: 'live';
      estimatedSeconds: number;
      occupancy: Occupancy | undefined;
      isExtraStop: boolean;
      /** The vehicle calls here. */
      point: PointNode;
    }
  | { kind: 'cancelled'; scope: 'trip' | 'departure' };

export type Occupancy = 'MANY_SEATS' | 'FEW_SEATS' | 'STANDING_ONLY';

/* Numbers of a run's traits; `STEP + n` is the one of call n. Number 15 belongs to the feeds. */
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
const LONGEST_HORIZON_SECONDS = 4200;

/** Without a moment, what the timetable says. */
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

/** Whether upstream knows how the run goes. Some runs are never reported. */
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
  return classOf(run) !== BUS || run.startSeconds - nowSeconds <= 3600 * trait(run.seed, TRACKED);
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

/*
 * A run can be altered: cancelled, in whole or at one call; moved to another platform; stopping where it usually does
 * not. An alteration is known as soon as the run is reported.
 */

const CANCELLED_SHARE = 0.02;
const CALL_CANCELLED_SHARE = 0.01;
const EXTRA_SHARE_OF_CANCELLED = 0.4;
const EXTRA_STOP_SHARE = 0.01;
const OMITTED_SHARE_OF_CANCELLED_CALLS = 0.5;

/** Shares of the calls, by product class: trains change their platform, ferries their wharf. */
const MOVED_SHARES: Readonly<Record<number, number>> = { [TRAIN]: 0.004, [FERRY]: 0.03 };
/** Shares of the runs, by product class, whose calls are listed anew whether altered or not. */
const LISTED_ANEW_SHARES: Readonly<Record<number, number>> = { [TRAIN]: 0.18, [METRO]: 0.1, [FERRY]: 0.1 };

/** An extra run leaves so long after the cancelled one that it replaces. */
export const EXTRA_RUN_DELAY_SECONDS = 120;

/** "trip" for a cancelled run; the number of the one call that is left out, never the first or last; else undefined. */
export function cancellationOf(run: Run): 'trip' | number | undefined {
  const fate = trait(run.seed, CANCELLED);
  if (fate < CANCELLED_SHARE) return 'trip';
  const between = run.pattern.offsetSeconds.length - 2;
  if (fate >= CANCELLED_SHARE + CALL_CANCELLED_SHARE || between < 1) return undefined;
  return 1 + Math.floor(trait(run.seed, CANCELLED_CALL) * between);
}

/** Some cancelled runs are replaced by an extra run at the same time. */
export function isReplaced(run: Run): boolean {
  return cancellationOf(run) === 'trip' && trait(run.seed, EXTRA) < EXTRA_SHARE_OF_CANCELLED;
}

/** A train that stops where it usually does not. Upstream then names its platform by the internal code. */
export function isExtraStop(run: Run, call: number): boolean {
  return classOf(run) === TRAIN && trait(seedWith(run.seed, call), EXTRA_STOP) < EXTRA_STOP_SHARE;
}

/** The vehicle calls at the planned point, or at another point of the same stop where vehicles of its mode call. */
export function actualPoint(run: Run, call: number): PointNode {
  const planned = run.pattern.points[call] as PointNode;
  const share = trait(seedWith(run.seed, call), MOVED) / (MOVED_SHARES[classOf(run)] ?? 0);
  if (!(share < 1) || isExtraStop(run, call) || call === run.pattern.points.length - 1) return planned;
  const others = planned.home.points.filter(
    (point) => point !== planned && point.calls.some(({ pattern }) => pattern.line.product.class === classOf(run)),
  );
  return others[Math.floor(share * others.length)] ?? planned;
}

/**
 * Whether the feed lists the calls of the run anew (REPLACEMENT): trains with an alteration, unless they only skip a
 * stop and say so, and some runs without any.
 */
export function isListedAnew(run: Run): boolean {
  if (trait(run.seed, LISTED_ANEW) < (LISTED_ANEW_SHARES[classOf(run)] ?? 0)) return true;
  if (classOf(run) !== TRAIN) return false;
  const isAltered = (point: PointNode, call: number) => isExtraStop(run, call) || actualPoint(run, call) !== point;
  return isOmitted(run) || run.pattern.points.some(isAltered);
}

/** Whether the list of calls lacks the cancelled one, instead of naming it as skipped. */
export function isOmitted(run: Run): boolean {
  const isCallCancelled = typeof cancellationOf(run) === 'number';
  return classOf(run) === TRAIN && isCallCancelled && trait(run.seed, OMITTED) < OMITTED_SHARE_OF_CANCELLED_CALLS;
}

/** No vehicle is later. */
export const LONGEST_DELAY_SECONDS = 1500;
/** How a vehicle runs is known this long ahead. */
const FORESEEN_SECONDS = 300;

/**
 * How late the vehicle is expected to be at a call. For what lies further ahead than the next five minutes it is
 * expected to stay as late as it will be then, so estimates change while the vehicle is on its way.
 */
export function expectedDelaySeconds(run: Run, call: number, nowSeconds: number): number {
  let foreseen = 0;
  while (foreseen < call && plannedSeconds(run, foreseen + 1) <= nowSeconds + FORESEEN_SECONDS) foreseen++;
  return delaySeconds(run, foreseen);
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
