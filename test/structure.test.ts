import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * The folders of `src`, and `web` and `sandbox` beside it, the lowest layer first, and the folders that each may import from: all
 * of them are in lower layers.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  transit: ['core'],
  errors: ['transit'],
  routes: ['errors', 'transit'],
  efa: ['transit', 'errors', 'core'],
  upstream: ['efa', 'transit', 'errors', 'core'],
  timetable: ['transit', 'core'],
  realtime: ['timetable', 'efa', 'transit', 'errors', 'core'],
  stops: ['timetable', 'efa', 'transit', 'errors', 'core'],
  carparks: ['upstream', 'stops', 'efa', 'transit', 'errors', 'core'],
  alerts: ['stops', 'efa', 'transit', 'core'],
  boards: ['realtime', 'timetable', 'efa', 'transit', 'errors', 'core'],
  journeys: ['boards', 'stops', 'realtime', 'timetable', 'efa', 'transit', 'errors', 'core'],
  lines: ['stops', 'timetable', 'transit', 'errors', 'core'],
  operations: [
    'routes',
    'journeys',
    'lines',
    'boards',
    'alerts',
    'carparks',
    'stops',
    'realtime',
    'efa',
    'transit',
    'errors',
    'core',
  ],
  access: ['routes', 'transit', 'errors', 'core'],
  http: ['routes', 'access', 'operations', 'stops', 'transit', 'errors', 'core'],
  extensions: [
    'routes',
    'http',
    'access',
    'operations',
    'carparks',
    'realtime',
    'timetable',
    'efa',
    'transit',
    'errors',
    'core',
  ],
  web: ['routes', 'extensions', 'http', 'access', 'operations', 'realtime', 'transit', 'errors', 'core'],
  sandbox: [],
};
/** The process and the operator's commands may import from all folders. */
const TOPS = ['app', 'server', 'cli', 'config'];
/** The operations of the contract, which can be read without everything outside the contract. */
const CONTRACT = /^src\/operations\/(departures|nearby|stop-search|trips)\//;
/** Packages that may be used in one place only. */
const PACKAGE_HOMES: Record<string, RegExp> = {
  undici: /^src\/efa\/upstream-http\.ts$/,
  ioredis: /^src\/(core\/redis|access|upstream|realtime)\//,
  '@modelcontextprotocol/server': /^src\/extensions\/mcp\//,
  fastify: /^(src\/(app|http|access|extensions|operations\/operation)|web\/)/,
};

/** The form of a feed, and the rules that turn it into live times. */
const FEED_AND_RULES = /^src\/realtime\/(feed|prediction)\//;
/** Fields of trip updates and stop updates, by which a planned time could be compared with a feed. */
const FIELDS_OF_UPDATES =
  /\b(StopUpdate|TripUpdate|stopUpdates?|startTimeSeconds|startDate|delaySeconds|arrivalDelay|departureDelay|arrivalSeconds|departureSeconds)\b/;
/** The trip planner has live times of its own, in `efa`; the sandbox makes them up. */
const MAKES_LIVE_TIMES = /^src\/(realtime\/live-timetable\.ts$|efa\/)|^sandbox\//;

const files = globSync(['src/**/*.ts', 'web/**/*.ts', 'sandbox/**/*.ts']).sort();
const read = (file: string) => readFileSync(file, 'utf8');
const folderOf = (file: string) =>
  file
    .replace(/^src\//, '')
    .split('/')[0]
    ?.replace(/\.ts$/, '') ?? '';
const namesIn = (file: string, statement: RegExp) =>
  [...read(file).matchAll(statement)].map(([, from, bare]) => from ?? bare ?? '');
const importsOf = (file: string) => namesIn(file, /^(?:import|export)\b[^;]*?from '([^']+)'|^import '([^']+)'/gm);
/** The file that a relative import or an alias of `package.json` names. */
const toPath = (file: string, name: string) =>
  name.startsWith('#') ? name.slice(1) : normalize(join(dirname(file), name));
/** What a file imports when it runs: not what it imports as types only. */
const loadsOf = (file: string) =>
  namesIn(file, /^(?:import|export)\b(?! type\b)[^;]*?from '([^']+)'|^import '([^']+)'/gm);
const localImports = (file: string) =>
  importsOf(file)
    .filter((name) => /^[.#]/.test(name))
    .map((name) => toPath(file, name));

/** Types named as `import('…').Name`. */
const typeImports = (file: string) =>
  [...read(file).matchAll(/\bimport\('([.#][^']+)'\)/g)].map(([, name = '']) => toPath(file, name));
/** The file without its comments. */
const codeOf = (file: string) => read(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');

const foldersOnDisk = [...new Set(files.map(folderOf))].filter((folder) => !TOPS.includes(folder)).sort();
const foldersImported = (folder: string) =>
  new Set(files.filter((file) => folderOf(file) === folder).flatMap((file) => localImports(file).map(folderOf)));

describe('the structure of the source', () => {
  it('the source has the folders of the table and no others', () => {
    expect(foldersOnDisk).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it.each(Object.entries(MAY_IMPORT))(
    'the folder %s imports from exactly the folders in the table',
    (folder, allowed) => {
      const imported = [...foldersImported(folder)].filter((other) => other !== folder && other !== '');
      expect(imported.sort()).toEqual([...allowed].sort());
    },
  );

  it('no folder imports from a layer above it', () => {
    const order = Object.keys(MAY_IMPORT);
    const upwards = order.flatMap((folder) =>
      (MAY_IMPORT[folder] ?? [])
        .filter((other) => order.indexOf(other) >= order.indexOf(folder))
        .map((other) => `${folder} → ${other}`),
    );
    expect(upwards).toEqual([]);
  });

  it('every type has a name of its own', () => {
    const homes = new Map<string, string[]>();
    for (const file of files.filter((one) => !one.startsWith('sandbox/'))) {
      for (const [, name = ''] of read(file).matchAll(/^(?:export )?(?:interface|type|class) ([A-Z]\w+)/gm)) {
        const known = homes.get(name) ?? [];
        if (!known.includes(file)) homes.set(name, [...known, file]);
      }
    }
    expect([...homes].filter(([, places]) => places.length > 1)).toEqual([]);
  });

  it('the four operations of the contract import nothing from outside the contract', () => {
    const wrong = files
      .filter((file) => CONTRACT.test(file))
      .flatMap((file) =>
        localImports(file)
          .filter((other) => /^(web|src\/extensions|src\/operations\/[\w-]+)\//.test(other) && !CONTRACT.test(other))
          .map((other) => `${file} imports ${other}`),
      );
    expect(wrong).toEqual([]);
  });

  it('pages run operations through the service, and know them as types only', () => {
    const pages = files.filter((file) => file.startsWith('web/'));
    const loaded = new Set(pages.flatMap((file) => loadsOf(file).map((name) => toPath(file, name))));
    const ofOperations = [...loaded].filter((name) => name.startsWith('src/operations/'));
    expect(ofOperations, 'use `runOperation` of http/extension.ts').toEqual(['src/operations/operation.ts']);
    expect(pages.filter((file) => localImports(file).includes('src/operations/serve.ts'))).toEqual([]);
  });

  it('the scripts of pages and of the repository import nothing from the pages that use them', () => {
    const scripts = globSync(['web/assets/**/*.js', 'scripts/*.ts']).sort();
    const wrong = scripts.flatMap((file) =>
      localImports(file)
        .filter((other) => other.startsWith('web/') && !other.startsWith('web/assets/'))
        .map((other) => `${file} imports ${other}`),
    );
    expect(wrong).toEqual([]);
  });

  it('the operations import no terms of upstream', () => {
    const wrong = files
      .filter((file) => /^src\/operations\/.+\//.test(file))
      .flatMap((file) =>
        localImports(file)
          .filter((other) => /^src\/(efa|timetable|upstream)\//.test(other))
          .map((other) => `${file} imports ${other}`),
      );
    expect(wrong, 'operations know our words only; `QueryUpstream` reaches them in their context').toEqual([]);
  });

  it('the source has no import cycle', () => {
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (done.has(file) || path.includes(file)) return;
      for (const other of localImports(file)) visit(other, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('nothing but `realtime` imports the form of a feed or the rules of live times, not even their types', () => {
    const wrong = files
      .filter((file) => folderOf(file) !== 'realtime')
      .flatMap((file) =>
        [...localImports(file), ...typeImports(file)]
          .filter((other) => FEED_AND_RULES.test(other))
          .map((other) => `${file} imports ${other}`),
      );
    expect(wrong, 'live times are in `realtime/live-timetable.ts`').toEqual([]);
  });

  it('no planned time is compared with a feed outside `realtime/prediction`', () => {
    const mayRead = (file: string) => FEED_AND_RULES.test(file) || folderOf(file) === 'sandbox';
    const wrong = files.filter((file) => !mayRead(file) && FIELDS_OF_UPDATES.test(codeOf(file)));
    expect(wrong, 'read the live run instead: `LiveTimetable` in realtime/live-timetable.ts').toEqual([]);
  });

  it('one place decides whether a call of the timetable is live', () => {
    const wrong = files.filter((file) => !MAKES_LIVE_TIMES.test(file) && /kind: 'live',/.test(codeOf(file)));
    expect(wrong, 'use `stateOfCall` of realtime/live-timetable.ts').toEqual([]);
  });

  it('a package is used only in the place it belongs to', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((name) => PACKAGE_HOMES[name] && !PACKAGE_HOMES[name].test(file))
        .map((name) => `${file} imports ${name}`),
    );
    expect(wrong).toEqual([]);
    const transit = files.filter((file) => folderOf(file) === 'transit').flatMap(importsOf);
    expect([...new Set(transit.filter((name) => !name.startsWith('.')))].sort()).toEqual([
      'luxon',
      'node:crypto',
      'zod',
    ]);
  });

  it('a search thread loads no more packages than it needs', () => {
    const loaded = new Set<string>();
    const load = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const name of loadsOf(file)) {
        if (name.startsWith('.')) load(normalize(join(dirname(file), name)));
        else loaded.add(name);
      }
    };
    load('src/journeys/engine-thread.ts');
    const packages = [...loaded].filter((name) => !name.startsWith('src/') && !name.startsWith('node:'));
    expect(packages.sort(), 'each thread reads and keeps its own copy of a package').toEqual(['d3-contour', 'luxon']);
  });

  it('only the entry points of the program read the environment', () => {
    const found = files.filter((file) => /process\.env/.test(read(file)));
    expect(found.sort()).toEqual(['src/cli/keys.ts', 'src/cli/timetable.ts', 'src/cli/upstream.ts', 'src/server.ts']);
  });

  it('nothing that starts the service sets the size of the heap, which would lift the limits of its threads', () => {
    const deployed = globSync('deploy/**/*.*');
    const starts = ['package.json', 'Dockerfile', 'docker-compose.yml', '.env.example', ...deployed];
    const wrong = starts.filter((file) => /--max-(old-space|heap)-size/.test(readFileSync(file, 'utf8')));
    expect(wrong).toEqual([]);
  });
});
