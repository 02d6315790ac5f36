import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Front, startFront } from '#test/support/front.ts';

const run = promisify(execFile);

let folder: string;
let front: Front;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transit-generated-'));
  front = await startFront();
});
afterAll(async () => {
  await front?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Runs `npm run client`, and returns the file that it wrote. */
async function generate(name: string): Promise<string> {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  await run('sh', ['-c', `${scripts.client} ${join(folder, name)} ${front.url}`]);
  return readFile(join(folder, name), 'utf8');
}

it('the committed types of the TypeScript client match the OpenAPI description', async () => {
  const committed = 'clients/typescript/src/openapi.ts';
  const isCurrent = (await readFile(committed, 'utf8')) === (await generate('openapi.ts'));
  expect(isCurrent, `run: npm run client -- ${committed}`).toBe(true);
});

interface CollectedRequest {
  name: string;
  request: {
    method: string;
    url: {
      raw: string;
      path: string[];
      query: { key: string; value: string; disabled: boolean }[];
      variable: { key: string; value: string }[];
    };
    body?: { raw: string };
  };
}

it('every request of the Postman collection gets a response', async () => {
  const { auth, variable, item, info } = JSON.parse(await generate('transit.json'));
  expect(info.schema).toBe('https://schema.getpostman.com/json/collection/v2.1.0/collection.json');
  expect(auth.bearer[0].value).toBe('{{key}}');
  expect(variable[0]).toEqual({ key: 'url', value: front.url });
  const authorization = { authorization: `Bearer ${front.testKey}` };
  const send = async (url: string) => (await front.app.inject({ url, headers: authorization })).json();
  // The IDs of the examples are of another day.
  const board = await send('/v1/departures?stop=200060&modes=all&limit=50&include=ids');
  const trips = await send('/v1/trips?from=202020&to=209573&include=ids');
  const today: Record<string, string> = {
    run_id: board.departures.find((one: { run_id: string | null }) => one.run_id).run_id,
    journey_id: trips.journeys[0].journey_id,
  };
  const requests: CollectedRequest[] = item.flatMap((one: { item: CollectedRequest[] }) => one.item);
  const { paths } = await send('/openapi.json');
  expect(requests).toHaveLength(Object.keys(paths).filter((path) => !path.endsWith('/stream')).length);
  for (const { name, request } of requests) {
    const sent = request.url.query.filter(({ disabled }) => !disabled).map(({ key, value }) => [key, value]);
    const values = Object.fromEntries(request.url.variable.map(({ key, value }) => [`:${key}`, today[key] ?? value]));
    const path = request.url.path.map((step) => values[step] ?? step).join('/');
    const response = await fetch(`${front.url}/${path}?${new URLSearchParams(Object.fromEntries(sent))}`, {
      method: request.method,
      headers: { ...authorization, 'content-type': 'application/json' },
      ...(request.body && { body: request.body.raw }),
    });
    expect([name, response.status]).toEqual([name, 200]);
  }
});
