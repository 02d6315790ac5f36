import { describe, expect, it } from 'vitest';
import { tripsResponse } from '#src/operations/trips/response.ts';
import { expectPair, listPairs } from '#test/support/pairs.ts';

describe('journeys, from what upstream says to what callers get', () => {
  it.each(listPairs('trips'))('$name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(tripsResponse.safeParse(pair.answer.body).error).toBeUndefined();
  });
});
