/** One request of the simulated day. Moments in milliseconds since its beginning. */
export type Request = { at: number; plan: Plan } & (
  | { kind: 'departures'; stop: number }
  | { kind: 'trips'; from: number; to: number }
  | { kind: 'nearby'; place: number }
);

export const PLANS = ['free', 'developer', 'pro'] as const;
export type Plan = (typeof PLANS)[number];

export const HOUR_MS = 3_600_000;
/** How busy each hour of a Sydney weekday is, beginning at midnight. */
const WEEKDAY = [
  0.3, 0.2, 0.15, 0.15, 0.4, 1.2, 3, 6, 7, 4.5, 3, 2.8, 3, 2.8, 3.2, 4.5, 6.5, 7, 5, 3, 2.2, 1.8, 1.2, 0.6,
];
/** The simulated day is a UTC day; Sydney is ten hours ahead. */
export const SYDNEY_HOURS_AHEAD = 10;
/** The n-th stop is asked for in proportion to 1 / n. */
const ZIPF_EXPONENT = 1;
const IN_UTC = WEEKDAY.map((_, utc) => WEEKDAY[(utc + SYDNEY_HOURS_AHEAD) % 24] ?? 0);
/** Demand that grows from hour to hour. */
const GROWING = Array.from({ length: 24 }, (_, hour) => (hour + 1) ** 2);

export interface Scenario {
  requests: number;
  stops: number;
  /** Places around which nearby stops are asked for. The first ones, as many as there are stops, lie at a stop. */
  places: number;
  shape: 'weekday' | 'growing';
  /** Whether the authority's realtime feeds are polled. */
  hasFeeds?: boolean;
}

const SHARES = { departures: 0.9, trips: 0.07 };

/** A day of requests in order of time. The same seed gives the same day. */
export function createDemand(scenario: Scenario, seed: number): Request[] {
  const { requests, stops } = scenario;
  const random = createRandom(seed);
  const hour = createPicker(scenario.shape === 'growing' ? GROWING : IN_UTC);
  const stop = createPicker(zipf(stops));
  const place = createPicker(zipf(scenario.places));

  return Array.from({ length: requests }, (): Request => {
    const at = Math.floor((hour(random()) + random()) * HOUR_MS);
    const plan = PLANS[Math.floor(random() * PLANS.length)] ?? 'free';
    const what = random();
    if (what < SHARES.departures) return { at, plan, kind: 'departures', stop: stop(random()) };
    if (what < SHARES.departures + SHARES.trips) {
      const from = stop(random());
      return { at, plan, kind: 'trips', from, to: (from + 1 + stop(random())) % stops };
    }
    return { at, plan, kind: 'nearby', place: place(random()) };
  }).sort((one, other) => one.at - other.at);
}

/**
 * An hour of requests before the day, from none to as many as the day begins with: a service that has been running
 * knows the stops that are asked for.
 */
export function createWarmUp(scenario: Scenario, seed: number): Request[] {
  const random = createRandom(seed + 1);
  const stop = createPicker(zipf(scenario.stops));
  const firstHour = (IN_UTC[0] ?? 0) / IN_UTC.reduce((sum, share) => sum + share);
  const count = Math.floor((scenario.requests * SHARES.departures * firstHour) / 2);
  return Array.from({ length: count }, (): Request => {
    const at = -HOUR_MS * (1 - Math.sqrt(random()));
    return { at: Math.min(-1, Math.floor(at)), plan: 'pro', kind: 'departures', stop: stop(random()) };
  }).sort((one, other) => one.at - other.at);
}

export function zipf(count: number): number[] {
  return Array.from({ length: count }, (_, rank) => 1 / (rank + 1) ** ZIPF_EXPONENT);
}

/** Numbers from 0 to 1, mulberry32. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Picks an index in proportion to its weight. */
export function createPicker(weights: readonly number[]): (random: number) => number {
  const sums: number[] = [];
  for (const weight of weights) sums.push((sums.at(-1) ?? 0) + weight);
  const total = sums.at(-1) ?? 0;
  return (random) => {
    let low = 0;
    let high = sums.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) > random * total) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
