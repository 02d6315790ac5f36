import {
  CALLS_UNTOLD,
  CANCELLED,
  CHANGE_MISSED,
  EMPTY,
  FAILING,
  NO_TIMETABLE,
  PLAIN,
  REFUSING,
  SILENT,
  SLOW,
  type Step,
  UNKNOWN_STOP,
  UNREADABLE,
} from './steps.ts';

/*
 * The sandbox answers some requests with a failure, so that a client can rehearse it. Each scenario has a code. A request
 * names it by the stop `99000` + code, by a place whose longitude ends in the code, or by a search for `rehearsal` and
 * the code. The table in docs/guide/sandbox.md says what the service answers.
 */

/** The steps follow each other from the first request on, and begin again with the first request after the last. */
type Scenario = readonly { seconds: number; step: Step }[];

/** `plain` is another stop than those of `PLACES`. */
const SCENARIOS: Readonly<Record<string, { means: string; scenario: Scenario; plain?: string }>> = {
  '001': { means: 'slow', scenario: always(SLOW) },
  '002': {
    means: 'stale after a while',
    scenario: [
      { seconds: 1, step: PLAIN },
      { seconds: 120, step: FAILING },
    ],
  },
  '003': { means: 'empty', scenario: always(EMPTY) },
  '004': { means: 'everything cancelled', scenario: always(CANCELLED) },
  '005': {
    means: 'comes and goes',
    scenario: [
      { seconds: 20, step: PLAIN },
      { seconds: 60, step: UNREADABLE },
    ],
  },
  '006': {
    means: 'not there any more after a while',
    scenario: [
      { seconds: 10, step: PLAIN },
      { seconds: 120, step: UNKNOWN_STOP },
    ],
  },
  '007': { means: 'not told where vehicles stop', scenario: always(CALLS_UNTOLD) },
  '008': {
    means: 'a change is missed once a journey is followed',
    // Gungahlin Place, from where one changes on the way to most others.
    plain: '99004005',
    scenario: [
      { seconds: 20, step: PLAIN },
      { seconds: 1200, step: CHANGE_MISSED },
    ],
  },
  '400': { means: 'beyond the timetable', scenario: always(NO_TIMETABLE) },
  '404': { means: 'unknown stop', scenario: always(UNKNOWN_STOP) },
  '502': { means: 'the authority fails', scenario: always(FAILING) },
  '503': { means: 'the authority takes no more requests', scenario: always(REFUSING) },
  '504': { means: 'the authority does not answer', scenario: always(SILENT) },
};

const LIST = Object.entries(SCENARIOS)
  .map(([code, { means }]) => `\`${code}\` ${means}`)
  .sort()
  .join(', ');

/** For the description of an API that stands in front of the sandbox. */
export const REHEARSALS_IN_WORDS = `The data is made up by a sandbox. A stop whose identifier is \`99000\` and a code rehearses a failure, in departures, boards, streams and as \`from\` of trips: ${LIST}.`;

function always(step: Step): Scenario {
  return [{ seconds: Number.POSITIVE_INFINITY, step }];
}

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

/** Remembers when each rehearsal was requested first, and finds the step that is due and the query to answer. */
export function createRehearsals(now: () => Date) {
  const begun = new Map<string, number>();

  function dueStep(key: string, scenario: Scenario): Step {
    const total = scenario.reduce((sum, { seconds }) => sum + seconds, 0);
    const present = now().getTime() / 1000;
    let left = present - (begun.get(key) ?? Number.NEGATIVE_INFINITY);
    // A clock that was set back begins the scenario anew too.
    if (left < 0 || left >= total) {
      if (begun.size >= MAX_REQUESTS) begun.clear();
      begun.set(key, present);
      left = 0;
    }
    for (const { seconds, step } of scenario) {
      if (left < seconds) return step;
      left -= seconds;
    }
    return PLAIN;
  }

  return (endpoint: string, query: URLSearchParams): { step: Step; query: URLSearchParams } => {
    const place = PLACES[endpoint];
    const rehearsed = SCENARIOS[findRehearsalCode(endpoint, query) ?? ''];
    if (!place || !rehearsed) return { step: PLAIN, query };
    const plain = new URLSearchParams(query);
    if (place.plain !== undefined) plain.set(place.parameter, rehearsed.plain ?? place.plain);
    return { step: dueStep(`${endpoint} ${query}`, rehearsed.scenario), query: plain };
  };
}
