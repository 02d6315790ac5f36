import { type Act, PLAIN } from './act.ts';
import { findRehearsal, type Phases } from './rehearsal-case.ts';

/** What the sandbox does about a question. */
export interface Performance {
  act: Act;
  /** The question to answer. */
  query: URLSearchParams;
}

/** Further questions with phases are forgotten and begin anew. */
const MAX_QUESTIONS = 1000;

/** Remembers when each question with phases was asked first. */
export function createRehearsals(now: () => Date) {
  const begun = new Map<string, number>();

  function findAct(key: string, phases: Phases): Act {
    const total = phases.reduce((sum, { seconds }) => sum + seconds, 0);
    const present = now().getTime() / 1000;
    let seconds = present - (begun.get(key) ?? Number.NEGATIVE_INFINITY);
    // A clock that was set back begins them anew too.
    if (seconds < 0 || seconds >= total) {
      if (begun.size >= MAX_QUESTIONS) begun.clear();
      begun.set(key, present);
      seconds = 0;
    }
    for (const phase of phases) {
      if (seconds < phase.seconds) return phase.act;
      seconds -= phase.seconds;
    }
    return PLAIN;
  }

  return (endpoint: string, query: URLSearchParams): Performance => {
    const rehearsal = findRehearsal(endpoint, query);
    if (!rehearsal) return { act: PLAIN, query };
    return { act: findAct(`${endpoint} ${query}`, rehearsal.phases), query: rehearsal.plain };
  };
}
