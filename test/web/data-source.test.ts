import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Front, startFront } from '../support/front.ts';

let front: Front;
beforeAll(async () => {
  front = await startFront();
});
afterAll(() => front[Symbol.asyncDispose]());

const get = (url: string) => {
  const headers = { authorization: `Bearer ${front.testKey}`, origin: 'https://app.example' };
  return front.app.inject({ url, headers });
};

it.each(['/v1/departures?stop=200070', '/v1/departures?stop=999999999', '/v1/stops/search?q=central', '/board/200070'])(
  'a response from the sandbox has a header that says its data is made up: %s',
  async (url) => {
    const { headers } = await get(url);
    expect(headers['x-data-source']).toBe('sandbox');
    expect(headers['access-control-expose-headers']).toContain('X-Data-Source');
  },
);

it('a response from upstream has no header that says its data is made up', async () => {
  await using real = await startFront({ isSandbox: false });
  const { headers } = await real.app.inject('/v1/departures?stop=200070');
  expect(headers['x-data-source']).toBeUndefined();
});
