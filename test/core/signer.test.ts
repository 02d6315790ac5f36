import { afterAll, beforeAll, expect, it } from 'vitest';
import { contentOf, createIdSigner } from '#src/core/signer.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { type PlayedSandbox, startPlayedSandbox } from '../realtime/service/played-service.ts';

const NOW = '2026-11-19T21:00:20Z';

let sandbox: PlayedSandbox;
let calls = 0;
/** Paths of the operations, each with an ID or cursor from a service with the secret "old". */
let paths: Record<'run' | 'journey' | 'vehicle' | 'board' | 'trips', string>;
const apps: TestApp[] = [];

beforeAll(async () => {
  sandbox = await startPlayedSandbox(NOW);
  const app = await openApp(['old']);
  const board = await app.inject('/v1/departures?stop=200070&modes=train&limit=3&include=ids');
  const trips = await app.inject('/v1/trips?from=202020&to=209573&include=ids');
  const runId = board.json().departures[0].run_id;
  paths = {
    run: `/v1/runs/${runId}`,
    journey: `/v1/trips/${trips.json().journeys[0].journey_id}`,
    vehicle: `/v1/vehicles?run=${runId}`,
    board: nextOf(board.headers.link),
    trips: nextOf(trips.headers.link),
  };
});
afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await sandbox.close();
});

async function openApp(linkSecrets: readonly [string, ...string[]]): Promise<TestApp> {
  const queryUpstream: QueryUpstream = (...sent) => {
    calls++;
    return sandbox.callUpstream(...sent);
  };
  const app = await buildTestApp({ upstream: queryUpstream, now: NOW, linkSecrets });
  apps.push(app);
  return app;
}

const nextOf = (link: unknown) => /<([^>]+)>; rel="next"/.exec(String(link))?.[1] ?? '';

it('IDs and cursors work on every instance that has their secret, even if it is no longer the first', async () => {
  for (const secrets of [['old'], ['new', 'old']] as const) {
    const app = await openApp(secrets);
    for (const path of Object.values(paths)) expect((await app.inject(path)).statusCode, path).toBe(200);
  }
});

it('IDs and cursors signed with an unknown secret are refused without an upstream call', async () => {
  const app = await openApp(['another']);
  calls = 0;
  const refusals = Object.entries(paths).map(async ([name, path]) => {
    const response = await app.inject(path);
    return [name, [response.statusCode, response.json().error.code]];
  });
  expect(Object.fromEntries(await Promise.all(refusals))).toEqual({
    run: [404, 'RUN_NOT_FOUND'],
    journey: [404, 'JOURNEY_NOT_FOUND'],
    vehicle: [404, 'RUN_NOT_FOUND'],
    board: [400, 'INVALID_PARAMETER'],
    trips: [400, 'INVALID_PARAMETER'],
  });
  for (const path of [paths.run, paths.journey]) expect((await app.inject(`${path}/stream`)).statusCode).toBe(404);
  expect(calls).toBe(0);
});

it('a signature is valid only for its content and kind of ID, and adds 11 characters', () => {
  const { sign, isSigned } = createIdSigner(['secret']);
  const id = sign('run', 'content');
  expect(id).toMatch(/^content[\w-]{11}$/);
  expect(contentOf(id)).toBe('content');
  expect(isSigned('run', id)).toBe(true);
  expect(isSigned('journey', id)).toBe(false);
  expect(isSigned('run', `another${id.slice('content'.length)}`)).toBe(false);
  expect(isSigned('run', 'short')).toBe(false);
});
