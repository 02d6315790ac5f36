import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Operation } from '#src/operations/operation.ts';
import { ensurePython } from '#test/support/debian.ts';
import { type Front, startFront } from '#test/support/front.ts';
import { describedOperations } from '#test/support/operations.ts';

const run = promisify(execFile);
const PACKAGE = 'clients/typescript';
const PYTHON_PACKAGE = 'clients/python';

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
let python: string;
/** The wheel, which Python can import from as it is. */
let wheel: string;
let sourceArchive: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transit-package-'));
  front = await startFront();
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: PACKAGE });
  // The build's output precedes it.
  [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n')));
  python = ensurePython(['setuptools', 'wheel'], 'python3-setuptools python3-wheel');
  // The build leaves files of its own beside the sources.
  const source = join(folder, 'python');
  await cp(PYTHON_PACKAGE, source, { recursive: true });
  const build = 'from setuptools import build_meta as build; build.build_sdist("dist"); build.build_wheel("dist")';
  await run(python, ['-c', build], { cwd: source });
  const built = await readdir(join(source, 'dist'));
  const [distribution] = built.filter((name) => name.endsWith('.tar.gz'));
  wheel = join(source, 'dist', built.find((name) => name.endsWith('.whl')) ?? '');
  sourceArchive = join(source, 'dist', distribution ?? '');
});
afterAll(async () => {
  await front?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

it('npm pack builds the TypeScript client: only the compiled modules, their types, the README and the changelog, without dependencies', async () => {
  const modules = ['openapi', 'request', 'stream', 'transit'];
  const files = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
  expect(packed.files.map(({ path }) => path).sort()).toEqual(
    ['CHANGELOG.md', 'README.md', ...files, 'package.json'].sort(),
  );
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

it('the Python client builds to a wheel and a source distribution of one module without dependencies', async () => {
  const list = 'import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist())';
  const { stdout } = await run(python, ['-c', list, wheel]);
  expect(stdout.split(/\s+/).filter((name) => name && !name.includes('.dist-info/'))).toEqual(['transit.py']);
  const read =
    'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(*[z.read(n).decode() for n in z.namelist() if n.endswith("METADATA")])';
  const metadata = (await run(python, ['-c', read, wheel])).stdout;
  expect(metadata).toMatch(/^Requires-Python: >=3\.9$/m);
  expect(metadata).not.toMatch(/^Requires-Dist/m);
  const { stdout: inArchive } = await run('tar', ['-tzf', sourceArchive]);
  expect(inArchive).toMatch(/\/transit\.py$/m);
});

it.each([
  ['TypeScript', 'typescript'],
  ['Python', 'python'],
])('the changelog of the %s client begins with the version of its package', async (_name, client) => {
  const [, version] = /^## (\S+)/m.exec(await readFile(`clients/${client}/CHANGELOG.md`, 'utf8')) ?? [];
  await run(process.execPath, ['scripts/client-version.ts', `client-${client}-v${version}`]);
  const other = run(process.execPath, ['scripts/client-version.ts', `client-${client}-v999.0.0`]);
  await expect(other).rejects.toThrow(/says 999\.0\.0/);
});

/** The served operations, each with the parameters of its example and, for what is of today, with an ID of today. */
async function listRequests(): Promise<{ operation: Operation; parameters: Record<string, string> }[]> {
  const send = async (url: string) =>
    (await front.app.inject({ url, headers: { authorization: `Bearer ${front.testKey}` } })).json();
  const { paths } = await send('/openapi.json');
  const described = new Map(describedOperations().map((operation) => [operation.path, operation]));
  const board = await send('/v1/departures?stop=200060&modes=all&limit=50&include=ids');
  const trips = await send('/v1/trips?from=202020&to=209573&include=ids');
  const today: Record<string, string> = {
    run_id: board.departures.find((one: { run_id: string | null }) => one.run_id).run_id,
    journey_id: trips.journeys[0].journey_id,
  };
  const served = Object.keys(paths).filter((path) => 'get' in paths[path] && !path.endsWith('/stream'));
  return served.map((path) => {
    const operation = described.get(path);
    if (!operation) throw new Error(`${path} is served and not described`);
    const example = Object.fromEntries(new URLSearchParams(operation.example.query));
    const parameters = Object.fromEntries(
      Object.entries(example).map(([name, value]) => [name, today[name] ?? value] as const),
    );
    return { operation, parameters };
  });
}

it('both packages get a valid response from every operation of the served OpenAPI description', async () => {
  const requests = await listRequests();
  const installed = join(folder, 'every/node_modules/transit-information-client');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(folder, packed.filename), '-C', installed, '--strip-components=1']);
  const env = { ...process.env, TIS_URL: front.url, TIS_KEY: front.testKey, PYTHONPATH: wheel };
  const ofTypeScript = requests.map(({ operation, parameters }) => [operation.id, parameters]);
  await writeFile(
    join(folder, 'every/program.mjs'),
    `import { createTransit } from 'transit-information-client';
const transit = createTransit({ url: process.env.TIS_URL, key: process.env.TIS_KEY });
const bodies = [];
for (const [id, parameters] of ${JSON.stringify(ofTypeScript)}) bodies.push(await transit[id](parameters));
console.log(JSON.stringify(bodies));`,
  );
  const ofPython = requests.map(({ operation, parameters }) => {
    const query = { ...parameters };
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = encodeURIComponent(query[name] ?? '');
      delete query[name];
      return value;
    });
    return [path, query];
  });
  const program = `import json, os, sys
from transit import Transit
transit = Transit(os.environ["TIS_URL"], os.environ["TIS_KEY"])
print(json.dumps([transit.get(path, **query) for path, query in json.loads(sys.argv[1])]))`;
  const options = { env, maxBuffer: 64 * 1024 * 1024 };
  const outputs = [
    await run(process.execPath, [join(folder, 'every/program.mjs')], options),
    await run(python, ['-c', program, JSON.stringify(ofPython)], options),
  ];
  for (const { stdout } of outputs) {
    const bodies: unknown[] = JSON.parse(stdout);
    const wrong = requests.filter(({ operation }, place) => !operation.body.safeParse(bodies[place]).success);
    expect(wrong.map(({ operation }) => operation.path)).toEqual([]);
    expect(bodies).toHaveLength(requests.length);
  }
});
