import { createOperations } from '#src/operations/all-operations.ts';
import { createSources } from '#src/operations/sources.ts';
import { emptyRecord } from '#src/transit/punctuality.ts';
import { oneCarPark } from '#test/support/car-parks.ts';
import { noUpstream } from '#test/support/no-upstream.ts';

/** Every operation with its description, without any known stop. */
export function describedOperations(docsUrl = 'https://example.test/docs') {
  const given = { queryUpstream: noUpstream, carParks: oneCarPark(Date.now), punctuality: emptyRecord };
  return createOperations({ sources: createSources(given, () => Date.now()), docsUrl });
}
