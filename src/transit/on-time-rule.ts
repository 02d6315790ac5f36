import type { Mode } from './modes.ts';

/** Which delays count as on time. Positive seconds are late; a null `earliestSeconds` means that no early run is off time. */
export interface OnTimeRule {
  earliestSeconds: number | null;
  latestSeconds: number;
  source: string;
}

const RAIL: OnTimeRule = {
  earliestSeconds: null,
  latestSeconds: 300,
  source:
    'Sydney Trains performance reports: within five minutes of the timetable. There only peak arrivals at the last stop count.',
};
const BUSES: OnTimeRule = {
  earliestSeconds: -119,
  latestSeconds: 359,
  source:
    'NSW bus contracts (State Transit quarterly reports): from 1 minute 59 seconds before to 5 minutes 59 seconds after the timetable. There only the first stop counts.',
};
const OWN: OnTimeRule = {
  earliestSeconds: -119,
  latestSeconds: 359,
  source: 'This service: the rule of buses, because no rule of the operators of this mode is known.',
};
/** Short names of the intercity lines. */
const INTERCITY = ['BMT', 'CCN', 'HUN', 'SCO', 'SHL'];
const INTERCITY_RULE: OnTimeRule = {
  earliestSeconds: null,
  latestSeconds: 360,
  source:
    'NSW TrainLink (Intercity) performance reports: within six minutes of the timetable. There only peak arrivals at the last stop count.',
};

export function onTimeRuleOf({ mode, route }: { mode: Mode; route: string }): OnTimeRule {
  if (mode === 'train') return INTERCITY.includes(route.toUpperCase()) ? INTERCITY_RULE : RAIL;
  return mode === 'bus' || mode === 'schoolbus' ? BUSES : OWN;
}
