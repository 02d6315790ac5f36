import { type DepartureMonitorPayload, parseDepartureMonitor } from '#src/efa/payload.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import type { DepartureMonitorRequest } from '#src/efa/request.ts';

/** An upstream departure. `minute` counts from `FIRST_MINUTE`; the trip number distinguishes departures. */
export interface MadeUpEvent {
  minute: number;
  /** Set if the vehicle is tracked. */
  estimatedMinute?: number;
  trip?: number | undefined;
  productClass?: number;
  route?: string;
  headsign?: string;
  isCancelled?: boolean;
}

const FIRST_MINUTE = new Date('2026-04-15T06:00:00Z');

export function planned(minute: number): string {
  return new Date(FIRST_MINUTE.getTime() + minute * 60_000).toISOString().replace('.000', '');
}

/** A response of the departure monitor; without events, that of a known stop with no departures. */
export function toPayload(events: readonly MadeUpEvent[], stopId = '200070'): DepartureMonitorPayload {
  return parseDepartureMonitor({
    version: '10.6.21.17',
    locations: [{ id: stopId, name: 'Town Hall Station, Sydney', type: 'stop', isBest: true }],
    stopEvents: events.map((event) => {
      const { minute, estimatedMinute, trip, productClass = 5, route = '504', headsign = 'Chiswick', ...flags } = event;
      const isTracked = estimatedMinute !== undefined;
      return {
        ...flags,
        ...(isTracked && { isRealtimeControlled: true, departureTimeEstimated: planned(estimatedMinute) }),
        location: { id: '2000252', name: 'Town Hall, Park St, Stand K, Sydney', type: 'platform' },
        departureTimePlanned: planned(minute),
        transportation: {
          id: `nsw:${route}`,
          disassembledName: route,
          product: { class: productClass },
          destination: { name: headsign },
          properties: { tripCode: trip },
        },
      };
    }),
  });
}

/** An upstream that gives these responses one after another and throws the errors among them. Records the requests. */
export function respondInTurn(...responses: (DepartureMonitorPayload | Error)[]) {
  const requests: DepartureMonitorRequest[] = [];
  const send = async (request: DepartureMonitorRequest) => {
    const response = responses[requests.push(request) - 1];
    if (response === undefined) throw new Error(`nothing prepared for question ${requests.length}`);
    if (response instanceof Error) throw response;
    return { payload: response, retrievedAt: FIRST_MINUTE.getTime() + requests.length * 1000 };
  };
  return Object.assign(send as unknown as QueryUpstream, { requests });
}
