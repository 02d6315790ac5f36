import { type Clock, sleep } from '#src/clock.ts';
import type { AskAuthority } from '#src/efa/ask.ts';
import type { UpstreamRequest } from '#src/efa/request.ts';
import { receivedResponse } from '#test/support/received-answer.ts';

const STOPS_NEARBY = 10;

/** Ten stops around each place. The stops around places in town overlap, and their departures are asked for too. */
export function stopsNear(place: number, stops: number): number[] {
  const first = place < stops ? place : place * STOPS_NEARBY;
  return Array.from({ length: STOPS_NEARBY }, (_, index) => first + index);
}

export const stopId = (stop: number) => String(200_000 + stop);

/** An authority on the simulated clock that records its calls. At every stop something leaves. */
export function createAuthority(clock: Clock, random: () => number): { ask: AskAuthority; calls: number[] } {
  const calls: number[] = [];
  const ask: AskAuthority = async (request) => {
    calls.push(clock.now());
    await sleep(clock, 150 + 450 * random());
    return receivedResponse(request, recordsFor(request), new Date(clock.now()));
  };
  return { ask, calls };
}

export function recordsFor(request: UpstreamRequest): object {
  if (request.kind === 'departureMonitor') return { locations: [{ id: request.stopId }], stopEvents: [BUS] };
  return { locations: [], journeys: [] };
}

const BUS = { transportation: { product: { class: 5 } } };
