import { sleep, systemClock } from '#src/core/clock.ts';
import type { DelayingProxy } from '#test/support/delaying-proxy.ts';
import type { TestRedis } from '#test/support/redis.ts';
import type { Instance, Instances } from './instances.ts';

export interface Scene {
  redis: TestRedis;
  /** Stands between the instances and Redis. */
  proxy: DelayingProxy;
  instances: Instances;
}

const LATE_MS = 1000;
export const randomPause = (mostMs: number) => sleep(systemClock, Math.random() * mostMs);

/** The faults; each promise resolves when its fault is over. */
export const FAULTS = {
  async 'Redis freezes'({ redis }: Scene) {
    redis.signal('SIGSTOP');
    await randomPause(1000);
    redis.signal('SIGCONT');
  },
  async 'Redis is killed'({ redis }: Scene) {
    await redis.kill();
    await randomPause(500);
    await redis.restart();
  },
  async 'connections to Redis break'({ proxy }: Scene) {
    proxy.cut();
  },
  async 'connections to Redis break, and what was on its way arrives a second later'({ proxy }: Scene) {
    const { roundTripMs } = proxy;
    proxy.roundTripMs = 2 * LATE_MS;
    await randomPause(500);
    proxy.cut();
    proxy.roundTripMs = roundTripMs;
    await sleep(systemClock, LATE_MS);
  },
  async 'an instance freezes'({ instances }: Scene) {
    const instance = anyOf(instances);
    instance.process.kill('SIGSTOP');
    await randomPause(1500);
    instance.process.kill('SIGCONT');
  },
  async 'an instance is killed'({ instances }: Scene) {
    await instances.kill(anyOf(instances));
    await instances.startAnother();
  },
  async 'an instance is stopped'({ instances }: Scene) {
    await instances.stop(anyOf(instances));
    await instances.startAnother();
  },
  async 'an instance is killed while Redis is frozen'({ redis, instances }: Scene) {
    redis.signal('SIGSTOP');
    await randomPause(500);
    await instances.kill(anyOf(instances));
    redis.signal('SIGCONT');
    await instances.startAnother();
  },
};

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

function anyOf({ running }: Instances): Instance {
  return running[Math.floor(Math.random() * running.length)] as Instance;
}
