import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hasLittleMemory } from '#src/core/memory-limit.ts';
import { SMALL_START_OPTIONS, START_OPTIONS } from '../support/start-options.ts';

/** What the script gives to Node, which here only prints it and answers whether memory is small. */
function startWhere(isSmall: boolean): { options: string[]; preload: string } {
  const root = mkdtempSync(join(tmpdir(), 'transit-start-'));
  try {
    for (const folder of ['scripts', 'node_modules/.bin']) mkdirSync(join(root, folder), { recursive: true });
    cpSync('scripts/start', join(root, 'scripts/start'));
    const node = join(root, 'node_modules/.bin/node');
    writeFileSync(
      node,
      `#!/bin/sh\ncase "$1" in *has-little-memory.ts) exit ${isSmall ? 0 : 1};; esac\nfor one; do echo "$one"; done\necho "$LD_PRELOAD"\n`,
    );
    chmodSync(node, 0o755);
    const { PATH } = process.env;
    const script = join(root, 'scripts/start');
    const given = execFileSync(script, { cwd: root, encoding: 'utf8', env: { PATH } }).split('\n');
    const [server, preload = ''] = given.splice(-3);
    expect(server).toMatch(/src\/server\.ts$/);
    return { options: given, preload };
  } finally {
    rmSync(root, { recursive: true });
  }
}

it('the start makes V8 save memory only where memory is small', () => {
  expect(startWhere(true).options).toEqual(SMALL_START_OPTIONS);
  expect(startWhere(false).options).toEqual(START_OPTIONS);
  expect(SMALL_START_OPTIONS.filter((option) => !START_OPTIONS.includes(option))).toEqual(['--memory-saver-mode']);
});

it('where memory is small, the start preloads the allocator that returns freed memory to the system, if it is installed', () => {
  const [library = ''] = globSync('/usr/lib/*/libjemalloc.so.2');
  expect(startWhere(true).preload).toBe(library);
  expect(startWhere(false).preload).toBe('');
});

it('the start reports whether memory is small by its exit code', () => {
  const run = () => execFileSync(process.execPath, ['src/cli/has-little-memory.ts'], { stdio: 'ignore' });
  if (hasLittleMemory()) expect(run).not.toThrow();
  else expect(run).toThrow();
});
