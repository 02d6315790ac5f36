import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { HELD_MEMORY_CASES } from '#test/support/held-memory/cases.ts';

const run = promisify(execFile);

it.each(Object.keys(HELD_MEMORY_CASES))(
  '%s: hold no more memory than they count',
  async (name) => {
    const { stdout } = await run(process.execPath, ['--expose-gc', 'test/support/held-memory/measure.ts', name]);
    const { held, counted } = JSON.parse(stdout);
    expect(counted).toBeGreaterThan(1_000_000);
    expect(held).toBeLessThan(counted);
  },
  30_000,
);
