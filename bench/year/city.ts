import type { FileId } from '#src/timetable/schedule-files.ts';
import { gtfsZip } from '#test/support/gtfs-zip.ts';

/*
 * A small city and its publications. It uses no code of the service: days, clocks and departures are computed here, so that
 * boards and journeys can be compared with it.
 */

export type YearFile = Extract<FileId, 'sydneytrains' | 'sydneyferries' | 'buses'>;
export const FILES: readonly YearFile[] = ['sydneytrains', 'sydneyferries', 'buses'];
/** How many days a publication has. */
const HORIZON: Readonly<Record<YearFile, number>> = { sydneytrains: 30, sydneyferries: 105, buses: 60 };
/** A publication begins so many days before its own day. */
const DAYS_BEFORE = 2;
/** The timetable change is in publications from so many days before it. */
const ANNOUNCED_DAYS = 20;

const DAY_SECONDS = 86_400;
export const dayOf = (date: string) => Date.parse(`${date}T00:00Z`) / 1000 / DAY_SECONDS;
export const dateOf = (day: number) =>
  new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10).replaceAll('-', '');
/** 0 is Monday. */
const weekdayOf = (day: number) => (day + 3) % 7;

export const FIRST_DAY = dayOf('2026-11-01');
const TIMETABLE_CHANGE = dayOf('2027-02-14');
/** Of New South Wales, from November 2026 to October 2027. */
const HOLIDAYS = new Set(
  '2026-12-25 2026-12-28 2027-01-01 2027-01-26 2027-03-26 2027-03-29 2027-06-14 2027-10-04'.split(' ').map(dayOf),
);
/** Clocks go back on the first Sunday of April and forward on the first one of October. */
const CLOCKS_BACK = dayOf('2027-04-04');
const CLOCKS_FORWARD = dayOf('2027-10-03');
export const CLOCK_NIGHTS = [CLOCKS_BACK - 1, CLOCKS_BACK, CLOCKS_FORWARD - 1, CLOCKS_FORWARD];

/** The time, in milliseconds since 1970, of seconds since noon minus twelve hours. */
export function momentOf(day: number, seconds: number): number {
  const aheadHours = day < CLOCKS_BACK || day >= CLOCKS_FORWARD ? 11 : 10;
  return (day * DAY_SECONDS - aheadHours * 3600 + seconds) * 1000;
}

type Kind = 'week' | 'saturday' | 'sunday';
const KINDS: readonly Kind[] = ['week', 'saturday', 'sunday'];
const kindOf = (day: number): Kind =>
  HOLIDAYS.has(day) || weekdayOf(day) === 6 ? 'sunday' : weekdayOf(day) === 5 ? 'saturday' : 'week';

interface Line {
  file: YearFile;
  name: string;
  type: number;
  /** Stops of the outward direction, and of the way back. */
  stops: readonly [outward: readonly string[], back: readonly string[]];
  hopSeconds: number;
  /** Seconds of the first and the last start. */
  hours: readonly [first: number, last: number];
  headwaySeconds: Readonly<Record<Kind, number>>;
}

interface Stop {
  id: string;
  name: string;
  lat: number;
  lng: number;
  station: string | null;
  file: YearFile;
}

const stops: Stop[] = [];
const HOUR = 3600;

/** Stations two kilometres apart, each with a platform for each direction. */
function railway(prefix: number, from: [number, number], step: [number, number]): [string[], string[]] {
  const platforms: [string[], string[]] = [[], []];
  for (let at = 0; at < 8; at++) {
    const station = String(prefix + at * 10);
    const [lat, lng] = [from[0] + at * step[0], from[1] + at * step[1]];
    const add = (id: string, name: string, of: string | null) =>
      stops.push({ id, name, lat, lng, station: of, file: 'sydneytrains' });
    if (!stops.some(({ id }) => id === station)) add(station, `Station ${station}`, null);
    for (const side of [0, 1] as const) {
      const id = `${station}${prefix === 300_000 ? side + 1 : side + 3}`;
      add(id, `Station ${station} Platform ${id.slice(-1)}`, station);
      platforms[side].push(id);
    }
  }
  return [platforms[0], platforms[1].reverse()];
}

/** Poles, alternately on the way of a railway and beside it. */
function street(prefix: number, from: [number, number], step: [number, number], count: number): [string[], string[]] {
  const sides: [string[], string[]] = [[], []];
  for (let at = 0; at < count; at++) {
    for (const side of [0, 1] as const) {
      const id = String(prefix + at * 2 + side);
      const [lat, lng] = [from[0] + at * step[0] + side * 0.0002, from[1] + at * step[1]];
      stops.push({ id, name: `Pole ${id}`, lat, lng, station: null, file: 'buses' });
      sides[side].push(id);
    }
  }
  return [sides[0], sides[1].reverse()];
}

const north: [number, number] = [-33.8, 151.1];
const [outwardFirst, backFirst] = railway(300_000, north, [-0.018, 0]);
// The second railway crosses the first at its fourth station.
const [outwardSecond, backSecond] = railway(310_000, [north[0] - 3 * 0.018 - 0.0004, north[1] - 4 * 0.021], [0, 0.021]);
const wharves = Array.from({ length: 3 }, (_, at) => {
  const id = String(390_000 + at);
  stops.push({ id, name: `Wharf ${id}`, lat: -33.7 - at * 0.01, lng: 151.25, station: null, file: 'sydneyferries' });
  return id;
});
const minutes = (week: number, saturday: number, sunday: number) => ({
  week: week * 60,
  saturday: saturday * 60,
  sunday: sunday * 60,
});

const LINES: readonly Line[] = [
  {
    file: 'sydneytrains',
    name: 'T1',
    type: 2,
    stops: [outwardFirst, backFirst],
    hopSeconds: 180,
    hours: [4 * HOUR, 25.5 * HOUR],
    headwaySeconds: minutes(12, 20, 30),
  },
  {
    file: 'sydneytrains',
    name: 'T2',
    type: 2,
    stops: [outwardSecond, backSecond],
    hopSeconds: 240,
    hours: [4.2 * HOUR, 27 * HOUR],
    headwaySeconds: minutes(15, 20, 30),
  },
  {
    file: 'buses',
    name: '333',
    type: 700,
    stops: street(320_000, [north[0] - 0.0004, north[1] - 0.0002], [-0.009, 0.004], 12),
    hopSeconds: 120,
    hours: [5 * HOUR, 24.5 * HOUR],
    headwaySeconds: minutes(10, 15, 20),
  },
  {
    file: 'buses',
    name: 'N10',
    type: 700,
    stops: street(330_000, [north[0] - 3 * 0.018 - 0.0002, north[1] + 0.0002], [-0.009, -0.006], 8),
    hopSeconds: 150,
    // The night of a service day, up to 05:00 of the next one.
    hours: [23.5 * HOUR, 28.5 * HOUR],
    headwaySeconds: minutes(20, 20, 30),
  },
  {
    file: 'sydneyferries',
    name: 'F1',
    type: 4,
    stops: [wharves, wharves.toReversed()],
    hopSeconds: 900,
    hours: [6 * HOUR, 24 * HOUR],
    headwaySeconds: minutes(30, 40, 60),
  },
];

/** One start of a line on every day of one kind, within one timetable. */
interface Trip {
  line: Line;
  kind: Kind;
  isChanged: boolean;
  number: number;
  direction: 0 | 1;
  start: number;
}

function tripsOf(file: YearFile): Trip[] {
  return LINES.filter((line) => line.file === file).flatMap((line) =>
    [false, true].flatMap((isChanged) =>
      KINDS.flatMap((kind) =>
        ([0, 1] as const).flatMap((direction) => {
          // The change moves every start and adds some.
          const [first, last] = line.hours.map((seconds) => seconds + (isChanged ? 240 : 0)) as [number, number];
          const headway = line.headwaySeconds[kind] - (isChanged ? 60 : 0);
          const count = Math.floor((last - first) / headway) + 1;
          return Array.from({ length: count }, (_, number): Trip => {
            return { line, kind, isChanged, number, direction, start: first + direction * 60 + number * headway };
          });
        }),
      ),
    ),
  );
}

const TRIPS = Object.fromEntries(FILES.map((file) => [file, tripsOf(file)])) as Record<YearFile, Trip[]>;
const BUS_NUMBERS = new Map(TRIPS.buses.map((trip, index) => [trip, 1_000_000 + index]));
/** Indices of stops along a trip at which it calls, with the time. */
const callsOf = ({ line, direction, start }: Trip) =>
  line.stops[direction].map((stop, at) => ({ stop, at: start + at * line.hopSeconds }));

const MASKS: Readonly<Record<Kind, [sundayFirst: number, mondayFirst: number]>> = {
  week: [4 + 8 + 16 + 32 + 64, 31],
  saturday: [128, 32],
  sunday: [2, 64],
};

/** The ID of a trip in the publication of a day. Those of trains and ferries change each day. */
export function idOf(trip: Trip, published: number): string {
  const { line, kind, isChanged, number, direction, start } = trip;
  const run = `${line.name}${direction}${number}${isChanged ? 'b' : 'a'}${kind[0]}`;
  const [sundayFirst, mondayFirst] = MASKS[kind];
  const ddmmyy = dateOf(published).replace(/^..(..)(..)(..)$/, '$3$2$1');
  if (line.file === 'sydneytrains') return `${run}.1257.${published % 1000}.${sundayFirst}.A.8.${published}`;
  if (line.file === 'sydneyferries') return `${run}.${ddmmyy}.${mondayFirst}.${Math.floor(start / 60)}`;
  return `${BUS_NUMBERS.get(trip)}`;
}

/** Whether a publication has the timetable after the change on a service day. */
const isChangedOn = (day: number, published: number) =>
  day >= TIMETABLE_CHANGE && published >= TIMETABLE_CHANGE - ANNOUNCED_DAYS;

export const lastDayOf = (file: YearFile, published: number) => published - DAYS_BEFORE + HORIZON[file];

/** The zip of a publication. `share` of its trips are in it. */
export function publish(file: YearFile, published: number, share = 1): Buffer {
  const [first, last] = [published - DAYS_BEFORE, lastDayOf(file, published)];
  const days = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const services = [false, true].flatMap((isChanged) =>
    KINDS.map((kind) => ({ kind, isChanged, id: `${kind}-${isChanged}` })),
  );
  const calendar: string[] = [];
  const dates: string[] = [];
  for (const { kind, isChanged, id } of services) {
    const period = days.filter((day) => isChangedOn(day, published) === isChanged);
    if (period.length === 0) continue;
    const flags = Array.from({ length: 7 }, (_, weekday) => {
      return Number(kind === 'sunday' ? weekday === 6 : kind === 'saturday' ? weekday === 5 : weekday < 5);
    });
    calendar.push([id, ...flags, dateOf(period[0] as number), dateOf(period.at(-1) as number)].join());
    for (const day of period) {
      const runs = kindOf(day) === kind;
      if (runs !== Boolean(flags[weekdayOf(day)])) dates.push(`${id},${dateOf(day)},${runs ? 1 : 2}`);
    }
  }
  const has = new Set(calendar.map((row) => row.split(',')[0]));
  const trips = TRIPS[file].filter(({ kind, isChanged }) => has.has(`${kind}-${isChanged}`));
  const shown = trips.filter((_, at) => at < share * trips.length);
  const time = (seconds: number) =>
    [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
      .map((part) => String(part).padStart(2, '0'))
      .join(':');
  const rows = (header: string, lines: readonly string[]) => `${[header, ...lines].join('\n')}\n`;
  return gtfsZip(
    {
      'agency.txt': 'agency_id,agency_name,agency_url,agency_timezone\nA,City,http://a.example,Australia/Sydney\n',
      'stops.txt': rows(
        'stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station',
        stops
          .filter((stop) => stop.file === file)
          .map(({ id, name, lat, lng, station }) => {
            const isStation = stops.some((other) => other.station === id);
            return [id, name, lat, lng, Number(isStation), station ?? ''].join();
          }),
      ),
      'routes.txt': rows(
        'route_id,agency_id,route_short_name,route_type',
        LINES.filter((line) => line.file === file).map(({ name, type }) => `R-${name},A,${name},${type}`),
      ),
      'calendar.txt': rows(
        'service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date',
        calendar,
      ),
      'calendar_dates.txt': rows('service_id,date,exception_type', dates),
      'trips.txt': rows(
        'route_id,service_id,trip_id,trip_headsign,direction_id',
        shown.map((trip) => {
          const { line, kind, isChanged, direction } = trip;
          return `R-${line.name},${kind}-${isChanged},${idOf(trip, published)},${line.stops[direction].at(-1)},${direction}`;
        }),
      ),
      'stop_times.txt': rows(
        'trip_id,arrival_time,departure_time,stop_id,stop_sequence',
        shown.flatMap((trip) =>
          callsOf(trip).map(
            ({ stop, at }, index) => `${idOf(trip, published)},${time(at)},${time(at)},${stop},${index + 1}`,
          ),
        ),
      ),
    },
    { method: 'deflate' },
  );
}

/** A run of one day: its calls with times in milliseconds since 1970. */
export interface Run {
  id: string;
  trip: Trip;
  calls: readonly { stop: string; at: number }[];
}

/** The runs of a service day by the publications in use; none of a file that does not have the day. */
export function runsOn(day: number, inUse: Readonly<Record<YearFile, number>>): Run[] {
  return FILES.flatMap((file) => {
    const published = inUse[file];
    if (day < published - DAYS_BEFORE || day > lastDayOf(file, published)) return [];
    return TRIPS[file]
      .filter(({ kind, isChanged }) => kind === kindOf(day) && isChanged === isChangedOn(day, published))
      .map((trip) => ({
        id: idOf(trip, published),
        trip,
        // Boards and journeys show planned times rounded down to the minute, as the trip planner does.
        calls: callsOf(trip).map(({ stop, at }) => ({ stop, at: momentOf(day, at - (at % 60)) })),
      }));
  });
}

/** The stops where riders ask: stations, poles and wharves. */
const stopsById = new Map(stops.map((stop) => [stop.id, stop]));
export const PLACES: readonly string[] = stops.filter(({ station }) => station === null).map(({ id }) => id);
export const fileOf = (stop: string) => (stopsById.get(stop) as Stop).file;
/** The station of a platform; any other stop itself. */
export const placeOf = (stop: string) => stopsById.get(stop)?.station ?? stop;

const METRES_PER_DEGREE = 111_195;

/** Places within 80 m of a place, with itself. */
const NEAR = new Map(
  PLACES.map((place) => {
    const one = stopsById.get(place) as Stop;
    const isNear = (other: Stop) =>
      Math.hypot(one.lat - other.lat, (one.lng - other.lng) * Math.cos((one.lat * Math.PI) / 180)) * METRES_PER_DEGREE <
      80;
    return [place, PLACES.filter((id) => isNear(stopsById.get(id) as Stop))];
  }),
);

/**
 * The earliest arrival with ten minutes for each change, or null within eight hours: riders who hurry may be earlier. A
 * connection scan over all hops.
 */
export function latestAcceptableArrival(runs: readonly Run[], from: string, to: string, at: number): number | null {
  const CHANGE_MS = 600_000;
  const ready = new Map([[from, at]]);
  const aboard = new Set<Run>();
  const hops = runs
    .flatMap((run) =>
      run.calls.slice(1).map((next, index) => ({ run, before: run.calls[index] as Run['calls'][0], next })),
    )
    .filter(({ before, next }) => before.at >= at && next.at < at + 8 * 3_600_000)
    .sort((one, other) => one.before.at - other.before.at);
  let best: number | null = null;
  for (const { run, before, next } of hops) {
    const since = ready.get(placeOf(before.stop));
    if (!aboard.has(run) && (since === undefined || since > before.at)) continue;
    aboard.add(run);
    const place = placeOf(next.stop);
    if (place === to && (best === null || next.at < best)) best = next.at;
    for (const other of NEAR.get(place) ?? []) {
      const then = next.at + CHANGE_MS;
      if (then < (ready.get(other) ?? Number.POSITIVE_INFINITY)) ready.set(other, then);
    }
  }
  return best;
}
