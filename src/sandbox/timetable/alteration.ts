import type { PointNode } from '../network/network-index.ts';
import { seedWith, trait } from '../trait.ts';
import type { Run } from './run.ts';

/*
 * What is altered in a run: cancelled, in whole or at one call; moved to another platform; stopping where it usually
 * does not. An alteration is known as soon as the run is reported (see realtime.ts).
 */

/* Numbers of a run's traits. */
const CANCELLED = 3;
const CANCELLED_CALL = 4;
const EXTRA = 5;
const EXTRA_STOP = 10;
const MOVED = 11;
const OMITTED = 13;
const LISTED_ANEW = 14;

const CANCELLED_SHARE = 0.02;
const CALL_CANCELLED_SHARE = 0.01;
const EXTRA_SHARE_OF_CANCELLED = 0.4;
const EXTRA_STOP_SHARE = 0.01;
const OMITTED_SHARE_OF_CANCELLED_CALLS = 0.5;

const TRAIN = 1;
/** Of the calls, by product class: trains change their platform, ferries their wharf. */
const MOVED_SHARES: Readonly<Record<number, number>> = { [TRAIN]: 0.004, 9: 0.03 };
/** Of the runs, by product class: those whose calls are listed anew whether altered or not. */
const LISTED_ANEW_SHARES: Readonly<Record<number, number>> = { [TRAIN]: 0.18, 2: 0.1, 9: 0.1 };

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

/** A train that stops where it usually does not. The authority then names its platform by the internal code. */
export function isExtraStop(run: Run, call: number): boolean {
  return classOf(run) === TRAIN && trait(seedWith(run.seed, call), EXTRA_STOP) < EXTRA_STOP_SHARE;
}

/** Where the vehicle calls: the planned point, or another point of the same stop where vehicles of its mode call. */
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

function classOf({ pattern }: Run): number {
  return pattern.line.product.class;
}
