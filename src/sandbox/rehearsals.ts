import { dateInvalid, noConnection, noMatches, noServingLines, refusal, VERSION } from './responses/common.ts';

/*
 * The sandbox answers some requests with a failure, so that a client can rehearse it. Each scenario has a code. A request
 * names it by the stop `99000` + code, by a place whose longitude ends in the code, or by a search for `rehearsal` and
 * the code. The table in docs/guide/sandbox.md says how the service responds.
 */

/** One step of a scenario: the plain response late, none, another one in its place, or one made out of it. */
export interface Step {
  delayMs?: number;
  isSilent?: true;
  instead?: { status: number; body: string; headers?: Record<string, string> };
  change?: (response: object, endpoint: string, query: URLSearchParams) => object;
}

const PLAIN: Step = {};
const FAILING: Step = { instead: { status: 500, body: '<html><h1>Internal error</h1></html>' } };

/** The gateway refuses calls that come too fast in this form. */
const REFUSING: Step = {
  instead: {
    status: 403,
    body: '{"code":403,"message":"Account over rate limit"}',
    headers: { 'x-error-detail': 'Account Over Rate Limit' },
  },
};

/** The records have nothing in them. */
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

/** Every departure is cancelled, and every ride of every journey. */
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

/** The board lists its departures as ever, but not where their vehicles stop afterwards. */
const CALLS_UNTOLD: Step = {
  change: (response) => {
    const { stopEvents } = response as { stopEvents?: object[] };
    const events = stopEvents?.map((event) => ({ ...event, previousLocations: undefined, onwardLocations: undefined }));
    return { ...response, ...(events && { stopEvents: events }) };
  },
};

const LATE_MS = 30 * 60_000;

/**
 * When a journey is looked at again, its first ride arrives half an hour late, so that the change after it is missed. A request
 * for now, by which journeys are planned, gets its plain response.
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
  const late = new Date(Date.parse(leg.destination.arrivalTimePlanned) + LATE_MS).toISOString().replace('.000', '');
  return {
    ...leg,
    isRealtimeControlled: true,
    realtimeStatus: ['MONITORED'],
    destination: { ...leg.destination, arrivalTimeEstimated: late },
  };
}

/**
 * The plain response for so long from the first request on, then the step for so long, and so on from the next request; without
 * seconds, the step always. `plain` is another stop than those of `PLACES`.
 */
interface Scenario {
  means: string;
  plainSeconds?: number;
  step: Step;
  stepSeconds?: number;
  plain?: string;
  /** What fails beside the request, for as long as its step is due: the feeds stand still, or a file of the schedule is broken. */
  breaks?: 'feeds' | 'schedule';
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  '001': { means: 'slow', step: { delayMs: 2000 } },
  '002': { means: 'stale after a while', plainSeconds: 1, step: FAILING, stepSeconds: 120 },
  '003': { means: 'empty', step: EMPTY },
  '004': { means: 'everything cancelled', step: CANCELLED },
  '005': { means: 'comes and goes', plainSeconds: 20, step: UNREADABLE, stepSeconds: 60 },
  '006': { means: 'not there any more after a while', plainSeconds: 10, step: UNKNOWN_STOP, stepSeconds: 120 },
  '007': { means: 'not told where vehicles stop', step: CALLS_UNTOLD },
  '008': {
    means: 'a change is missed once a journey is followed',
    plainSeconds: 20,
    step: CHANGE_MISSED,
    stepSeconds: 1200,
    // Gungahlin Place, from where one changes on the way to most others.
    plain: '99004005',
  },
  '010': { means: 'the realtime feeds stand still for ten minutes', step: PLAIN, stepSeconds: 600, breaks: 'feeds' },
  '011': { means: 'the schedule of trains is broken for a day', step: PLAIN, stepSeconds: 86_400, breaks: 'schedule' },
  '400': { means: 'beyond the timetable', step: NO_TIMETABLE },
  '404': { means: 'unknown stop', step: UNKNOWN_STOP },
  '502': { means: 'the authority fails', step: FAILING },
  '503': { means: 'the authority takes no more requests', step: REFUSING },
  '504': { means: 'the authority does not answer', step: { isSilent: true } },
};

const LIST = Object.entries(SCENARIOS)
  .map(([code, { means }]) => `\`${code}\` ${means}`)
  .sort()
  .join(', ');

/** Belongs into the description of an API that stands in front of the sandbox. */
export const REHEARSALS_IN_WORDS = `The data is made up by a sandbox. A stop whose identifier is \`99000\` and a code rehearses a failure, in departures, boards, streams and as \`from\` of trips: ${LIST}.`;

/** The parameter of each endpoint that has the code, and the value that is used in its place for the plain response. */
const PLACES: Partial<Record<string, { parameter: string; code: RegExp; plain?: string }>> = {
  // The stops are City Interchange in Canberra under other numbers: its vehicles are in no realtime feed, which would go
  // on telling of them.
  departure_mon: { parameter: 'name_dm', code: /^99000(\d{3})$/, plain: '99004002' },
  trip: { parameter: 'name_origin', code: /^99000(\d{3})$/, plain: '99004002' },
  stop_finder: { parameter: 'name_sf', code: /^rehearsal (\d{3})$/, plain: 'town hall' },
  coord: { parameter: 'coord', code: /^151\.2(\d{3}):-33\.87:/ },
};

/** The code in the request; null for a request that rehearses nothing. */
export function findRehearsalCode(endpoint: string, query: URLSearchParams): string | null {
  const place = PLACES[endpoint];
  const code = place?.code.exec(query.get(place.parameter) ?? '')?.[1] ?? '';
  return Object.hasOwn(SCENARIOS, code) ? code : null;
}

/** The times of further requests are forgotten, and their scenarios begin anew. */
const MAX_REQUESTS = 1000;

const BROKEN_SCHEDULE = '/v1/gtfs/schedule/sydneytrains';

/** Remembers when each rehearsal was requested first, and finds the step that is due and the query to respond to. */
export function createRehearsals(now: () => Date) {
  const begun = new Map<string, number>();
  /** Since when something else fails, and until when. */
  const broken = new Map<'feeds' | 'schedule', { since: number; until: number }>();

  function dueStep(key: string, { plainSeconds = 0, step, stepSeconds = Infinity, breaks }: Scenario): Step {
    const present = now().getTime() / 1000;
    let passed = present - (begun.get(key) ?? Number.NEGATIVE_INFINITY);
    // A clock that was set back begins the scenario anew too.
    if (passed < 0 || passed >= plainSeconds + stepSeconds) {
      if (begun.size >= MAX_REQUESTS) begun.clear();
      begun.set(key, present);
      if (breaks) broken.set(breaks, { since: present, until: present + stepSeconds });
      passed = 0;
    }
    return passed < plainSeconds ? PLAIN : step;
  }

  /** Since when it fails, in epoch seconds; null while it does not. */
  function brokenSince(what: 'feeds' | 'schedule'): number | null {
    const present = now().getTime() / 1000;
    const { since, until } = broken.get(what) ?? { since: Number.POSITIVE_INFINITY, until: 0 };
    return present >= since && present < until ? since : null;
  }

  return {
    rehearse(endpoint: string, query: URLSearchParams): { step: Step; query: URLSearchParams } {
      const place = PLACES[endpoint];
      const rehearsed = SCENARIOS[findRehearsalCode(endpoint, query) ?? ''];
      if (!place || !rehearsed) return { step: PLAIN, query };
      const plain = new URLSearchParams(query);
      if (place.plain !== undefined) plain.set(place.parameter, rehearsed.plain ?? place.plain);
      return { step: dueStep(`${endpoint} ${query}`, rehearsed), query: plain };
    },
    /** The moment of which the feeds report. */
    feedsAt(): Date {
      const since = brokenSince('feeds');
      return since === null ? now() : new Date(since * 1000);
    },
    isBroken: (schedulePath: string): boolean => schedulePath === BROKEN_SCHEDULE && brokenSince('schedule') !== null,
  };
}
