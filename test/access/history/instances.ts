import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Ending } from './history.ts';

export interface Instance {
  /** Differs from the name of the process that replaces it. */
  name: string;
  port: number;
  process: ChildProcess;
}

/** Instances of the service on one Redis that are frozen, killed, stopped and replaced. */
export interface Instances {
  running: Instance[];
  endings: Ending[];
  kill(instance: Instance): Promise<void>;
  /** Stops it like SIGTERM: pending counts are first sent to Redis. */
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
