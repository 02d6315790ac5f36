import { DAY_MS } from '#src/core/clock.ts';
import type { openPairs } from '../journeys/pairs.ts';

/** A request of the bench. */
interface Request {
  path: string;
  body?: object;
}

/** One operation with parameters of one kind. */
export interface Row {
  name: string;
  next(): Request;
  /** The same request at another time, so that it is not in the cache. */
  again(request: Request): Request;
}

type Values = Record<string, string>;
type Pairs = ReturnType<typeof openPairs>;

const ALL_OF_TRIPS = 'ids,colors,alert_texts,calls,access,carriages';
const ALL_OF_BOARDS = 'ids,colors,alert_texts,access,calls,carriages';
const MAX_DAYS = 28;
const URL_BASE = 'http://bench';

/** The worst valid parameters of every operation that computes. */
export async function listRows({
  timetable,
  random,
  get,
}: Pairs & { get(path: string): Promise<{ text: string }> }): Promise<Row[]> {
  const served = Array.from({ length: timetable.stopCount }, (_, index) => timetable.stop(index)).filter(
    ({ index, modes }) => modes.length > 0 && timetable.patternsAt(index).length > 0,
  );
  const byVisits = served.toSorted(
    (a, b) => timetable.patternsAt(b.index).length - timetable.patternsAt(a.index).length,
  );
  const busiest = byVisits.slice(0, 100).map(({ id }) => id);
  const anywhere = () => (served[random(served.length)] as (typeof served)[0]).id;
  const busy = () => busiest[random(busiest.length)] as string;
  const today = Math.floor((Date.now() + 11 * 3_600_000) / DAY_MS);
  const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
  const pad = (value: number) => String(value).padStart(2, '0');
  const time = () => pad(random(24)) + pad(random(60));
  let days = 0;
  const times = {
    tomorrow: () => ({ date: dateOf(today + 1), time: time() }),
    /** Another day each time, beyond tomorrow. */
    rotating: () => ({ date: dateOf(today + 2 + (days++ % MAX_DAYS)), time: time() }),
  };
  type When = keyof typeof times;

  function row(name: string, path: string, when: When | null, values: () => Values): Row {
    const when_ = () => (when ? times[when]() : {});
    const toPath = (query: Values) => `${path}?${new URLSearchParams(query)}`;
    return {
      name,
      next: () => ({ path: toPath({ ...values(), ...when_() }) }),
      again: (request) => {
        const { searchParams } = new URL(request.path, URL_BASE);
        return { path: toPath({ ...Object.fromEntries(searchParams), ...when_() }) };
      },
    };
  }

  /** A call of a tool, with the parameters of an operation's row. */
  function tool(name: string, operation: string, one: Row): Row {
    const toCall = ({ path }: Request): Request => ({
      path: `/mcp?${path.split('?')[1]}`,
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: operation, arguments: Object.fromEntries(new URL(path, URL_BASE).searchParams) },
      },
    });
    return { name, next: () => toCall(one.next()), again: (request) => toCall(one.again(request)) };
  }

  const pair = () => ({ from: anywhere(), to: anywhere(), limit: '6' });
  const viaTwo = () => `${anywhere()},${anywhere()}`;
  const within = () => ({ from: busy(), minutes: '90' });
  const tenStops = () => ({ from: busy(), to: Array.from({ length: 10 }, anywhere).join() });
  const board = () => ({ stop: busy(), modes: 'all', limit: '50', include: ALL_OF_BOARDS });
  const corner = () => {
    const { lat, lng } = served[random(served.length)] as (typeof served)[0];
    return { lat, lng };
  };
  const box = (degrees: number) => {
    const { lat, lng } = corner();
    return [lat - degrees / 2, lng - degrees / 2, lat + degrees / 2, lng + degrees / 2]
      .map((one) => one.toFixed(6))
      .join();
  };
  const { lines } = JSON.parse((await get('/v1/lines?limit=1000')).text) as { lines: { line_id: string }[] };
  const aLine = () => (lines[random(lines.length)] as { line_id: string }).line_id;
  const journeys = await listJourneys();

  async function listJourneys(): Promise<string[]> {
    const found: string[] = [];
    for (let index = 0; found.length < 5 && index < 30; index++) {
      const query = new URLSearchParams({ ...pair(), ...times.tomorrow(), include: 'ids' });
      const { journeys = [] } = JSON.parse((await get(`/v1/trips?${query}`)).text) as {
        journeys?: { journey_id: string | null }[];
      };
      found.push(...journeys.flatMap(({ journey_id }) => journey_id ?? []));
    }
    return found;
  }

  const trips = (name: string, when: When, values: () => Values) => row(`trips: ${name}`, '/v1/trips', when, values);
  const reach = (name: string, when: When, values: () => Values) =>
    row(`reachable: ${name}`, '/v1/reachable', when, values);
  const viaRow = trips('two far via, other days', 'rotating', () => ({ ...pair(), via: viaTwo() }));
  const areaRow = reach('GeoJSON, other days', 'rotating', () => ({ ...within(), format: 'geojson' }));
  return [
    trips('depart at', 'tomorrow', pair),
    trips('arrive by', 'tomorrow', () => ({ ...pair(), arrive_by: 'true' })),
    trips('depart at, everything included', 'tomorrow', () => ({ ...pair(), include: ALL_OF_TRIPS })),
    trips('wheelchair', 'tomorrow', () => ({ ...pair(), wheelchair: 'true' })),
    trips('one mode, no journey', 'tomorrow', () => ({ ...pair(), modes: 'bus', max_changes: '9' })),
    trips('by arrival without a journey', 'tomorrow', () => ({ ...pair(), modes: 'bus', arrive_by: 'true' })),
    trips('depart at, other days', 'rotating', pair),
    trips('arrive by, other days', 'rotating', () => ({ ...pair(), arrive_by: 'true' })),
    trips('arrive by, one mode, other days', 'rotating', () => ({ ...pair(), modes: 'bus', arrive_by: 'true' })),
    trips('one far via', 'tomorrow', () => ({ ...pair(), via: anywhere() })),
    trips('two far via', 'tomorrow', () => ({ ...pair(), via: viaTwo() })),
    trips('two far via with a stay', 'tomorrow', () => ({ ...pair(), via: `${anywhere()}@30,${anywhere()}@60` })),
    trips('two via in the city', 'tomorrow', () => ({
      from: busy(),
      to: busy(),
      via: `${busy()},${busy()}`,
      limit: '6',
    })),
    viaRow,
    reach('200 stops', 'tomorrow', within),
    reach('5,000 stops', 'tomorrow', () => ({ ...within(), limit: '5000' })),
    reach('GeoJSON', 'tomorrow', () => ({ ...within(), format: 'geojson' })),
    reach('5,000 stops, other days', 'rotating', () => ({ ...within(), limit: '5000' })),
    areaRow,
    row('travel times', '/v1/travel-times', 'tomorrow', tenStops),
    row('travel times, other days', '/v1/travel-times', 'rotating', tenStops),
    row('follow a journey', '/v1/trips/journey', null, () => ({ include: 'calls' })),
    row('departures', '/v1/departures', 'rotating', board),
    row('departures, far filter', '/v1/departures', 'rotating', () => ({ ...board(), to: anywhere() })),
    row('departures, per route', '/v1/departures', 'rotating', () => ({ ...board(), per_route: '1' })),
    row('arrivals', '/v1/arrivals', 'rotating', () => ({ ...board(), include: 'ids,colors,alert_texts,access' })),
    row('boards of 20 stops', '/v1/boards', 'rotating', () => {
      const { stop: _, ...others } = board();
      return {
        ...others,
        stops: Array.from({ length: 40 }, busy)
          .filter((one, at, all) => all.indexOf(one) === at)
          .slice(0, 20)
          .join(),
      };
    }),
    row('nearby', '/v1/nearby', null, () => {
      const { lat, lng } = corner();
      return { lat: lat.toFixed(6), lng: lng.toFixed(6), radius: '5000', limit: '50' };
    }),
    row('stop search', '/v1/stops/search', null, () => ({
      q: `st ${random(1000)} road ${'ab'.repeat(random(30))}`,
      limit: '50',
    })),
    row('place search', '/v1/places/search', null, () => ({ q: `${random(1000)} station street`, limit: '50' })),
    row('stops', '/v1/stops', null, () => ({ bbox: box(0.25), limit: '1000' })),
    row('a stop', '/v1/stops/stop', null, () => ({})),
    row('lines', '/v1/lines', null, () => ({ bbox: box(0.5), limit: '1000' })),
    row('a line', '/v1/lines/line', null, () => ({})),
    row('timetable of a line', '/v1/lines/line/timetable', 'rotating', () => ({})),
    row('alerts', '/v1/alerts', null, () => ({ stop: anywhere(), limit: '300' })),
    row('vehicles', '/v1/vehicles', null, () => ({ bbox: box(0.5) })),
    tool('tool planTrips, two via', 'planTrips', viaRow),
    tool('tool listReachable, GeoJSON', 'listReachable', areaRow),
  ].map((one) => withPlaceholders(one));

  /** Fills in the identifiers of paths. */
  function withPlaceholders({ name, next, again }: Row): Row {
    const fill = (request: Request): Request => ({
      ...request,
      path: request.path
        .replace(/\/trips\/journey\b/, () => `/trips/${journeys[random(Math.max(1, journeys.length))]}`)
        .replace(/\/lines\/line\b/, () => `/lines/${encodeURIComponent(aLine())}`)
        .replace(/\/stops\/stop\b/, () => `/stops/${anywhere()}`),
    });
    return { name, next: () => fill(next()), again: (request) => fill(again(request)) };
  }
}
