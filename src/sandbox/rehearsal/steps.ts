import type { EndpointName, Fault } from '../fault.ts';
import { dateInvalid, noConnection, noMatches, noServingLines, refusal, VERSION } from '../responses/common.ts';

/** One step of a scenario: the sandbox answers with a fault, or changes its plain response. */
export interface Step {
  fault?: Fault;
  /** Makes another response out of the plain one. */
  change?: (response: object, endpoint: EndpointName, query: URLSearchParams) => object;
}

export const PLAIN: Step = {};
export const SILENT: Step = { fault: { kind: 'hang-before-headers' } };
export const FAILING: Step = { fault: { kind: 'respond', status: 500, body: '<html><h1>Internal error</h1></html>' } };

/** The gateway refuses calls that come too fast in this form. */
export const REFUSING: Step = {
  fault: {
    kind: 'respond',
    status: 403,
    body: '{"code":403,"message":"Account over rate limit"}',
    headers: { 'x-error-detail': 'Account Over Rate Limit' },
  },
};

export const SLOW: Step = { fault: { kind: 'slow', delayMs: 2000 } };

/** The records have nothing in them. */
export const UNREADABLE: Step = {
  change: (response, endpoint) => ({ ...response, [endpoint === 'trip' ? 'journeys' : 'stopEvents']: [{}] }),
};

export const UNKNOWN_STOP: Step = {
  change: (_response, endpoint) =>
    endpoint === 'trip' ? refusal(noMatches('origin')) : { ...refusal(noMatches('stop')), locations: [] },
};

export const NO_TIMETABLE: Step = { change: () => refusal(dateInvalid) };

export const EMPTY: Step = {
  change: (response, endpoint) => {
    if (endpoint === 'trip') return refusal(noConnection);
    if (endpoint !== 'departure_mon') return { version: VERSION, locations: [] };
    const { stopEvents: _, ...board } = response as { stopEvents?: unknown };
    return { ...board, systemMessages: [noServingLines] };
  },
};

const WALK_CLASSES = [99, 100];

/** Every departure is cancelled, and every ride of every journey. */
export const CANCELLED: Step = {
  change: (response) => {
    const { stopEvents, journeys } = response as {
      stopEvents?: { departureTimeEstimated?: string }[];
      journeys?: { legs: { transportation: { product: { class: number } } }[] }[];
    };
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

/** What stops there is told as ever, but not where the vehicles stop afterwards. */
export const CALLS_UNTOLD: Step = {
  change: (response) => {
    const { stopEvents } = response as { stopEvents?: object[] };
    const events = stopEvents?.map((event) => ({ ...event, previousLocations: undefined, onwardLocations: undefined }));
    return { ...response, ...(events && { stopEvents: events }) };
  },
};

const LATE_MS = 30 * 60_000;

/**
 * When a journey is looked at again, its first ride arrives half an hour late, so that the change after it is missed. A request
 * for now, by which journeys are planned, is answered as ever.
 */
export const CHANGE_MISSED: Step = {
  change: (response, endpoint, query) => {
    const { journeys } = response as { journeys?: { legs: TimedLeg[] }[] };
    if (endpoint !== 'trip' || !query.has('itdDate') || !journeys) return response;
    return {
      ...response,
      journeys: journeys.map(({ legs, ...journey }) => {
        const first = legs.findIndex(isRide);
        return { ...journey, legs: legs.map((leg, index) => (index === first ? arrivingLate(leg) : leg)) };
      }),
    };
  },
};

interface TimedLeg {
  transportation: { product: { class: number } };
  destination: { arrivalTimePlanned: string };
}

function isRide({ transportation }: TimedLeg): boolean {
  return !WALK_CLASSES.includes(transportation.product.class);
}

function arrivingLate(leg: TimedLeg): object {
  const late = new Date(Date.parse(leg.destination.arrivalTimePlanned) + LATE_MS).toISOString().replace('.000', '');
  return {
    ...leg,
    isRealtimeControlled: true,
    realtimeStatus: ['MONITORED'],
    destination: { ...leg.destination, arrivalTimeEstimated: late },
  };
}
