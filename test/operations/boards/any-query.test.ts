import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBoardsOperation } from '#src/operations/boards/operation.ts';
import { departuresOperation } from '#src/operations/departures/operation.ts';
import { createNearbyOperation } from '#src/operations/nearby/operation.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { expectErrorObject } from '#test/contract/expect-contract.ts';
import { buildHealthyApp } from '#test/support/healthy-upstream.ts';

const operation = createBoardsOperation({
  oneStop: departuresOperation,
  nearby: createNearbyOperation({ stops: new StopRegister(noStops) }),
  docsUrl: 'https://example.test/docs',
});
let app: Awaited<ReturnType<typeof buildHealthyApp>>;
beforeAll(async () => {
  app = await buildHealthyApp();
});
afterAll(() => app.close());

const stops = fc.array(fc.oneof(fc.constantFrom('200020', 'g200098', '1', ' 2 ', '', 'x'), fc.string()), {
  maxLength: 25,
});
const others = fc.dictionary(
  fc.constantFrom('limit', 'modes', 'routes', 'date', 'time', 'stop', 'stops', 'near', 'radius', 'max_stops'),
  fc.constantFrom('1', '50', 'all', 'bus', 'F1', '20260415', '20260230', '0800', '-33.87,151.2', '', 'x'),
);

it('GET /v1/boards answers any query with its schema or the error object, and never with a 5xx', async () => {
  await fc.assert(
    fc.asyncProperty(stops, others, async (list, more) => {
      const query = new URLSearchParams([['stops', list.join(',').toWellFormed()], ...Object.entries(more)]);
      const response = await app.inject(`/v1/boards?${query}`);
      expect(response.statusCode).toBeLessThan(500);
      if (response.statusCode === 200) expect(operation.body.safeParse(response.json()).error).toBeUndefined();
      else expectErrorObject(response);
    }),
    { seed: 20260415, numRuns: 200 },
  );
});
