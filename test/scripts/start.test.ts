import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hasLittleMemory } from '#src/core/memory-limit.ts';
import { SMALL_START_OPTIONS, START_OPTIONS } from '../support/start-options.ts';

/** What the script gives to Node, which here only prints it and answers whether memory is small. */
function optionsWhere(isSmall: boolean): string[] {
  const root = mkdtempSync(join(tmpdir(), 'transit-start-'));
  try {
    for (const folder of ['scripts', 'node_modules/.bin']) mkdirSync(join(root, folder), { recursive: true });
    cpSync('scripts/start', join(root, 'scripts/start'));
    const node = join(root, 'node_modules/.bin/node');
    writeFileSync(
      node,
      `#!/bin/sh\ncase "$1" in *has-little-memory.ts) exit ${isSmall ? 0 : 1};; esac\nfor one; do echo "$one"; done\n`,
    );
    chmodSync(node, 0o755);
    const given = execFileSync(join(root, 'scripts/start'), { cwd: root, encoding: 'utf8' }).trim().split('\n');
    expect(given.pop()).toMatch(/src\/server\.ts$/);
    return given;
  } finally {
    rmSync(root, { recursive: true });
  }
}

it('where memory is small, V8 saves it, and elsewhere hits are fast', () => {
  expect(optionsWhere(true)).toEqual(SMALL_START_OPTIONS);
  expect(optionsWhere(false)).toEqual(START_OPTIONS);
  expect(SMALL_START_OPTIONS.filter((option) => !START_OPTIONS.includes(option))).toEqual(['--memory-saver-mode']);
});

it('the start reports whether memory is small by its exit code', () => {
  const run = () => execFileSync(process.execPath, ['src/cli/has-little-memory.ts'], { stdio: 'ignore' });
  if (hasLittleMemory()) expect(run).not.toThrow();
  else expect(run).toThrow();
});
