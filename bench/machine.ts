import { cpus, loadavg, totalmem } from 'node:os';

/** The command, machine and Node version of a measurement. */
export function describeMachine(): string {
  const [cpu] = cpus();
  const load = loadavg()[0]?.toFixed(1);
  return [
    `command: node ${process.argv
      .slice(1)
      .map((path) => path.replace(`${process.cwd()}/`, ''))
      .join(' ')}`,
    `machine: ${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, load ${load}; Node ${process.version}`,
  ].join('\n');
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** Prints whether a claim of the documentation holds here, and makes the process fail if not. */
export function hold(claim: string, holds: boolean): void {
  print(`  ${holds ? 'holds' : 'BROKEN'}: ${claim}`);
  if (!holds) process.exitCode = 1;
}
