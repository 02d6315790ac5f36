import { DAY_MS, HOUR_MS } from '#src/core/clock.ts';
import { createIdSigner } from '#src/core/signer.ts';
import { openEngine } from '#src/journeys/engine-thread.ts';
import { timetableReach } from '#src/journeys/reach.ts';
import { type TimetableSearch, timetableJourneys } from '#src/journeys/timetable.ts';
import type { FindContext, Operation } from '#src/operations/operation.ts';
import { createReachOperation } from '#src/operations/reach/operation.ts';
import { createTimesOperation } from '#src/operations/reach/times-operation.ts';
import { createTripsOperation } from '#src/operations/trips/operation.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { serviceDayStart } from '#src/timetable/service-day.ts';
import { noTimetable } from '#src/timetable/update/keep-current.ts';
import { openPairs } from './journeys/pairs.ts';
import { describeMachine, print } from './machine.ts';
import { median, percentile } from './percentiles.ts';

/*
 * Journeys from a timetable as the import writes it: processor time to open a day, of the search, and of the whole response with
 * six journeys. Each pair of stops is within 25 km of Central and comes once, at a random time of a weekday between 06:00 and
 * 22:00. Then the same for what is within reach around the city, and for travel times.
 * `node bench/journeys.ts FILE [pairs] [seed]`
 */
const [file = '', pairs = '400', seed = '1'] = process.argv.slice(2);
const WARM_UP = 60;
/** The days opened to measure one. */
const DAYS = 7;

const { packed, timetable, weekday, stopCount, nextPair, nextReach, nextTimes } = openPairs(file, Number(seed));

print(describeMachine());
const now = serviceDayStart(weekday) + 4 * HOUR_MS;
const opened = threadMs();
const engine = openEngine(packed);
engine.warm(now);
const openMs = threadMs() - opened;
const dayMs = Array.from({ length: DAYS }, (_, index) => {
  const before = threadMs();
  engine.warm(now + (index + 1) * DAY_MS);
  return threadMs() - before;
});
engine.warm(now);
print(
  `opened in ${openMs.toFixed(0)} ms, then a day in ${median(dayMs).toFixed(0)}; ${stopCount} stops within 25 km\n`,
);

let searchMs = 0;
const live = new LiveTimetable(timetable);
const parts: TimetableSearch = {
  timetable: { ...noTimetable, get: () => timetable },
  engines: {
    get: () => ({
      search: async (name, query) => {
        const before = threadMs();
        const near = engine.search(name, query);
        const found = engine.mayBeFar() ? engine.search(name, { ...query, isFar: true }) : near;
        searchMs = threadMs() - before;
        return { found: structuredClone(found), live };
      },
    }),
  },
  feeds: null,
  now: () => now,
};
const journeys = timetableJourneys(parts);
const reach = timetableReach(parts);
const trips = createTripsOperation({
  stops: { get: () => null },
  journeys: { fetch: (query) => journeys.fetch(query) },
});
const context = {
  ids: createIdSigner(['made-up']),
  now: () => now,
} as unknown as FindContext;

const within = createReachOperation({ reach });
const times = createTimesOperation({ reach });
print('processor time in ms                  search p50    p95    max   response p50    p95    max    records  none');
await measure('depart at', trips, () => ({ ...nextPair(), limit: '6' }), 'journeys');
await measure('arrive by', trips, () => ({ ...nextPair(), limit: '6', arrive_by: 'true' }), 'journeys');
await measure('45 minutes around the city: stops', within, nextReach, 'stops');
await measure('the same: area', within, () => ({ ...nextReach(), format: 'geojson' }), 'features');
await measure('travel times to ten stops', times, nextTimes, 'destinations');

async function measure(
  name: string,
  operation: typeof trips | typeof within | typeof times,
  nextQuery: () => object,
  list: string,
): Promise<void> {
  const ms = { search: [] as number[], response: [] as number[] };
  let count = 0;
  let none = 0;
  for (let pair = -WARM_UP; pair < Number(pairs); pair++) {
    const query = operation.query.parse(nextQuery());
    const before = threadMs();
    const response = await (operation as Operation).handle(query, context).catch(() => null);
    JSON.stringify(response?.body);
    const found = ((response?.body ?? {}) as Record<string, unknown[]>)[list]?.length ?? 0;
    if (pair < 0) continue;
    ms.response.push(threadMs() - before);
    ms.search.push(searchMs);
    count += found;
    if (found === 0) none++;
  }
  const figures = Object.values(ms).map((all) =>
    [0.5, 0.95, 1].map((share) => percentile(all, share).toFixed(1).padStart(7)).join(''),
  );
  print(
    `${name.padEnd(39)}${figures.join('        ')}${(count / Number(pairs)).toFixed(2).padStart(11)}${String(none).padStart(6)}`,
  );
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
