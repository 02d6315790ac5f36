import { dateInvalid, noConnection, noMatches, noServingLines, refusal, VERSION } from './responses/common.ts';

/*
 * The sandbox answers some requests with a failure, so that clients can test their error handling. Each scenario has a code. A
 * request contains it as the stop `99000` + code, as a place whose longitude ends in the code, or as a search for `rehearsal`
 * and the code. The table in docs/guide/sandbox.md lists how the service responds.
 */

/** One step of a scenario: the plain response, delayed, missing, replaced or changed. */
export interface Step {
  delayMs?: number;
  isSilent?: true;
  instead?: { status: number; body: string; headers?: Record<string, string> };
  change?: (response: object, endpoint: string, query: URLSearchParams) => object;
}

const PLAIN: Step = {};
const FAILING: Step = { instead: { status: 500, body: '<html><h1>Internal error</h1></html>' } };

/** The gateway's response to calls above the rate limit. */
const REFUSING: Step = {
  instead: {
    status: 403,
    body: '{"code":403,"message":"Account over rate limit"}',
    headers: { 'x-error-detail': 'Account Over Rate Limit' },
  },
};

/** All records are empty. */
const UNREADABLE: Step = {
  change: (response, endpoint) => ({ ...response, [endpoint === 'trip' ? 'journeys' : 'stopEvents']: [{}] }),
};

const UNKNOWN_STOP: Step = {
  change: (_response, endpoint) =>
    endpoint === 'trip' ? refusal(noMatches('origin')) : { ...refusal(noMatches('stop')), locations: [] },
};

const NO_TIMETABLE: Step = { change: () => refusal(dateInvalid) };

const EMPTY: Step = {
  change: (response, endpoint) => {
    if (endpoint === 'trip') return refusal(noConnection);
    if (endpoint !== 'departure_mon') return { version: VERSION, locations: [] };
    const { stopEvents: _, ...board } = response as { stopEvents?: unknown };
    return { ...board, systemMessages: [noServingLines] };
  },
};

interface Leg {
  transportation: { product: { class: number } };
  destination: { arrivalTimePlanned: string };
}

const isRide = ({ transportation }: Leg) => ![99, 100].includes(transportation.product.class);

/** Cancels every departure, and every ride of every journey. */
const CANCELLED: Step = {
  change: (response) => {
    const { stopEvents, journeys } = response as {
      stopEvents?: { departureTimeEstimated?: string }[];
      journeys?: { legs: Leg[] }[];
    };
    const cancelled = { isCancelled: true, realtimeStatus: ['TRIP_CANCELLED', 'MONITORED'] };
    const withoutRides = journeys?.map((journey) => ({
      ...journey,
      legs: journey.legs.map((leg) => (isRide(leg) ? { ...leg, ...cancelled } : leg)),
    }));
    const events = stopEvents?.map(({ departureTimeEstimated: _, ...event }) => ({ ...event, ...cancelled }));
    return { ...response, ...(events && { stopEvents: events }), ...(withoutRides && { journeys: withoutRides }) };
  },
};

/** Lists the departures of the board without their later stops. */
const CALLS_MISSING: Step = {
  change: (response) => {
    const { stopEvents } = response as { stopEvents?: object[] };
    const events = stopEvents?.map((event) => ({ ...event, previousLocations: undefined, onwardLocations: undefined }));
    return { ...response, ...(events && { stopEvents: events }) };
  },
};

const LATE_MS = 30 * 60_000;

/**
 * When a journey is requested again, its first ride arrives half an hour late, so that its change is missed. A request for now,
 * which plans journeys, gets its plain response.
 */
const CHANGE_MISSED: Step = {
  change: (response, endpoint, query) => {
    const { journeys } = response as { journeys?: { legs: Leg[] }[] };
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

function arrivingLate(leg: Leg): object {
  const lateArrival = new Date(Date.parse(leg.destination.arrivalTimePlanned) + LATE_MS)
    .toISOString()
    .replace('.000', '');
  return {
    ...leg,
    isRealtimeControlled: true,
    realtimeStatus: ['MONITORED'],
    destination: { ...leg.destination, arrivalTimeEstimated: lateArrival },
  };
}

/**
 * The plain response for `plainSeconds` from the first request on, then the step for `stepSeconds`; the next request starts
 * over. Without seconds, always the step. `plain` overrides the stop of `PLACES`.
 */
interface Scenario {
  means: string;
  plainSeconds?: number;
  step: Step;
  stepSeconds?: number;
  plain?: string;
  /** What else fails while the step lasts: the feeds do not change, or a file of the schedule is broken. */
  breaks?: 'feeds' | 'schedule';
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  '001': { means: 'slow', step: { delayMs: 2000 } },
  '002': { means: 'stale after a while', plainSeconds: 1, step: FAILING, stepSeconds: 120 },
  '003': { means: 'empty', step: EMPTY },
  '004': { means: 'everything cancelled', step: CANCELLED },
  '005': { means: 'comes and goes', plainSeconds: 20, step: UNREADABLE, stepSeconds: 60 },
  '006': { means: 'gone after a while', plainSeconds: 10, step: UNKNOWN_STOP, stepSeconds: 120 },
  '007': { means: 'departures without their later stops', step: CALLS_MISSING },
  '008': {
    means: 'a missed change, once the journey is followed',
    plainSeconds: 20,
    step: CHANGE_MISSED,
    stepSeconds: 1200,
    // Gungahlin Place, from which most other places need a change.
    plain: '99004005',
  },
  '010': { means: 'the realtime feeds freeze for ten minutes', step: PLAIN, stepSeconds: 600, breaks: 'feeds' },
  '011': {
    means: 'the schedule file of trains is truncated for a day',
    step: PLAIN,
    stepSeconds: 86_400,
    breaks: 'schedule',
  },
  '400': { means: 'beyond the timetable', step: NO_TIMETABLE },
  '404': { means: 'unknown stop', step: UNKNOWN_STOP },
  '502': { means: 'Transport for NSW fails', step: FAILING },
  '503': { means: 'Transport for NSW refuses further requests', step: REFUSING },
  '504': { means: 'Transport for NSW does not respond', step: { isSilent: true } },
};

const LIST = Object.entries(SCENARIOS)
  .map(([code, { means }]) => `\`${code}\` ${means}`)
  .sort()
  .join(', ');

/** Text for the description of an API in front of the sandbox. */
export const REHEARSALS_IN_WORDS = `The data is made up by a sandbox. A stop whose identifier is \`99000\` and a code rehearses a failure, in departures, boards, streams and as \`from\` of trips: ${LIST}.`;

/** The parameter of each endpoint that contains the code, and the value that replaces it for the plain response. */
const PLACES: Partial<Record<string, { parameter: string; code: RegExp; plain?: string }>> = {
  // The stops are City Interchange in Canberra under other numbers: its vehicles are in no realtime feed, which would otherwise
  // still report them.
  departure_mon: { parameter: 'name_dm', code: /^99000(\d{3})$/, plain: '99004002' },
  trip: { parameter: 'name_origin', code: /^99000(\d{3})$/, plain: '99004002' },
  stop_finder: { parameter: 'name_sf', code: /^rehearsal (\d{3})$/, plain: 'town hall' },
  coord: { parameter: 'coord', code: /^151\.2(\d{3}):-33\.87:/ },
};

/** The code in the request; null if it has none. */
export function findRehearsalCode(endpoint: string, query: URLSearchParams): string | null {
  const place = PLACES[endpoint];
  const code = place?.code.exec(query.get(place.parameter) ?? '')?.[1] ?? '';
  return Object.hasOwn(SCENARIOS, code) ? code : null;
}

/** Beyond this, all requests are forgotten and their scenarios start over. */
const MAX_REQUESTS = 1000;

const BROKEN_SCHEDULE = '/v1/gtfs/schedule/sydneytrains';

/** Records when each rehearsal was first requested, and finds the current step and the query to respond to. */
export function createRehearsals(now: () => Date) {
  const begun = new Map<string, number>();
  /** Since when and until when feeds or schedule fail, in epoch seconds. */
  const broken = new Map<'feeds' | 'schedule', { since: number; until: number }>();

  function dueStep(key: string, { plainSeconds = 0, step, stepSeconds = Infinity, breaks }: Scenario): Step {
    const present = now().getTime() / 1000;
    let elapsed = present - (begun.get(key) ?? Number.NEGATIVE_INFINITY);
    // The scenario also starts over if the clock was set back.
    if (elapsed < 0 || elapsed >= plainSeconds + stepSeconds) {
      if (begun.size >= MAX_REQUESTS) begun.clear();
      begun.set(key, present);
      if (breaks) broken.set(breaks, { since: present, until: present + stepSeconds });
      elapsed = 0;
    }
    return elapsed < plainSeconds ? PLAIN : step;
  }

  /** When it began to fail, in epoch seconds; null if it is not failing. */
  function brokenSince(target: 'feeds' | 'schedule'): number | null {
    const present = now().getTime() / 1000;
    const { since, until } = broken.get(target) ?? { since: Number.POSITIVE_INFINITY, until: 0 };
    return present >= since && present < until ? since : null;
  }

  return {
    rehearse(endpoint: string, query: URLSearchParams): { step: Step; query: URLSearchParams } {
      const place = PLACES[endpoint];
      const rehearsed = SCENARIOS[findRehearsalCode(endpoint, query) ?? ''];
      if (!place || !rehearsed) return { step: PLAIN, query };
      const plainQuery = new URLSearchParams(query);
      if (place.plain !== undefined) plainQuery.set(place.parameter, rehearsed.plain ?? place.plain);
      return { step: dueStep(`${endpoint} ${query}`, rehearsed), query: plainQuery };
    },
    /** The time that the feeds reflect. */
    feedsAt(): Date {
      const since = brokenSince('feeds');
      return since === null ? now() : new Date(since * 1000);
    },
    isBroken: (schedulePath: string): boolean => schedulePath === BROKEN_SCHEDULE && brokenSince('schedule') !== null,
  };
}
