import { describe, expect, it } from 'vitest';
import { nearbyResponse } from '#src/operations/nearby/response.ts';
import { expectPair, listPairs } from '#test/support/pairs.ts';

describe('stops nearby, from what upstream says to what callers get', () => {
  it.each(listPairs('nearby'))('$name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(nearbyResponse.safeParse(pair.answer.body).error).toBeUndefined();
  });
});
