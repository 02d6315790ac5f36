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
  expect(written.map(Number)).toEqual(Array.from({ length: 1000 }, (_, n) => n));
});

it('a process that exits while all threads are busy has written all lines', () => {
  const busy = `const { pbkdf2 } = await import('node:crypto');
    for (let n = 0; n < 8; n++) pbkdf2('a', 'b', 300_000, 64, 'sha512', () => {});`;
  expect(run(`${busy} log.info('first'); log.info('last'); process.exit(1);`)).toEqual(['first', 'last']);
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
