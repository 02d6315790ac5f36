import { describe, expect, it } from 'vitest';
import { tripsResponse } from '#src/operations/trips/response.ts';
import { expectPair, listPairs } from '#test/support/pairs.ts';

describe('journeys mapped from upstream payloads', () => {
  it.each(listPairs('trips'))('GET /v1/trips maps the upstream payload of fixture $name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(tripsResponse.safeParse(pair.answer.body).error).toBeUndefined();
  });
});
