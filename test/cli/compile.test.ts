import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { IMPORT_OPTIONS, IMPORT_PROCESS } from '#src/timetable/update/run-import.ts';
import { START_OPTIONS } from '#test/support/start-options.ts';

const folder = mkdtempSync(join(tmpdir(), 'transit-compile-'));
const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(folder, 'cache') };
const settings = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder, SANDBOX: '1', TIMETABLE: 'off' };

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program until it prints `end` or exits. Returns the modules whose types it removes, and how many were in the cache. */
async function findUncached(args: readonly string[], end?: RegExp) {
  const child = spawn(process.execPath, args, { env: { ...env, ...settings, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (end?.test(output)) child.kill('SIGKILL');
    });
  }
  await new Promise((resolve) => child.once('close', resolve));
  const uncached = [...output.matchAll(/no transpile cache for StrippedTypeScript (\S+)/g)].map(([, url]) => url);
  return { uncached, cachedCount: output.match(/retrieving transpile cache/g)?.length ?? 0 };
}

it('after `npm start` has compiled them, neither the service nor the import removes types from modules', async () => {
  await promisify(execFile)(process.execPath, ['src/cli/compile.ts'], { env });
  const service = await findUncached([...START_OPTIONS, 'src/server.ts'], /Server listening/);
  expect(service.uncached).toEqual([]);
  expect(service.cachedCount).toBeGreaterThan(200);
  const request = JSON.stringify({ out: join(folder, 'none.bin'), importedAt: 0, today: 0, files: [] });
  const imported = await findUncached([...IMPORT_OPTIONS, IMPORT_PROCESS.pathname, request]);
  expect(imported.uncached).toEqual([]);
  expect(imported.cachedCount).toBeGreaterThan(20);
});
