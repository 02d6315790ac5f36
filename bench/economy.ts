import { type Answered, playDay } from './economy/day.ts';
import { createDemand, createWarmUp, HOUR_MS, type Scenario } from './economy/demand.ts';
import { countFewestPages } from './economy/fewest-pages.ts';
import { describeLiveDay, liveFiguresOf } from './economy/live-report.ts';
import { countFewestCalls } from './economy/oracle.ts';
import { callsPerNearby, describeDay, figuresOf, givenWay } from './economy/report.ts';
import { describeMachine, hold, print } from './machine.ts';

/*
 * Plays a day of requests on a simulated clock through the cache, single flight, budget and verdicts of the service.
 * `node bench/economy.ts [modest|scarce|growing|nearby|modest-live|modest-calls|modest-map|modest-followed|scarce-live|wide-live] [seed] [hours of the day]`
 *
 * The days that end in `live` have timetables and realtime feeds, and boards are put together from both. An hour of
 * growing demand comes before them.
 */
const SCENARIOS = {
  modest: { requests: 30_000, stops: 200, shape: 'weekday' },
  scarce: { requests: 1_000_000, stops: 2_000, shape: 'weekday' },
  // From too little to too much, to see in which order things give way.
  growing: { requests: 1_000_000, stops: 1_000, shape: 'growing' },
  // Phones that ask what stops around them, and nothing else.
  nearby: {
    requests: 1_000_000,
    stops: 1,
    shape: 'weekday',
    days: 2,
    shares: { departures: 0, trips: 0, nearby: 1 },
  },
  'modest-live': { requests: 30_000, stops: 200, shape: 'weekday', hasFeeds: true },
  // The same, and one request for departures in ten asks where the vehicles stop.
  'modest-calls': { requests: 30_000, stops: 200, shape: 'weekday', hasFeeds: true, callsEvery: 10 },
  // The same as modest-live, and somebody looks at the vehicles of a map of Sydney all day.
  'modest-map': { requests: 30_000, stops: 200, shape: 'weekday', hasFeeds: true, hasMap: true },
  // The same as modest-map, and every journey that is planned between stops is followed, once a minute.
  'modest-followed': { requests: 30_000, stops: 200, shape: 'weekday', hasFeeds: true, hasMap: true, followEvery: 1 },
  // A million requests for departures, and a tenth as many others.
  'scarce-live': { requests: 1_111_111, stops: 2_000, shape: 'weekday', hasFeeds: true },
  'wide-live': { requests: 1_111_111, stops: 8_000, shape: 'weekday', hasFeeds: true },
} as const satisfies Record<string, Scenario>;

const [only, seed = '1', wantedHours] = process.argv.slice(2);
print(describeMachine());

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (only && only !== name) continue;
  const startedAt = performance.now();
  const { requests, stops, days = 1, hasFeeds = false, callsEvery, hasMap = false, followEvery }: Scenario = scenario;
  const hours = Number(wantedHours ?? 24 * days);
  const demand = createDemand(scenario, Number(seed)).filter(({ at }) => at < hours * HOUR_MS);
  const before = hasFeeds ? createWarmUp(scenario, Number(seed)) : [];
  const day = await playDay([...before, ...demand], stops, {
    hasFeeds,
    hasMap,
    followEvery,
    ...(callsEvery && { callsEvery }),
    onHour,
  });
  const figures = figuresOf(day);
  const fewest = countFewestCalls(demand);

  print(`\n${name}: ${demand.length} of ${requests} requests over ${stops} stops, seed ${seed}`);
  for (const line of describeDay(day)) print(line);
  print(
    `\nfewest calls possible: ${fewest}; made ${day.calls.length}, ${(day.calls.length / fewest).toFixed(3)} times as many`,
  );
  print(`simulated in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);

  hold('never more than 5 calls in any second', figures.mostCallsInASecond <= 5);
  if (name === 'nearby') {
    const perRequest = callsPerNearby(day);
    print(`calls for each request of the last day: ${perRequest.toFixed(4)}`);
    hold('at most 0.05 calls for each request of the last day', perRequest <= 0.05);
    hold('nothing refused', figures.refused === 0);
    continue;
  }
  hold('at most 60,000 calls in the day', figures.callsInTheDay <= 60_000);
  if (hasFeeds) {
    const live = liveFiguresOf(day);
    for (const line of describeLiveDay(day)) print(line);
    const [fewestPages, fewestOfTen] = [1, 10].map((departures) =>
      countFewestPages([...before, ...demand], stops, departures),
    );
    print(
      `fewest pages of timetables possible: ${fewestPages}; ${fewestOfTen} if each board is to have ten departures`,
    );
    hold('no departures refused', live.departuresRefused === 0);
    hold(
      'nothing around a place and no search refused',
      !day.answered.some(({ kind, outcome }) => outcome === 'refused' && (kind === 'nearby' || kind === 'search')),
    );
    if (name === 'modest-live') {
      const today = await playDay(demand, stops);
      print(`calls of the same day without feeds: ${today.calls.length}`);
      hold('not more calls than without feeds', day.calls.length <= today.calls.length);
    }
    if (hasMap) {
      hold('every look at the map has positions', day.looks.length > 0 && !day.looks.includes(null));
    }
    if (day.followed) {
      hold('journeys are followed', day.followed.looks > 0);
      hold('no look at a journey refused', day.followed.refused === 0);
    }
    if (name !== 'wide-live') hold('nothing live is older than 45 seconds', live.oldestLiveMs <= 45_000);
    continue;
  }
  if (name === 'modest') {
    hold('nothing refused', figures.refused === 0);
    hold('no departures older than their fresh window', figures.oldestMs <= 15_000);
    hold('at most 1.05 times the fewest calls possible', day.calls.length <= fewest * 1.05);
  } else {
    if (name === 'growing') hold('things give way in their order', isInOrder(givenWay(day)));
    if (hours === 24) hold('calls are left at 23:59', figures.lastCallAt >= 86_340_000);
  }
}

/** A day takes long: how far it is, and what it holds so far. */
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
