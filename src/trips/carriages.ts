import type { FindContext } from '../operation.ts';
import type { AskedFields } from '../transit/additional-fields.ts';
import type { Journey } from './journey.ts';
import type { Leg } from './leg.ts';

/**
 * The journeys with the carriages of their rides, where those are asked for. `asOf` is the oldest moment of which the feeds then
 * speak.
 */
export function viewCarriages(
  journeys: readonly Journey[],
  include: AskedFields['include'],
  calls: Pick<FindContext['calls'], 'viewCarriages'>,
): { journeys: readonly Journey[]; asOf: number } {
  let asOf = Number.POSITIVE_INFINITY;
  if (!include?.includes('carriages')) return { journeys, asOf };
  const viewLeg = (leg: Leg): Leg => {
    const { mode, runId, origin } = leg;
    if (mode === 'walk' || leg.isCancelled) return leg;
    const ride = { mode, runId, stopId: origin.stopId, plannedAt: origin.planned.getTime() };
    const found = calls.viewCarriages(ride, include.includes('calls') ? leg.listCalls() : null);
    asOf = Math.min(asOf, found.asOf);
    return { ...leg, carriages: found.carriages, listCalls: () => found.calls };
  };
  return { journeys: journeys.map(({ legs }) => ({ legs: legs.map(viewLeg) })), asOf };
}
