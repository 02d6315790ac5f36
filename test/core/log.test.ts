import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

async function run(script: string): Promise<string[]> {
  return (await runForLines(script)).map((line) => JSON.parse(line).msg);
}

function start(script: string) {
  const imported = `import { openLog } from '#src/core/log.ts'; const log = openLog('info'); ${script}`;
  return spawn(process.execPath, ['--input-type=module', '--eval', imported], { stdio: ['ignore', 'pipe', 'ignore'] });
}

async function runForLines(script: string): Promise<string[]> {
  return (await text(start(script).stdout)).split('\n').slice(0, -1);
}

it('a process that exits has written all log lines, even if many come last', async () => {
  const written = await run(`for (let n = 0; n < 1000; n++) log.info(String(n)); process.exit(1);`);
  expect(written.map(Number)).toEqual(Array.from({ length: 1000 }, (_, n) => n));
});

it('a process with nothing left to do has written all log lines, even on a busy machine', async () => {
  const processes = Array.from({ length: 12 }, () => run(`log.info('first'); log.info('last');`));
  for (const written of await Promise.all(processes)) expect(written).toEqual(['first', 'last']);
});

it('a process that ends with an uncaught error has written all log lines', async () => {
  expect(await run(`log.info('before'); log.fatal('fatal'); throw new Error('uncaught');`)).toEqual([
    'before',
    'fatal',
  ]);
});

it('a single log line is written after a moment', async () => {
  const child = start(`log.info('alone'); setInterval(() => {}, 1000);`);
  const [line] = await once(child.stdout, 'data');
  child.kill('SIGKILL');
  expect(JSON.parse(line)).toMatchObject({ msg: 'alone' });
});

it('log lines of any length and with any characters are written whole and in order', async () => {
  const lines = `['a', 'ä'.repeat(5000), 'b', '駅'.repeat(20_000), 'c', '🚌'.repeat(9000), 'd']`;
  expect(await run(`for (const line of ${lines}) log.info(line);`)).toEqual([
    'a',
    'ä'.repeat(5000),
    'b',
    '駅'.repeat(20_000),
    'c',
    '🚌'.repeat(9000),
    'd',
  ]);
});

it('an error of Redis is logged without the arguments of its command', async () => {
  const error = `Object.assign(new Error('READONLY'), { command: { name: 'hsetnx', args: ['jo@example.com'] }, code: 'X' })`;
  const [line] = await runForLines(`log.error({ err: ${error} }, 'refused');`);
  expect(line).toContain('READONLY');
  expect(line).toContain('"code":"X"');
  expect(line).not.toContain('jo@example.com');
});
