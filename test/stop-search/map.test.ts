import { describe, expect, test } from 'vitest';
import { stopSearchResponse } from '#src/stop-search/search-result.ts';
import { expectPair, listPairs } from '#test/support/pairs.ts';

describe('stops found, from what upstream says to what callers get', () => {
  test.each(listPairs('stop-search'))('$name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.out) expect(stopSearchResponse.safeParse(pair.out.body).error).toBeUndefined();
  });
});
