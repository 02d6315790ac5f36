import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';

/** The processor of the measured servers, and that of the client, upstream and Redis. */
export const [SERVERS, OTHERS] = [0, 1];

/**
 * Pins this process and its future children to one processor. Otherwise the system moves them around, and the cost of a request
 * varies by half.
 */
export function runOnProcessor(processor: number): void {
  assign(`${processor}`, process.pid);
}

/** Lets the process use all processors again, for example so that V8 collects garbage beside its main thread. */
export function giveAllProcessors(pid: number): void {
  assign(`0-${cpus().length - 1}`, pid);
}

function assign(list: string, pid: number): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', list, `${pid}`], { stdio: 'ignore' });
}
