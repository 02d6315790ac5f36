import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Front, startFront } from '#test/support/front.ts';

const run = promisify(execFile);
const PACKAGE = 'clients/typescript';

/** A program that uses the installed package; the types must reject what follows `@ts-expect-error`. */
const PROGRAM = `
import { createTransit, TransitError, type Departure, type Departures } from 'transit-information-client';

const transit = createTransit({ url: process.env.TIS_URL ?? '', key: process.env.TIS_KEY ?? '' });
const board: Departures = await transit.getDepartures({ stop: '200070', modes: ['all'], limit: 3 });
// @ts-expect-error: there are no trams
export const tram = () => transit.getDepartures({ stop: '200070', modes: ['tram'] });
// @ts-expect-error: stop is required
export const nowhere = () => transit.getDepartures({});
// @ts-expect-error: the list has no pages
export const pages = () => transit.getNearbyStops.pages({ lat: -33.8, lng: 151.2 });
export const perhaps = ({ realtime_at }: Departure): string => realtime_at ?? 'not tracked';
let name = '';
for await (const { stop_name } of transit.streamDepartures({ stop: board.stop_id })) {
  name = stop_name;
  break;
}
const code = await transit.getStop({ stop_id: 'x' }).catch((error) => error instanceof TransitError && error.code);
console.log(JSON.stringify([board.departures.length, name, code]));
`;

let folder: string;
let front: Front;
let packed: { files: { path: string }[]; filename: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transit-package-'));
  front = await startFront();
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: PACKAGE });
  // The build's output precedes it.
  [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n')));
});
afterAll(async () => {
  await front?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

it('npm pack builds the TypeScript client: only the compiled modules, their types and the README, without dependencies', async () => {
  const modules = ['openapi', 'request', 'stream', 'transit'];
  const files = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
  expect(packed.files.map(({ path }) => path).sort()).toEqual(['README.md', ...files, 'package.json'].sort());
  const manifest = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'));
  expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
});

it.each([
  ['nodenext', {}],
  ['preserve', { moduleResolution: 'bundler' }],
])(
  'a program that uses the packed TypeScript client compiles with modules %s in the strictest TypeScript, and runs',
  async (module, options) => {
    const project = join(folder, module);
    const installed = join(project, 'node_modules/transit-information-client');
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', join(folder, packed.filename), '-C', installed, '--strip-components=1']);
    await mkdir(join(project, 'node_modules/@types'));
    await symlink(resolve('node_modules/@types/node'), join(project, 'node_modules/@types/node'));
    await symlink(resolve('node_modules/undici-types'), join(project, 'node_modules/undici-types'));
    const compilerOptions = {
      target: 'es2022',
      module,
      ...options,
      types: ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
    };
    const readme = await readFile(join(PACKAGE, 'README.md'), 'utf8');
    const samples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
    const files = {
      'package.json': '{ "type": "module" }',
      'tsconfig.json': JSON.stringify({ compilerOptions }),
      'program.ts': PROGRAM,
      'readme.ts': samples.join('\n'),
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text);
    const checked = await run('node_modules/.bin/tsc', ['-p', project]).catch(({ stdout }) => ({ stdout }));
    expect(checked.stdout).toBe('');
    const env = { ...process.env, TIS_URL: front.url, TIS_KEY: front.testKey };
    const { stdout } = await run(process.execPath, [join(project, 'program.js')], { env });
    expect(JSON.parse(stdout)).toEqual([3, 'Town Hall Station', 'INVALID_PARAMETER']);
  },
);
