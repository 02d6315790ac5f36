import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Ending } from './history.ts';

export interface Instance {
  /** Differs from that of the process that takes its place. */
  name: string;
  port: number;
  process: ChildProcess;
}

/** Instances of the service on one Redis, which are frozen, killed, stopped and replaced. */
export interface Instances {
  running: Instance[];
  endings: Ending[];
  kill(instance: Instance): Promise<void>;
  /** Stops it as SIGTERM does: what is pending is sent to Redis first. */
  stop(instance: Instance): Promise<void>;
  startAnother(): Promise<void>;
}

const PROGRAM = join(import.meta.dirname, '..', 'admitting-process.ts');

export function createInstances(redisUrl: string): Instances {
  let started = 0;

  async function end({ name, process }: Instance, how: 'die' | 'stop'): Promise<void> {
    const exited = once(process, 'exit');
    const reported = once(process, 'message') as Promise<[Omit<Ending, 'instance'>]>;
    process.send(how);
    const [ending] = await reported;
    instances.endings.push({ instance: name, ...ending });
    await exited;
  }

  function leave(instance: Instance): void {
    instances.running = instances.running.filter((other) => other !== instance);
  }

  const instances: Instances = {
    running: [],
    endings: [],
    async kill(instance) {
      await end(instance, 'die');
      leave(instance);
    },
    async stop(instance) {
      leave(instance);
      await end(instance, 'stop');
    },
    async startAnother() {
      const child = fork(PROGRAM, [redisUrl, '']);
      const [{ port }] = (await once(child, 'message')) as [{ port: number }];
      instances.running.push({ name: `${++started}`, port, process: child });
    },
  };
  return instances;
}
