import {
  type Act,
  CANCELLED,
  EMPTY,
  FAILING,
  late,
  NO_TIMETABLE,
  PLAIN,
  REFUSING,
  SILENT,
  UNKNOWN_STOP,
  UNREADABLE,
} from './act.ts';

/*
 * UpstreamRequests that the sandbox answers with a failure, so that a client can rehearse it. Each case has a code. It is asked
 * for by the stop `99000` + code, by a place whose longitude ends in the code, or by a search for `rehearsal` and the
 * code. The table in docs/sandbox.md says what the service answers.
 */

/** What is done for so many seconds. */
interface Phase {
  seconds: number;
  act: Act;
}

/** Phases that follow each other from the first question on, and begin again with the first question after the last. */
export type Phases = readonly Phase[];

const SLOW_MS = 2000;

const CASES: Readonly<Record<string, { means: string; phases: Phases }>> = {
  '001': { means: 'slow', phases: always(late(SLOW_MS)) },
  '002': {
    means: 'stale after a while',
    phases: [
      { seconds: 1, act: PLAIN },
      { seconds: 120, act: FAILING },
    ],
  },
  '003': { means: 'empty', phases: always(EMPTY) },
  '004': { means: 'everything cancelled', phases: always(CANCELLED) },
  '005': {
    means: 'comes and goes',
    phases: [
      { seconds: 20, act: PLAIN },
      { seconds: 60, act: UNREADABLE },
    ],
  },
  '006': {
    means: 'not there any more after a while',
    phases: [
      { seconds: 10, act: PLAIN },
      { seconds: 120, act: UNKNOWN_STOP },
    ],
  },
  '400': { means: 'beyond the timetable', phases: always(NO_TIMETABLE) },
  '404': { means: 'unknown stop', phases: always(UNKNOWN_STOP) },
  '502': { means: 'the authority fails', phases: always(FAILING) },
  '503': { means: 'the authority takes no more requests', phases: always(REFUSING) },
  '504': { means: 'the authority does not answer', phases: always(SILENT) },
};

const LIST = Object.entries(CASES)
  .map(([code, { means }]) => `\`${code}\` ${means}`)
  .sort()
  .join(', ');

/** For the description of an API that stands in front of the sandbox. */
export const REHEARSALS_IN_WORDS = `The data is made up by a sandbox. A stop whose identifier is \`99000\` and a code rehearses a failure, in departures, boards, streams and as \`from\` of trips: ${LIST}.`;

function always(act: Act): Phases {
  return [{ seconds: Number.POSITIVE_INFINITY, act }];
}

/** Where an endpoint's question has the code, and what stands there in the question that is answered instead. */
const PLACES: Partial<Record<string, { parameter: string; code: RegExp; plain?: string }>> = {
  // The stops are City Interchange in Canberra under other numbers: its vehicles are in no realtime feed, which would go
  // on telling of them.
  departure_mon: { parameter: 'name_dm', code: /^99000(\d{3})$/, plain: '99004002' },
  trip: { parameter: 'name_origin', code: /^99000(\d{3})$/, plain: '99004002' },
  stop_finder: { parameter: 'name_sf', code: /^rehearsal (\d{3})$/, plain: 'town hall' },
  coord: { parameter: 'coord', code: /^151\.2(\d{3}):-33\.87:/ },
};

/** A question that rehearses something. */
export interface RehearsalRequest {
  phases: Phases;
  /** The question without the code in it. */
  plain: URLSearchParams;
}

/** The code in the question; null for a question that rehearses nothing. */
export function findRehearsalCode(endpoint: string, query: URLSearchParams): string | null {
  const place = PLACES[endpoint];
  const code = place?.code.exec(query.get(place.parameter) ?? '')?.[1] ?? '';
  return Object.hasOwn(CASES, code) ? code : null;
}

export function findRehearsal(endpoint: string, query: URLSearchParams): RehearsalRequest | null {
  const place = PLACES[endpoint];
  const phases = CASES[findRehearsalCode(endpoint, query) ?? '']?.phases;
  if (!place || !phases) return null;
  const plain = new URLSearchParams(query);
  if (place.plain !== undefined) plain.set(place.parameter, place.plain);
  return { phases, plain };
}
