import { describe, expect, test } from 'vitest';
import { tripsResponse } from '#src/trips/journey.ts';
import { expectPair, listPairs } from '#test/support/pairs.ts';

describe('journeys, from what upstream says to what callers get', () => {
  test.each(listPairs('trips'))('$name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.out) expect(tripsResponse.safeParse(pair.out.body).error).toBeUndefined();
  });
});
