import { describe, expect, test } from 'vitest';
import { nearbyResponse } from '#src/nearby/nearby-stop.ts';
import { expectPair, listPairs } from '#test/support/pairs.ts';

describe('stops nearby, from what upstream says to what callers get', () => {
  test.each(listPairs('nearby'))('$name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.out) expect(nearbyResponse.safeParse(pair.out.body).error).toBeUndefined();
  });
});
