import { describe, expect, it } from 'vitest';
import { arrivalsResponse, departuresResponse } from '#src/operations/departures/departure.ts';
import { runOperation } from '#src/operations/runs/operation.ts';
import { expectPair, listPairs, openPair } from '#test/support/pairs.ts';

describe('departures mapped from upstream payloads', () => {
  it.each(listPairs('departures'))('GET /v1/departures maps the upstream payload of fixture $name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(departuresResponse.safeParse(pair.answer.body).error).toBeUndefined();
  });
});

it('the text board draws the carriages of trains and explains the signs', async () => {
  const pair = listPairs('departures').find(({ name }) => name.startsWith('carriages-here'));
  const app = await openPair(pair as NonNullable<typeof pair>);
  const { body } = await app.inject('/board/200070?modes=train&include=carriages');
  await app.close();
  expect(body).toContain('Platform 3    ▁▁▄█\n');
  expect(body).toMatch(/16:46 .* Platform 3\n/);
  expect(body).toContain('Carriages, front first: ▁ many seats, ▄ few seats, █ standing only, · unknown.');
});

describe('runs mapped from upstream payloads', () => {
  it.each(listPairs('runs'))('GET /v1/runs/{run_id} maps the upstream payload of fixture $name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(runOperation.body.safeParse(pair.answer.body).error).toBeUndefined();
  });
});

describe('arrivals mapped from upstream payloads', () => {
  it.each(listPairs('arrivals'))('GET /v1/arrivals maps the upstream payload of fixture $name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(arrivalsResponse.safeParse(pair.answer.body).error).toBeUndefined();
  });
});
