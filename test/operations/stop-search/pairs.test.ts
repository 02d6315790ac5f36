import { describe, expect, it } from 'vitest';
import { stopSearchResponse } from '#src/operations/stop-search/operation.ts';
import { expectPair, listPairs } from '#test/support/pairs.ts';

describe('stops found, mapped from upstream payloads', () => {
  it.each(listPairs('stop-search'))('GET /v1/stops/search maps the upstream payload of fixture $name', async (pair) => {
    await expectPair(pair);
    if ('body' in pair.answer) expect(stopSearchResponse.safeParse(pair.answer.body).error).toBeUndefined();
  });
});

describe('places found, mapped from upstream payloads', () => {
  it.each(listPairs('places'))('GET /v1/places/search maps the upstream payload of fixture $name', expectPair);
});
