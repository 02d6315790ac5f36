import { DAY_MS } from '#src/core/clock.ts';
import { type Answered, playDay } from './economy/day.ts';
import { createDemand, HOUR_MS, type Request, type Scenario } from './economy/demand.ts';
import { countFewestCalls } from './economy/oracle.ts';
import { describeDay, figuresOf, givenWay, liveFiguresOf } from './economy/report.ts';
import { describeMachine, hold, print } from './machine.ts';

/*
 * Simulates a day of requests through the cache, the single flight and the budget of the service, on a simulated clock.
 * `node bench/economy.ts [modest|scarce|growing|scarce-live|wide-live] [seed] [hours of the day] [planner|auto] [seconds]`
 *
 * The `live` days have a timetable and feeds, TIMETABLE=auto, and journeys from the trip planner alone or with JOURNEYS=auto.
 * `seconds` is the time between two publications of each feed, by default that of the sandbox. One in 40 requests for departures
 * and nearby stops is simulated: they take no upstream call, and the others would have the same outcome.
 */
const SCENARIOS = {
  modest: { requests: 30_000, stops: 200, shape: 'weekday' },
  scarce: { requests: 1_000_000, stops: 2_000, shape: 'weekday' },
  // From too little demand to too much, to show what is dropped first.
  growing: { requests: 1_000_000, stops: 1_000, shape: 'growing' },
  // A million requests for departures, plus a ninth as many of other kinds.
  'scarce-live': { requests: 1_111_111, stops: 2_000, shape: 'weekday', isLive: true },
  'wide-live': { requests: 1_111_111, stops: 8_000, shape: 'weekday', isLive: true },
} as const satisfies Record<string, Scenario>;

const [only, seed = '1', wantedHours, journeys = 'planner', seconds] = process.argv.slice(2);
/** On `live` days one in this many requests for departures and nearby stops is simulated. */
const SAMPLED = 40;
print(describeMachine());

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (only && only !== name) continue;
  const startedAt = performance.now();
  const { requests, stops, days = 1, isLive = false }: Scenario = scenario;
  const hours = Number(wantedHours ?? 24 * days);
  const isSampled = ({ kind }: Request) => isLive && (kind === 'departures' || kind === 'nearby');
  const isPlayed = (request: Request, index: number) => !isSampled(request) || index % SAMPLED === 0;
  const ofDay = createDemand(scenario, Number(seed)).filter(isPlayed);
  const demand = ofDay.filter(({ at }) => at < hours * HOUR_MS);
  // A service with feeds starts with an hour of earlier requests.
  const lastHour = ofDay.filter(({ at, kind }) => isLive && kind === 'departures' && at >= 23 * HOUR_MS);
  const before = lastHour.map((one) => ({ ...one, at: one.at - DAY_MS }));
  const mode = journeys === 'auto' ? 'auto' : 'planner';
  const live = isLive ? ({ stops, journeys: mode, headerSeconds: seconds ? Number(seconds) : null } as const) : null;
  const day = await playDay([...before, ...demand], { live, onHour });
  const figures = figuresOf(day);
  const fewest = countFewestCalls(demand);

  print(`\n${name}: ${demand.length} of ${requests} requests over ${stops} stops, seed ${seed}`);
  for (const line of describeDay(day)) print(line);
  print(
    `\nfewest calls possible: ${fewest}; made ${day.calls.length}, ${(day.calls.length / fewest).toFixed(3)} times as many`,
  );
  print(`simulated in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);

  hold('never more than 5 calls in any second', figures.mostCallsInASecond <= 5);
  hold('at most 60,000 calls in the day', figures.callsInTheDay <= 60_000);
  if (isLive) {
    const { polls, otherCalls, ...figuresOfLive } = liveFiguresOf(day);
    const { oldestLiveMs, tooOld, departuresRefused, journeysRefused } = figuresOfLive;
    print(`feed polls: ${polls}; calls except for journeys and searches: ${otherCalls}`);
    print(`oldest live departures: ${(oldestLiveMs / 1000).toFixed(1)} s; ${tooOld} responses are older than 45 s`);
    print(`journeys refused, JOURNEYS=${mode}: ${(journeysRefused * 100).toFixed(1)} %`);
    print('origins of uncached boards');
    for (const [origin, count] of day.boardOrigins) print(`  ${origin.padEnd(60)} ${count}`);
    hold('no departures refused', departuresRefused === 0);
    hold('nothing live is older than 45 seconds', tooOld === 0);
    hold('at most 25,000 calls except for journeys and searches', otherCalls <= 25_000);
    hold('far fewer than 72 % of the journeys refused', journeysRefused < (mode === 'auto' ? 0.001 : 0.6));
    continue;
  }
  if (name === 'modest') {
    hold('nothing refused', figures.refused === 0);
    hold('no departures older than their freshness window', figures.oldestMs <= 15_000);
    hold('at most 1.05 times the fewest calls possible', day.calls.length <= fewest * 1.05);
  } else {
    if (name === 'growing') hold('work is dropped in the right order', isInOrder(givenWay(day)));
    if (hours === 24) hold('calls are left at 23:59', figures.lastCallAt >= 86_340_000);
  }
}

/** Reports progress after each simulated hour, because a day takes long. */
function onHour(hour: number, answered: readonly Answered[]): void {
  const refused = answered.filter(({ outcome }) => outcome === 'refused');
  const departures = refused.filter(({ kind }) => kind === 'departures').length;
  process.stderr.write(
    `${hour}:00 ${answered.length} requests, ${refused.length} refused, ${departures} of them for departures\n`,
  );
}

function isInOrder(moments: readonly (number | undefined)[]): boolean {
  const infinite = moments.map((moment) => moment ?? Number.POSITIVE_INFINITY);
  return infinite.every((moment, index) => moment >= (infinite[index - 1] ?? 0));
}
