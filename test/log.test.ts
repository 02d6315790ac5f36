import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

function run(script: string): string[] {
  const imported = `import { openLog } from '#src/server/log.ts'; const log = openLog('info'); ${script}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', imported], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).msg);
}

it('a process that exits has written all lines, the many of the last moment among them', () => {
  const written = run(`for (let n = 0; n < 1000; n++) log.info(String(n)); process.exit(1);`);
  // Lines that were being written in the background may come after those that are written at the exit.
  expect(written.map(Number).sort((one, other) => one - other)).toEqual(Array.from({ length: 1000 }, (_, n) => n));
});

it('a process that has nothing left to do has written all lines', () => {
  expect(run(`log.info('first'); log.info('last');`)).toEqual(['first', 'last']);
});

it('a process that ends with an error that nobody caught has written all lines', () => {
  expect(run(`log.info('before'); log.fatal('fatal'); throw new Error('uncaught');`)).toEqual(['before', 'fatal']);
});

it('a line waits for others for a moment only', () => {
  expect(run(`log.info('alone'); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1000);`)).toEqual(['alone']);
});
