import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { HELD_MEMORY_CASES } from '#test/support/held-memory/cases.ts';

let measured: Map<string, { held: number; counted: number }>;

beforeAll(async () => {
  const script = ['--expose-gc', 'test/support/held-memory/measure.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, script);
  const lines = stdout.trim().split('\n');
  measured = new Map(lines.map((line) => JSON.parse(line)).map(({ name, ...figures }) => [name, figures]));
});

it.each(Object.keys(HELD_MEMORY_CASES))('%s: the table holds no more memory than it counts', (name) => {
  const { held = 0, counted = 0 } = measured.get(name) ?? {};
  expect(counted).toBeGreaterThan(1_000_000);
  expect(held).toBeGreaterThan(counted / 20);
  expect(held).toBeLessThan(counted);
});
