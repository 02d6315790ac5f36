import { execFileSync } from 'node:child_process';

/** The processor of the measured servers, and that of Redis and the client. */
export const [SERVERS, OTHERS] = [0, 1];

/**
 * This process and those that it starts from now on run on that processor: without it, the system moves them from one to
 * another, and what a request costs varies by half.
 */
export function runOnProcessor(processor: number): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `${processor}`, `${process.pid}`], {
    stdio: 'ignore',
  });
}
