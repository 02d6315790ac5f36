import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { HOUR_MS } from '#src/core/clock.ts';
import { openPairs } from './journeys/pairs.ts';
import { describeMachine, print } from './machine.ts';
import { percentile } from './percentiles.ts';

/*
 * Journeys, reach and travel times of this checkout and of an older one, in turns, for the same pairs of stops: processor time of
 * the whole response, and how many responses differ: in the times of journeys, in the stops within reach and their arrivals, in
 * the outline of an area. `OLD` is a checkout with its packages. Each file is the same schedule as the import of its checkout
 * writes it.
 * `node bench/journeys-paired.ts OLD OLD_FILE FILE [pairs] [seed] [first words of the measurements]`
 */
const [old = '', oldFile = '', file = '', pairs = '200', seed = '1', wanted = ''] = process.argv.slice(2);
const WARM_UP = 40;

type Body = Record<string, Record<string, unknown>[] | undefined>;

print(describeMachine());
const { nextPair, nextReach, nextTimes, weekday } = openPairs(file, Number(seed));
const before = await open(resolve(old), oldFile);
const now = await open(resolve(import.meta.dirname, '..'), file);
print('processor time in ms     before p50     p95   now p50     p95   now/before p50    p95   others');
await compare('depart at', 'trips', () => ({ ...nextPair(), limit: '6' }));
await compare('arrive by', 'trips', () => ({ ...nextPair(), limit: '6', arrive_by: 'true' }));
await compare('reach 45 minutes', 'reach', nextReach);
await compare('its area', 'reach', () => ({ ...nextReach(), format: 'geojson' }));
await compare('travel times to ten stops', 'times', nextTimes);

async function open(checkout: string, path: string) {
  const load = (module: string) => import(`${checkout}/${module}`);
  /** Loads a module that older checkouts have elsewhere, or not at all. */
  const loadAny = async (...modules: string[]) => {
    const found = modules.find((module) => existsSync(`${checkout}/${module}`));
    return found ? await load(found) : null;
  };
  const { createIdSigner } = await load('src/core/signer.ts');
  const { openEngine } = await load('src/journeys/engine-thread.ts');
  const { timetableJourneys } = await load('src/journeys/timetable.ts');
  const { timetableReach } = await load('src/journeys/reach.ts');
  const { createTripsOperation } = await load('src/operations/trips/operation.ts');
  const { requestedWallClock } = await load('src/operations/operation.ts');
  const { createReachOperation } = await loadAny(
    'src/operations/reach/operation.ts',
    'src/operations/more/reach/operation.ts',
  );
  const { createTimesOperation } = await loadAny(
    'src/operations/reach/times-operation.ts',
    'src/operations/more/reach/times-operation.ts',
  );
  const { serviceDayStart } = await load('src/timetable/service-day.ts');
  // Older checkouts have no snapshots.
  const { LiveTimetable = null } = (await loadAny('src/realtime/live-timetable.ts')) ?? {};
  const { Timetable } = await load('src/timetable/timetable.ts');
  const bytes = readFileSync(path);
  const packed = new SharedArrayBuffer(bytes.length);
  new Uint8Array(packed).set(bytes);
  const timetable = new Timetable(packed);
  const at = serviceDayStart(weekday) + 4 * HOUR_MS;
  const engine = openEngine(packed);
  engine.warm(at);
  const live = LiveTimetable && new LiveTimetable(timetable);
  const search = async (name: string, query: object) => {
    const near = engine.search(name, query);
    const found = structuredClone(engine.mayBeFar?.() ? engine.search(name, { ...query, isFar: true }) : near);
    return live ? { found, live } : found;
  };
  // The baseline takes the first of them.
  const engines = { engine: { use() {}, search }, engines: { get: () => ({ search }) } };
  const parts = { timetable: { get: () => timetable }, ...engines, feeds: null, now: () => at };
  const [journeys, reach] = [timetableJourneys(parts), timetableReach(parts)];
  const operations = {
    trips: createTripsOperation({ stops: { get: () => null }, journeys }),
    reach: createReachOperation({ reach }),
    times: createTimesOperation({ reach }),
  };
  const present = takesDates(requestedWallClock) ? new Date(at) : at;
  const context = { ids: createIdSigner(['made-up']), now: () => present };

  return async (name: keyof typeof operations, query: object) => {
    const operation = operations[name];
    const began = threadMs();
    // Older operations call it `find`.
    const found = (operation.handle ?? operation.find)(operation.query.parse(query), context);
    const response = await found.catch((error: { code?: string }) => {
      if (!error.code) throw error;
      return null;
    });
    JSON.stringify(response?.body);
    return { ms: threadMs() - began, summary: summarise(response?.body ?? {}) };
  };
}

/** Whether operations of a checkout take the time as a `Date`, as older ones do, and not in milliseconds. */
function takesDates(requestedWallClock: (query: object, now: unknown) => { date: string } | null): boolean {
  try {
    return requestedWallClock({ time: '0800' }, 0)?.date !== '19700101';
  } catch {
    return true;
  }
}

/** What both checkouts should agree on. */
function summarise({ journeys, stops, destinations, features }: Body): string {
  const times = journeys?.map(({ departs_at, arrives_at }) => [departs_at, arrives_at]);
  // Those with the same arrival have no order.
  const reached = stops?.map(({ stop_id, arrives_at, changes }) => `${stop_id} ${arrives_at} ${changes}`).sort();
  const travelled = destinations?.map(({ best }) => best);
  const outline = features?.map(({ geometry }) => geometry);
  return JSON.stringify(times ?? reached ?? travelled ?? outline ?? null);
}

async function compare(label: string, name: Parameters<typeof now>[0], nextQuery: () => object): Promise<void> {
  if (!label.startsWith(wanted)) return;
  const ms = { before: [] as number[], now: [] as number[] };
  let others = 0;
  for (let pair = -WARM_UP; pair < Number(pairs); pair++) {
    const query = nextQuery();
    const isOdd = pair % 2 !== 0;
    const early = isOdd ? await now(name, query) : null;
    const one = await before(name, query);
    const other = early ?? (await now(name, query));
    if (pair < 0) continue;
    ms.before.push(one.ms);
    ms.now.push(other.ms);
    if (one.summary !== other.summary) others++;
  }
  const [old50, old95, now50, now95] = [ms.before, ms.now].flatMap((all) => [
    percentile(all, 0.5),
    percentile(all, 0.95),
  ]);
  const figures = [old50, old95, now50, now95].map((one = 0) => one.toFixed(1).padStart(9));
  const ratios = [(now50 ?? 0) / (old50 ?? 1), (now95 ?? 0) / (old95 ?? 1)].map((one) => one.toFixed(2).padStart(8));
  print(`${label.padEnd(25)}${figures.join('')}${ratios.join('').padStart(25)}${String(others).padStart(9)}`);
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
