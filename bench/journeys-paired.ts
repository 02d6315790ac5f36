import { resolve } from 'node:path';
import { HOUR_MS } from '#src/core/clock.ts';
import { describeMachine, print } from './machine.ts';
import { percentile } from './percentiles.ts';

/*
 * Journeys of this checkout and of an older one, in turns, for the same pairs of stops: processor time of the whole response with six
 * journeys, and how many responses have other journeys. `OLD` is a checkout with its packages. Each file is the same schedule as the import
 * of its checkout writes it.
 * `node bench/journeys-paired.ts OLD OLD_FILE FILE [pairs] [seed]`
 */
const [old = '', oldFile = '', file = '', pairs = '200', seed = '1'] = process.argv.slice(2);
const WARM_UP = 40;

print(describeMachine());
const before = await open(resolve(old), oldFile);
const now = await open(resolve(import.meta.dirname, '..'), file);
print('processor time in ms     before p50     p95   now p50     p95   now/before p50    p95   other times');
await compare('depart at', {});
await compare('arrive by', { arrive_by: 'true' });

async function open(checkout: string, path: string) {
  const load = (module: string) => import(`${checkout}/${module}`);
  const { createIdSigner } = await load('src/core/signer.ts');
  const { openEngine } = await load('src/journeys/engine-thread.ts');
  const { timetableJourneys } = await load('src/journeys/timetable.ts');
  const { createTripsOperation } = await load('src/operations/trips/operation.ts');
  const { serviceDayStart } = await load('src/timetable/service-day.ts');
  const { openPairs } = await load('bench/journeys/pairs.ts');
  // Older checkouts have no snapshots.
  const { LiveTimetable } = await load('src/realtime/live-timetable.ts').catch(() => ({ LiveTimetable: null }));
  const { packed, timetable, weekday, nextPair } = openPairs(path, Number(seed));
  const at = serviceDayStart(weekday) + 4 * HOUR_MS;
  const engine = openEngine(packed);
  engine.warm(at);
  const live = LiveTimetable && new LiveTimetable(timetable);
  const search = async (name: string, query: object) => {
    const found = structuredClone(engine.search(name, query));
    return live ? { found, live } : found;
  };
  const journeys = timetableJourneys({
    timetable: { get: () => timetable },
    engine: { use() {}, search },
    feeds: null,
    now: () => at,
  });
  const trips = createTripsOperation({ stops: { get: () => null }, journeys });
  const context = { ids: createIdSigner(['made-up']), now: () => new Date(at) };

  async function respond(query: object) {
    const began = threadMs();
    const response = await trips.find(trips.query.parse(query), context).catch(() => null);
    JSON.stringify(response?.body);
    const found: Record<string, unknown>[] = response?.body.journeys ?? [];
    return { ms: threadMs() - began, times: found.map((one) => [one.departs_at, one.arrives_at]).join() };
  }

  return { nextPair, respond };
}

async function compare(name: string, parameters: object): Promise<void> {
  const ms = { before: [] as number[], now: [] as number[] };
  let others = 0;
  for (let pair = -WARM_UP; pair < Number(pairs); pair++) {
    const query = { ...before.nextPair(), limit: '6', ...parameters };
    const isOdd = pair % 2 !== 0;
    const early = isOdd ? await now.respond(query) : null;
    const one = await before.respond(query);
    const other = early ?? (await now.respond(query));
    if (pair < 0) continue;
    ms.before.push(one.ms);
    ms.now.push(other.ms);
    if (one.times !== other.times) others++;
  }
  const [old50, old95, now50, now95] = [ms.before, ms.now].flatMap((all) => [
    percentile(all, 0.5),
    percentile(all, 0.95),
  ]);
  const figures = [old50, old95, now50, now95].map((one = 0) => one.toFixed(1).padStart(9));
  const ratios = [(now50 ?? 0) / (old50 ?? 1), (now95 ?? 0) / (old95 ?? 1)].map((one) => one.toFixed(2).padStart(8));
  print(`${name.padEnd(24)}${figures.join('')}${ratios.join('').padStart(26)}${String(others).padStart(13)}`);
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
