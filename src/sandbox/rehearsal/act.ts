import { dateInvalid, noConnection, noMatches, noServingLines, VERSION } from '../answers/system-message.ts';
import type { EndpointName, Fault } from '../fault.ts';

/** What the sandbox does in place of its plain answer. */
export interface Act {
  fault?: Fault;
  /** Another answer in place of the plain one. */
  change?: (response: object, endpoint: EndpointName) => object;
}

export const PLAIN: Act = {};
export const SILENT: Act = { fault: { kind: 'hang-before-headers' } };
export const FAILING: Act = { fault: { kind: 'answer', status: 500, body: '<html><h1>Internal error</h1></html>' } };

/** As the gateway refuses calls that come too fast. */
export const REFUSING: Act = {
  fault: {
    kind: 'answer',
    status: 403,
    body: '{"code":403,"message":"Account over rate limit"}',
    headers: { 'x-error-detail': 'Account Over Rate Limit' },
  },
};

export function late(delayMs: number): Act {
  return { fault: { kind: 'slow', delayMs } };
}

/** Records that have nothing in them. */
export const UNREADABLE: Act = {
  change: (response, endpoint) => ({ ...response, [endpoint === 'trip' ? 'journeys' : 'stopEvents']: [{}] }),
};

export const UNKNOWN_STOP: Act = {
  change: (_answer, endpoint) =>
    endpoint === 'trip' ? refusal(noMatches('origin')) : { ...refusal(noMatches('stop')), locations: [] },
};

export const NO_TIMETABLE: Act = { change: () => refusal(dateInvalid) };

export const EMPTY: Act = {
  change: (response, endpoint) => {
    if (endpoint === 'trip') return refusal(noConnection);
    if (endpoint !== 'departure_mon') return { version: VERSION, locations: [] };
    const { stopEvents: _, ...board } = response as Partial<Record<'stopEvents', unknown>>;
    return { ...board, systemMessages: [noServingLines] };
  },
};

interface Cancellable {
  stopEvents?: { departureTimeEstimated?: string }[];
  journeys?: { legs: { transportation: { product: { class: number } } }[] }[];
}

const WALK_CLASSES = [99, 100];

/** Every departure is cancelled, and every ride of every journey. */
export const CANCELLED: Act = {
  change: (response) => {
    const { stopEvents, journeys } = response as Cancellable;
    const cancelled = { isCancelled: true, realtimeStatus: ['TRIP_CANCELLED', 'MONITORED'] };
    const withoutRides = journeys?.map((journey) => ({
      ...journey,
      legs: journey.legs.map((leg) =>
        WALK_CLASSES.includes(leg.transportation.product.class) ? leg : { ...leg, ...cancelled },
      ),
    }));
    const events = stopEvents?.map(({ departureTimeEstimated: _, ...event }) => ({ ...event, ...cancelled }));
    return { ...response, ...(events && { stopEvents: events }), ...(withoutRides && { journeys: withoutRides }) };
  },
};

function refusal(message: object) {
  return { version: VERSION, systemMessages: [message] };
}
