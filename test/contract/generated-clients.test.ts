import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { Operation } from '#src/operations/operation.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { describedOperations } from '#test/support/operations.ts';
import { listPairs } from '#test/support/pairs.ts';
import { startUpstream, type TestUpstream } from '#test/support/upstream.ts';
import { callSampleOf } from '#web/assets/sample.js';
import { exampleArguments } from '#web/docs/playground.ts';
import { goodAnswerTo, OPERATIONS } from './operations.ts';
import { NOW } from './payloads.ts';

const run = promisify(execFile);

const TSCONFIG = {
  compilerOptions: {
    target: 'esnext',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
};

/** Code that the types must allow and, after `@ts-expect-error`, code that they must reject. */
const TYPES = `
import type { components, paths } from './transit.ts';

type Query<Path extends Exclude<keyof paths, '/v1/tokens'>> = paths[Path]['get']['parameters']['query'];
type Schemas = components['schemas'];

export const board: Query<'/v1/departures'> = { stop: '200070', limit: 1000, modes: ['all'], routes: ['T1'] };
export const around: Query<'/v1/nearby'> = { lat: -33.8, lng: 151.2, radius: 99_999, modes: ['bus', 'ferry'] };
export const journey: Query<'/v1/trips'> = { from: '1', to: '2', arrive_by: true };
// @ts-expect-error: modes is a list
export const text: Query<'/v1/departures'> = { stop: '200070', modes: 'bus' };
// @ts-expect-error: there are no trams
export const tram: Query<'/v1/departures'> = { stop: '200070', modes: ['tram'] };
// @ts-expect-error: lng is required
export const half: Query<'/v1/nearby'> = { lat: -33.8 };

export const latLng = (leg: Schemas['Leg']): [number, number][] => leg.path;
export const reserved = ({ routes }: Schemas['NearbyStop']): string[] => routes;
export const perhaps = ({ realtime_at }: Schemas['Departure']): string => realtime_at ?? 'not tracked';
// @ts-expect-error: a real-time value can be null
export const surely = ({ realtime_at }: Schemas['Departure']): string => realtime_at;

export const more: Query<'/v1/departures'> = { stop: '200070', cancelled: 'include', include: ['ids'] };
export const perhapsOff = ({ cancelled }: Schemas['Departure']): boolean => cancelled ?? false;
// @ts-expect-error: only with a parameter
export const off = ({ cancelled }: Schemas['Departure']): boolean => cancelled;

type Polled = paths['/v1/departures']['get'];
export const condition: NonNullable<Polled['parameters']['header']> = { 'If-None-Match': 'W/"x"' };
export const etag: Polled['responses'][304]['headers']['ETag'] = 'W/"x"';
export const wait: Polled['responses'][429]['headers']['Retry-After'] = 30;
`;

/** Polls with the generated types: a 200, then a 304. Prints the outcome. */
const POLLING = `
import createClient from 'openapi-fetch';
import type { paths } from './transit.ts';

const [baseUrl = '', key = ''] = process.argv.slice(2);
const transit = createClient<paths>({
  baseUrl,
  headers: { Authorization: 'Bearer ' + key },
  querySerializer: { array: { style: 'form', explode: false } },
});
const query: paths['/v1/nearby']['get']['parameters']['query'] = { lat: -33.8613, lng: 151.2108, modes: ['bus', 'ferry'] };
const first = await transit.GET('/v1/nearby', { params: { query } });
const header = { 'If-None-Match': first.response.headers.get('etag') ?? '' };
const second = await transit.GET('/v1/nearby', { params: { query, header } });
const missing = await transit.GET('/v1/trips', { params: { query: { from: '1', to: '1' } } });
const point = (await transit.GET('/v1/trips', { params: { query: { from: '202091', to: 'G2095102' } } })).data?.journeys[0]?.legs[0]?.path[0];
console.log(JSON.stringify([
  first.response.status, first.data?.stops.length, second.response.status, missing.error?.error.code, point?.map(Math.round),
]));
`;

/** Calls each function of the client, which knows the address. Prints the outcome. */
const REQUESTS = `
import { client } from './client/client.gen.ts';
import * as transit from './client/index.ts';

client.setConfig({ auth: process.argv[2] ?? '' });
const board = await transit.getDepartures({ query: { stop: '200020', modes: ['all'] } });
const modes: string[] | undefined = board.data?.departures.map(({ mode }) => mode);
const trips = await transit.planTrips({ query: { from: '202091', to: 'G2095102', wheelchair: true, max_changes: 2 } });
const boards = await transit.getBoards({ query: { stops: ['200020'] } });
const names = boards.data?.boards.map((one) => ('error' in one ? one.error.code : one.stop_name));
const wrong = await transit.getNearbyStops({ query: { lat: 99, lng: 0 } });
const refused = await transit.searchStops({ query: { q: 'manly' }, auth: 'nonsense' });
// @ts-expect-error: there are no trams
export const tram: transit.GetDeparturesData['query'] = { stop: '1', modes: ['tram'] };
console.error(board, wrong);
console.log(JSON.stringify([
  [...new Set(modes)].sort(), [trips.response?.status, trips.data?.journeys.length], names,
  [wrong.response?.status, wrong.error?.error.code], [refused.response?.status, refused.error?.error.code],
]));
`;

function sampleOnPage(operation: Operation): string {
  return callSampleOf(address, operation.id, exampleArguments(operation)).client;
}

/** The sample of the documentation with this import. */
async function readSample(imported: string): Promise<string> {
  const samples = [...(await readFile('docs/guide/clients.md', 'utf8')).matchAll(/```ts\n(.*?)```/gs)].map(
    ([, code = '']) => code,
  );
  const sample = samples.find((code) => code.includes(`from '${imported}'`));
  if (!sample) throw new Error(`no sample imports ${imported}`);
  return sample;
}

let upstream: TestUpstream;
let app: TestApp;
let address: string;
let document: Record<string, unknown>;
/** A folder outside the repository, with its packages. */
let folder: string;

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(goodAnswerTo(request.url));
  });
  app = await buildTestApp({ upstream: upstream.url, now: NOW });
  address = await app.listen({ host: '127.0.0.1', port: 0 });
  document = (await app.inject('/openapi.json')).json();
  folder = await mkdtemp(join(tmpdir(), 'transit-client-'));
  await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'transit.ts'), astToString(await openapiTS(structuredClone(document) as never)));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await app.close();
  await upstream.close();
});

describe('a client made with openapi-typescript and openapi-fetch', () => {
  it('a client made with openapi-typescript compiles in strict TypeScript with the documented sample, and polls', async () => {
    const sample = await readSample('openapi-fetch');
    const files = {
      'types.ts': TYPES,
      'polling.ts': POLLING,
      'sample.ts': sample,
      'tsconfig.json': JSON.stringify(TSCONFIG),
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const checked = await run('node_modules/.bin/tsc', ['-p', folder]).catch(({ stdout }) => ({ stdout }));
    expect(checked.stdout).toBe('');

    const polled = await run(process.execPath, [join(folder, 'polling.ts'), address, app.apiKey]);
    expect(JSON.parse(polled.stdout)).toEqual([200, expect.any(Number), 304, 'INVALID_PARAMETER', [-34, 151]]);
  });
});

describe('the client made with npm run client', () => {
  it('the client made with npm run client compiles in strict TypeScript with the samples, and gets responses', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
    const own = join(folder, 'own');
    await mkdir(own);
    await run('sh', ['-c', `${scripts.client} ${join(own, 'client')} ${address}`]);
    const compilerOptions = { ...TSCONFIG.compilerOptions, exactOptionalPropertyTypes: false, skipLibCheck: false };
    const files = {
      'sample.ts': (await readSample('./client/index.ts')).replace('http://localhost:3000', address),
      'requests.ts': REQUESTS,
      // The samples on the pages of the operations.
      ...Object.fromEntries(describedOperations().map((one) => [`page-${one.id}.ts`, sampleOnPage(one)])),
      'tsconfig.json': JSON.stringify({ compilerOptions }),
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(own, name), text);
    const checked = await run('node_modules/.bin/tsc', ['-p', own]).catch(({ stdout }) => ({ stdout }));
    expect(checked.stdout).toBe('');

    const env = { ...process.env, TIS_KEY: app.apiKey };
    expect((await run(process.execPath, [join(own, 'page-getDepartures.ts')], { env })).stdout).toContain('stop_id:');
    const { stdout } = await run(process.execPath, [join(own, 'sample.ts')], { env });
    expect(stdout).toMatch(/^\S+ .+ \d+$/m);
    const sent = await run(process.execPath, [join(own, 'requests.ts'), app.apiKey]);
    expect(JSON.parse(sent.stdout)).toEqual([
      ['bus', 'ferry', 'lightrail', 'train'],
      [200, expect.any(Number)],
      ['Circular Quay'],
      [400, 'INVALID_PARAMETER'],
      [401, 'UNAUTHORIZED'],
    ]);
  });
});

describe('the commands of the client guide', () => {
  const isOnline = spawnSync('npm', ['ping', '--fetch-retries=0', '--fetch-timeout=5000']).status === 0;

  it.skipIf(!isOnline)(
    'the commands of the client guide create a client and types in an empty folder',
    { timeout: 300_000 },
    async () => {
      const guide = await readFile('docs/guide/clients.md', 'utf8');
      const commands = [...guide.matchAll(/^npx .+$/gm)].map(([command]) => command);
      expect(commands).toHaveLength(2);
      expect(sampleOnPage(describedOperations()[0] as Operation)).toContain(
        commands[0]?.replace('http://localhost:3000', address),
      );
      const empty = await mkdtemp(join(tmpdir(), 'transit-empty-'));
      try {
        for (const command of commands) {
          await run('sh', ['-c', command.replace('http://localhost:3000', address)], {
            cwd: empty,
            env: { ...process.env, npm_config_yes: 'true' },
          });
        }
        expect((await readdir(empty)).sort()).toEqual(['client', 'transit.ts']);
        expect(await readdir(join(empty, 'client'))).toEqual(expect.arrayContaining(['client.gen.ts', 'index.ts']));
      } finally {
        await rm(empty, { recursive: true });
      }
    },
  );
});

describe('the zod schemas made with @hey-api/openapi-ts', () => {
  let schemas: Record<string, z.ZodType>;
  beforeAll(async () => {
    await mkdir(join(folder, 'zod'));
    await createClient({
      input: structuredClone(document),
      output: join(folder, 'zod'),
      plugins: ['zod'],
      logs: { level: 'silent', file: false },
    });
    schemas = await import(join(folder, 'zod/zod.gen.ts'));
  });

  it.each([
    ['departures', 'zDepartures'],
    ['nearby', 'zNearbyStops'],
    ['stop-search', 'zSearchResults'],
    ['trips', 'zTrips'],
  ])('the generated zod schemas accept every fixture response of %s', (operation, name) => {
    expect(schemas[name]?.safeParse({})).toMatchObject({ success: false });
    for (const { name: quirk, answer } of listPairs(operation)) {
      if (!('body' in answer)) continue;
      const schema = answer.status === 200 ? schemas[name] : schemas.zErrorResponse;
      expect(schema?.safeParse(answer.body), quirk).toMatchObject({ success: true });
    }
  });

  it.each(OPERATIONS)('the generated zod schemas accept the responses and errors of $name', async ({ url, name }) => {
    const schema = {
      departures: 'zDepartures',
      nearby: 'zNearbyStops',
      'stop search': 'zSearchResults',
      trips: 'zTrips',
    }[name];
    expect(schemas[schema]?.parse((await app.inject(url)).json())).toBeTruthy();
    expect(schemas.zErrorResponse?.parse((await app.inject(`${url}&limit=0`)).json())).toBeTruthy();
    expect(
      schemas.zErrorResponse?.parse((await app.inject({ url, headers: { authorization: 'Bearer x' } })).json()),
    ).toBeTruthy();
  });
});
