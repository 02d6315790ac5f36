import { type Answered, playDay } from './economy/day.ts';
import { createDemand, HOUR_MS, type Scenario } from './economy/demand.ts';
import { countFewestCalls } from './economy/oracle.ts';
import { describeDay, figuresOf, givenWay } from './economy/report.ts';
import { describeMachine, hold, print } from './machine.ts';

/*
 * Plays a day of requests on a simulated clock through the cache, single flight and budget of the service.
 * `node bench/economy.ts [modest|scarce|growing] [seed] [hours of the day]`
 */
const SCENARIOS = {
  modest: { requests: 30_000, stops: 200, shape: 'weekday' },
  scarce: { requests: 1_000_000, stops: 2_000, shape: 'weekday' },
  // From too little to too much, to see in which order things give way.
  growing: { requests: 1_000_000, stops: 1_000, shape: 'growing' },
} as const satisfies Record<string, Scenario>;

const [only, seed = '1', wantedHours] = process.argv.slice(2);
print(describeMachine());

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (only && only !== name) continue;
  const startedAt = performance.now();
  const { requests, stops, days = 1 }: Scenario = scenario;
  const hours = Number(wantedHours ?? 24 * days);
  const demand = createDemand(scenario, Number(seed)).filter(({ at }) => at < hours * HOUR_MS);
  const day = await playDay(demand, { onHour });
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
