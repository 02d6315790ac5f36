import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Death } from './history.ts';

export interface Instance {
  /** Differs from that of the process that takes its place. */
  name: string;
  port: number;
  process: ChildProcess;
}

/** Instances of the service on one Redis, which are frozen, killed, stopped and replaced. */
export interface Instances {
  running: Instance[];
  deaths: Death[];
  /** Redis or the instance is in trouble until `end` is called; without an instance, all of them are. */
  trouble(instance?: Instance): { end(): void };
  kill(instance: Instance): Promise<void>;
  /** As SIGTERM does: what is pending is sent to Redis first. */
  stop(instance: Instance): Promise<void>;
  startAnother(): Promise<void>;
}

const PROGRAM = join(import.meta.dirname, '..', 'admitting-process.ts');
/** After an outage an instance finds Redis again, and tells it what is pending, within so long. */
const RECOVERY_MS = 2000;

interface Trouble {
  instance: Instance | undefined;
  from: number;
  to: number;
}

export function createInstances(redisUrl: string): Instances {
  const troubles: Trouble[] = [];
  let started = 0;

  /** Since when the instance may have counts that Redis does not know; null when it has none. */
  function awaySince(instance: Instance, now: number): number | null {
    let since: number | null = null;
    for (const { instance: concerned, from, to } of troubles.toReversed()) {
      if (concerned && concerned !== instance) continue;
      if (to + RECOVERY_MS >= (since ?? now)) since = Math.min(from, since ?? from);
    }
    return since;
  }

  function noteDeath(instance: Instance): void {
    const at = performance.now();
    instances.deaths.push({ instance: instance.name, at, awaySince: awaySince(instance, at) });
  }

  function leave(instance: Instance): void {
    instances.running = instances.running.filter((other) => other !== instance);
  }

  const instances: Instances = {
    running: [],
    deaths: [],
    trouble(instance) {
      const trouble: Trouble = { instance, from: performance.now(), to: Number.POSITIVE_INFINITY };
      troubles.push(trouble);
      return {
        end() {
          trouble.to = performance.now();
        },
      };
    },
    async kill(instance) {
      const exited = once(instance.process, 'exit');
      instance.process.kill('SIGKILL');
      await exited;
      noteDeath(instance);
      leave(instance);
    },
    async stop(instance) {
      const exited = once(instance.process, 'exit');
      leave(instance);
      instance.process.send('stop');
      await exited;
      if (awaySince(instance, performance.now()) !== null) noteDeath(instance);
    },
    async startAnother() {
      const child = fork(PROGRAM, [redisUrl, '']);
      const [{ port }] = (await once(child, 'message')) as [{ port: number }];
      instances.running.push({ name: `${++started}`, port, process: child });
    },
  };
  return instances;
}
