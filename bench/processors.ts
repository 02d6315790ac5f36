import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';

/** The processor of the measured servers, and that of the client, the authority and Redis. */
export const [SERVERS, OTHERS] = [0, 1];

/**
 * This process and those that it starts from now on run on that processor: without it, the system moves them from one to
 * another, and what a request costs varies by half.
 */
export function runOnProcessor(processor: number): void {
  assign(`${processor}`, process.pid);
}

/** From now on the process has all processors, for instance so that V8 collects garbage beside its main thread. */
export function giveAllProcessors(pid: number): void {
  assign(`0-${cpus().length - 1}`, pid);
}

function assign(list: string, pid: number): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', list, `${pid}`], { stdio: 'ignore' });
}
