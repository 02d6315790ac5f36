import { describe, expect, it } from 'vitest';
import { arrivalsResponse, departuresResponse } from '#src/operations/departures/departure.ts';
import { runOperation } from '#src/operations/more/runs/operation.ts';
import { expectPair, listPairs, openPair } from '#test/support/pairs.ts';

describe('departures, from what upstream says to what callers get', () => {
  it.each(listPairs('departures'))('$name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(departuresResponse.safeParse(pair.answer.body).error).toBeUndefined();
  });
});

it('a board in a terminal draws the carriages of its trains, and says what the signs mean', async () => {
  const pair = listPairs('departures').find(({ name }) => name.startsWith('carriages-here'));
  const app = await openPair(pair as NonNullable<typeof pair>);
  const { body } = await app.inject('/board/200070?modes=train&include=carriages');
  await app.close();
  expect(body).toContain('Platform 3    ▁▁▄█\n');
  expect(body).toMatch(/16:46 .* Platform 3\n/);
  expect(body).toContain('Carriages, front first: ▁ many seats, ▄ few seats, █ standing only, · unknown.');
});

describe('runs, from what upstream says to what callers get', () => {
  it.each(listPairs('runs'))('$name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(runOperation.body.safeParse(pair.answer.body).error).toBeUndefined();
  });
});

describe('arrivals, from what upstream says to what callers get', () => {
  it.each(listPairs('arrivals'))('$name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(arrivalsResponse.safeParse(pair.answer.body).error).toBeUndefined();
  });
});
