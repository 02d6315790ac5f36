import { HOUR_MS } from '#src/core/clock.ts';
import { createIdSigner } from '#src/core/signer.ts';
import { openEngine } from '#src/journeys/engine-thread.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import type { FindContext } from '#src/operations/operation.ts';
import { createTripsOperation } from '#src/operations/trips/operation.ts';
import { serviceDayStart } from '#src/timetable/service-day.ts';
import { openPairs } from './journeys/pairs.ts';
import { describeMachine, print } from './machine.ts';
import { percentile } from './percentiles.ts';

/*
 * Journeys from a timetable as the import writes it: processor time of the search, and of the whole response with six journeys. Each
 * pair of stops is within 25 km of Central and comes once, at a random time of a weekday between 06:00 and 22:00.
 * `node bench/journeys.ts FILE [pairs] [seed]`
 */
const [file = '', pairs = '400', seed = '1'] = process.argv.slice(2);
const WARM_UP = 60;

const { packed, timetable, weekday, stopCount, nextPair } = openPairs(file, Number(seed));

print(describeMachine());
const now = serviceDayStart(weekday) + 4 * HOUR_MS;
const opened = threadMs();
const engine = openEngine(packed);
engine.warm(now);
print(`opened in ${(threadMs() - opened).toFixed(0)} ms; ${stopCount} stops within 25 km\n`);

let searchMs = 0;
const journeys = timetableJourneys({
  timetable: { get: () => timetable },
  engine: {
    use() {},
    search: async (name, query) => {
      const before = threadMs();
      const found = engine.search(name, query);
      searchMs = threadMs() - before;
      return structuredClone(found);
    },
  },
  feeds: null,
  now: () => now,
});
const operation = createTripsOperation({
  stops: { get: () => null },
  journeys: { find: (query) => journeys.find(query) },
});
const context = {
  ids: createIdSigner(['made-up']),
  now: () => new Date(now),
} as unknown as FindContext;

print('processor time in ms                  search p50    p95    max   response p50    p95    max   journeys  none');
for (const isArrival of [false, true]) {
  const times = { search: [] as number[], response: [] as number[] };
  let count = 0;
  let none = 0;
  for (let pair = -WARM_UP; pair < Number(pairs); pair++) {
    const query = operation.query.parse({ ...nextPair(), limit: '6', arrive_by: String(isArrival) });
    const before = threadMs();
    const response = await operation.find(query, context).catch(() => null);
    JSON.stringify(response?.body);
    const found = response?.body.journeys.length ?? 0;
    if (pair < 0) continue;
    times.response.push(threadMs() - before);
    times.search.push(searchMs);
    count += found;
    if (found === 0) none++;
  }
  const name = isArrival ? 'arrive by' : 'depart at';
  const figures = Object.values(times).map((list) =>
    [0.5, 0.95, 1].map((share) => percentile(list, share).toFixed(1).padStart(7)).join(''),
  );
  print(
    `${name.padEnd(39)}${figures.join('        ')}${(count / Number(pairs)).toFixed(2).padStart(11)}${String(none).padStart(6)}`,
  );
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
