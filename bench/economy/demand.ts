import { createPicker, createRandom, zipf } from './random.ts';
import { placeOfPhone, placeOfStop, typedQueries } from './real-places.ts';

/** A request of the simulated day. Times are in milliseconds since its beginning. */
export type Request = { at: number; plan: Plan } & (
  | { kind: 'departures'; stop: number }
  | { kind: 'trips'; from: number | Position; to: number }
  | { kind: 'nearby'; place: Position }
  | { kind: 'search'; text: string }
);
type Position = ReturnType<typeof placeOfPhone>;

export const PLANS = ['free', 'developer', 'pro'] as const;
export type Plan = (typeof PLANS)[number];

export const HOUR_MS = 3_600_000;
/** Load in each hour of a Sydney weekday, from midnight. */
const WEEKDAY = [
  0.3, 0.2, 0.15, 0.15, 0.4, 1.2, 3, 6, 7, 4.5, 3, 2.8, 3, 2.8, 3.2, 4.5, 6.5, 7, 5, 3, 2.2, 1.8, 1.2, 0.6,
];
/** The simulated day is a UTC day; Sydney is ten hours ahead. */
const SYDNEY_HOURS_AHEAD = 10;
const IN_UTC = WEEKDAY.map((_, utc) => WEEKDAY[(utc + SYDNEY_HOURS_AHEAD) % 24] ?? 0);
/** Demand that grows every hour. */
const GROWING = Array.from({ length: 24 }, (_, hour) => (hour + 1) ** 2);

export interface Scenario {
  requests: number;
  stops: number;
  shape: 'weekday' | 'growing';
  /** 1 unless given; `requests` is the number per day. */
  days?: number;
  shares?: { departures: number; trips: number; nearby: number };
  /** Whether the service has a timetable and feeds. Phones are then near stops of the timetable. */
  isLive?: boolean;
}

/** All other requests are searches. */
const SHARES = { departures: 0.9, trips: 0.05, nearby: 0.03 };
/** Between two requests while one search is being typed. */
const TYPING_MS = 700;

/** A day of requests sorted by time. The same seed gives the same day. */
export function createDemand(scenario: Scenario, seed: number): Request[] {
  const { requests, stops, days = 1, shares = SHARES, isLive = false } = scenario;
  const random = createRandom(seed);
  const hour = createPicker(scenario.shape === 'growing' ? GROWING : IN_UTC);
  const stop = createPicker(zipf(stops));
  const phone = () => placeOfPhone(random, isLive ? placeOfStop(stop(random())) : undefined);
  const demand: Request[] = [];
  while (demand.length < requests * days) {
    const day = Math.floor(demand.length / requests);
    const at = Math.floor((24 * day + hour(random()) + random()) * HOUR_MS);
    const plan = PLANS[Math.floor(random() * PLANS.length)] ?? 'free';
    const what = random();
    if (what < shares.departures) {
      demand.push({ at, plan, kind: 'departures', stop: stop(random()) });
    } else if (what < shares.departures + shares.trips) {
      const from = stop(random());
      const to = (from + 1 + stop(random())) % stops;
      // Half of all journeys begin at the position of the phone.
      demand.push({ at, plan, kind: 'trips', from: random() < 0.5 ? from : phone(), to });
    } else if (what < shares.departures + shares.trips + shares.nearby) {
      demand.push({ at, plan, kind: 'nearby', place: phone() });
    } else {
      // Typing a name sends several requests.
      typedQueries(random).forEach((text, index) => {
        demand.push({ at: at + index * TYPING_MS, plan, kind: 'search', text });
      });
    }
  }
  return demand.sort((one, other) => one.at - other.at);
}
