import { describe, expect, it } from 'vitest';
import { stopSearchResponse } from '#src/operations/stop-search/operation.ts';
import { expectPair, listPairs } from '#test/support/pairs.ts';

describe('stops found, from what upstream says to what callers get', () => {
  it.each(listPairs('stop-search'))('$name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(stopSearchResponse.safeParse(pair.answer.body).error).toBeUndefined();
  });
});

describe('places found, from what upstream says to what callers get', () => {
  it.each(listPairs('places'))('$name', expectPair);
});
