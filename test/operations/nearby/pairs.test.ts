import { describe, expect, it } from 'vitest';
import { nearbyResponse } from '#src/operations/nearby/operation.ts';
import { expectPair, listPairs } from '#test/support/pairs.ts';

describe('nearby stops mapped from upstream payloads', () => {
  it.each(listPairs('nearby'))('GET /v1/nearby maps the upstream payload of fixture $name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(nearbyResponse.safeParse(pair.answer.body).error).toBeUndefined();
  });
});
