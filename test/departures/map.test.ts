import { describe, expect, test } from 'vitest';
import { departuresResponse } from '#src/departures/departure.ts';
import { expectPair, listPairs } from '#test/support/pairs.ts';

describe('departures, from what upstream says to what callers get', () => {
  test.each(listPairs('departures'))('$name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.out) expect(departuresResponse.safeParse(pair.out.body).error).toBeUndefined();
  });
});
