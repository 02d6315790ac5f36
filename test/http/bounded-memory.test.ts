import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { HELD_MEMORY_CASES } from '#test/support/held-memory/cases.ts';

let found: { floods: string[]; grown: string[]; filledCaches: number; unboundedCaches: number };
beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['test/http/memory-floods.ts']);
  found = JSON.parse(stdout);
});

it('no unbounded collection grows in seven kinds of floods', () => {
  expect(found.floods).toHaveLength(7);
  expect(found.grown).toEqual([]);
});

it('every cache is bounded, in entries or bytes', () => {
  expect(found.filledCaches).toBeGreaterThan(3);
  expect(found.unboundedCaches).toBe(0);
});

it('every table whose memory is measured is listed in bench/README.md', () => {
  const rows = readFileSync('bench/README.md', 'utf8').split('\n');
  const missing = Object.keys(HELD_MEMORY_CASES).filter(
    (name) => !rows.some((row) => row.startsWith(`| ${name.split(',')[0]}`)),
  );
  expect(missing).toEqual([]);
});
