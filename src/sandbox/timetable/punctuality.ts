import { trait } from '../trait.ts';
import { plannedSeconds, type Run } from './run.ts';

/* Numbers of a run's traits; `STEP + n` is the one of call n. */
const PUNCTUALITY = 6;
const MINUTES_LATE = 7;
const STEP = 100;

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
