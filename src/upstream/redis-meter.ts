import { createHash, randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { Clock } from './clock.ts';
import { createProcessMeter, type Limits, type Meter, RATE_WINDOW_MS, type Taking } from './meter.ts';
import { dayOf, spendLimit, waitForFloor } from './pace.ts';
import type { RedisGuard } from './redis-guard.ts';

/**
 * The budget of one upstream key for all instances. While Redis is away each instance takes its part of it, going on
 * from what was spent when they last knew, and adds what it took when Redis is back.
 */
export function createRedisMeter(options: {
  connection: Redis | Cluster;
  guard: RedisGuard;
  apiKey: string;
  limits: Limits;
  clock: Clock;
}): Meter {
  const { connection, guard, limits, clock } = options;
  const { rps, dailyBudget } = limits;
  const instance = randomUUID();
  const names = keyNames(options.apiKey);
  let instances = 1;
  let unsettled = 0;
  const own = createProcessMeter(limits, clock, () => 1 / instances);

  async function take(floor: number): Promise<Taking> {
    if (guard.isAway()) return takeOwn(floor);
    const now = clock.now();
    const settling = unsettled;
    const answer = await guard.run(
      () =>
        connection.takeUpstreamCall(
          names.starts,
          `${names.spent}:${dayOf(now)}`,
          names.instances,
          names.paused,
          spendLimit(now, dailyBudget, floor),
          rps,
          RATE_WINDOW_MS,
          Math.floor(own.spent()),
          settling,
          instance,
        ),
      null,
    );
    if (answer === null) return takeOwn(floor);

    const [outcome, waitMs, spent, about] = answer;
    unsettled -= settling;
    instances = Math.max(1, about);
    own.follow(spent, outcome === 'taken');
    if (outcome === 'taken') return { isTaken: true };
    if (outcome === 'day') {
      return { isTaken: false, why: 'day', waitMs: waitForFloor(now, dailyBudget, spent, floor) };
    }
    return { isTaken: false, why: outcome, waitMs };
  }

  async function takeOwn(floor: number): Promise<Taking> {
    const taking = await own.take(floor);
    if (taking.isTaken) unsettled++;
    return taking;
  }

  return {
    take,
    pause(ms) {
      own.pause(ms);
      guard.run(() => connection.set(names.paused, '1', 'PX', Math.ceil(ms)), null);
    },
    reserveFill: own.reserveFill,
  };
}

/** By a hash of the upstream key: the key itself is a secret. All of one key on one node of a cluster. */
function keyNames(apiKey: string) {
  const prefix = `{tis:budget:${createHash('sha256').update(apiKey).digest('hex').slice(0, 16)}}`;
  return {
    starts: `${prefix}:starts`,
    spent: `${prefix}:spent`,
    instances: `${prefix}:instances`,
    paused: `${prefix}:paused`,
  };
}
