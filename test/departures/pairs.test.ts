import { describe, expect, it } from 'vitest';
import { arrivalsResponse, departuresResponse } from '#src/departures/departure.ts';
import { runOperation } from '#src/runs/operation.ts';
import { expectPair, listPairs } from '#test/support/pairs.ts';

describe('departures, from what upstream says to what callers get', () => {
  it.each(listPairs('departures'))('$name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(departuresResponse.safeParse(pair.answer.body).error).toBeUndefined();
  });
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
