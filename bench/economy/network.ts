import { type Clock, sleep } from '#src/core/clock.ts';
import type { CallUpstream } from '#src/efa/query-upstream.ts';
import type { UpstreamRequest } from '#src/efa/request.ts';
import { receivedResponse } from '#test/support/received-response.ts';
import { locationsNamed, locationsNear } from './real-places.ts';

/** A number that no upstream stop has. */
export const stopId = (stop: number) => String(900_000 + stop);

/** An upstream on the simulated clock that records its calls. A bus leaves at every stop. */
export function createMadeUpUpstream(
  clock: Clock,
  random: () => number,
): { callUpstream: CallUpstream; calls: number[] } {
  const calls: number[] = [];
  const callUpstream: CallUpstream = async (request) => {
    calls.push(clock.now());
    await sleep(clock, 150 + 450 * random());
    return receivedResponse(request, recordsFor(request), new Date(clock.now()));
  };
  return { callUpstream, calls };
}

export function recordsFor(request: UpstreamRequest): object {
  if (request.kind === 'departureMonitor') return { locations: [{ id: request.stopId }], stopEvents: [BUS] };
  if (request.kind === 'coord') return { locations: locationsNear(request) };
  if (request.kind === 'stopFinder') return { locations: locationsNamed(request.text) };
  return { locations: [], journeys: [], infos: { current: [] } };
}

const BUS = { transportation: { product: { class: 5 } } };
