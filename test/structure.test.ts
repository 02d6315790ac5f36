import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Rooms of `src` and the rooms they may import from, beside their own. A file at the top of `src` is a room of its own.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  transit: ['signer'],
  errors: ['transit'],
  clock: [],
  log: [],
  'single-flight': [],
  redis: [],
  'event-loop-turn': [],
  'own-memory': [],
  'durable-file': [],
  'binary-search': [],
  'growing-numbers': [],
  signer: [],
  efa: ['transit', 'errors', 'event-loop-turn', 'own-memory'],
  operation: ['efa', 'boards', 'journeys', 'transit', 'errors', 'signer'],
  cursor: ['transit', 'errors', 'signer'],
  access: ['redis', 'transit', 'errors', 'own-memory', 'signer'],
  upstream: ['efa', 'redis', 'transit', 'errors', 'event-loop-turn', 'own-memory', 'single-flight'],
  realtime: ['efa', 'timetable', 'redis', 'transit', 'errors', 'own-memory', 'binary-search', 'growing-numbers'],
  boards: ['efa', 'realtime', 'timetable', 'redis', 'transit', 'errors', 'own-memory'],
  timetable: ['transit', 'errors', 'durable-file', 'binary-search', 'growing-numbers'],
  stops: ['efa', 'timetable', 'transit', 'errors', 'event-loop-turn', 'durable-file', 'binary-search'],
  departures: ['operation', 'cursor', 'boards', 'efa', 'transit', 'errors', 'signer'],
  nearby: ['operation', 'stops', 'efa', 'transit', 'errors', 'own-memory'],
  'stop-search': ['operation', 'stops', 'efa', 'transit', 'errors'],
  'stop-list': ['operation', 'efa', 'stops', 'transit', 'errors', 'event-loop-turn'],
  journeys: ['boards', 'realtime', 'timetable', 'efa', 'stops', 'transit', 'errors', 'event-loop-turn'],
  trips: ['operation', 'cursor', 'journeys', 'stops', 'efa', 'transit', 'errors', 'signer'],
  'several-boards': ['operation', 'transit', 'errors'],
  alerts: ['operation', 'efa', 'stops', 'transit', 'own-memory', 'event-loop-turn'],
  runs: ['operation', 'efa', 'transit', 'errors'],
  vehicles: ['operation', 'efa', 'realtime', 'stops', 'transit', 'errors', 'own-memory', 'signer'],
  operations: [
    'alerts',
    'boards',
    'several-boards',
    'departures',
    'nearby',
    'runs',
    'stop-list',
    'stop-search',
    'stops',
    'journeys',
    'trips',
    'vehicles',
    'realtime',
    'operation',
    'efa',
  ],
  responses: [
    'operation',
    'efa',
    'boards',
    'journeys',
    'transit',
    'errors',
    'event-loop-turn',
    'own-memory',
    'single-flight',
    'signer',
  ],
  http: ['responses', 'operation', 'access', 'transit', 'errors', 'stop-list', 'stops', 'event-loop-turn'],
  streams: ['responses', 'http', 'operation', 'access', 'efa', 'errors', 'own-memory'],
  mcp: ['responses', 'http', 'operation', 'stop-search', 'transit', 'errors'],
  telemetry: ['efa', 'http', 'realtime', 'redis', 'timetable', 'transit', 'errors', 'own-memory'],
  site: [
    'responses',
    'operation',
    'departures',
    'http',
    'access',
    'realtime',
    'telemetry',
    'transit',
    'errors',
    'signature',
  ],
  signup: ['site', 'http', 'access', 'transit', 'errors', 'own-memory', 'signer'],
  sandbox: [],
};
/** The tops of the program may import everything. */
const TOPS = ['app', 'server', 'cli', 'config', 'authority-check'];
/** Packages that belong to one place. */
const PACKAGE_HOMES: Record<string, RegExp> = {
  undici: /^src\/efa\/authority-http\.ts$/,
  ioredis: /^src\/(redis|access|upstream|realtime)\//,
  '@modelcontextprotocol/server': /^src\/mcp\//,
  fastify: /^src\/(app|http|access|site|signup|telemetry|operation|mcp|streams)/,
};

const files = globSync('src/**/*.ts').sort();
const read = (file: string) => readFileSync(file, 'utf8');
const roomOf = (file: string) => file.split('/')[1]?.replace(/\.ts$/, '') ?? '';
/** Every room may know the clock and the form of the log, but for the sandbox, which imports nothing from the others. */
const mayImport = (file: string) => {
  const rooms = MAY_IMPORT[roomOf(file)] ?? [];
  return roomOf(file) === 'sandbox' ? rooms : [...rooms, 'clock', 'log'];
};
const importsOf = (file: string) =>
  [...read(file).matchAll(/^(?:import|export)\b[^;]*?from '([^']+)'|^import '([^']+)'/gm)].map(
    ([, from, bare]) => from ?? bare ?? '',
  );
const localImports = (file: string) =>
  importsOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(file), name)));

describe('the structure of the source', () => {
  it('has no import from a room that a room may not know', () => {
    const wrong = files
      .filter((file) => !TOPS.includes(roomOf(file)))
      .flatMap((file) =>
        localImports(file)
          .filter((other) => roomOf(other) !== roomOf(file) && !mayImport(file).includes(roomOf(other)))
          .map((other) => `${file} imports ${other}`),
      );
    expect(wrong, 'imports that `MAY_IMPORT` above does not list, where a new room needs an entry').toEqual([]);
  });

  it('has no rooms that may import each other, not even by way of others', () => {
    const reach = (room: string, seen = new Set<string>()): Set<string> => {
      for (const next of MAY_IMPORT[room] ?? []) if (!seen.has(next)) reach(next, seen.add(next));
      return seen;
    };
    expect(Object.keys(MAY_IMPORT).filter((room) => reach(room).has(room))).toEqual([]);
  });

  it('has no import cycle', () => {
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

  it('uses a package only in the place it belongs to', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((name) => PACKAGE_HOMES[name] && !PACKAGE_HOMES[name].test(file))
        .map((name) => `${file} imports ${name}`),
    );
    expect(wrong).toEqual([]);
    const transit = files.filter((file) => roomOf(file) === 'transit').flatMap(importsOf);
    expect([...new Set(transit.filter((name) => !name.startsWith('.')))].sort()).toEqual([
      'luxon',
      'node:crypto',
      'zod',
    ]);
  });

  it('reads the environment at the tops of the program only', () => {
    // The file with samples names it for the sample to read.
    const found = files.filter((file) => file !== 'src/site/sample.ts' && /process\.env/.test(read(file)));
    expect(found.sort()).toEqual(['src/cli/authority.ts', 'src/cli/keys.ts', 'src/cli/timetable.ts', 'src/server.ts']);
  });
});
