import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Carried, carries } from '../feeds/feed.ts';
import { BUS, COACH, FERRY, LIGHT_RAIL, METRO, type SandboxLine, SCHOOL_BUS, TRAIN } from '../network/network.ts';
import type { NetworkIndex, PatternNode, PointNode, StopNode } from '../network/network-index.ts';
import { hasTripId, realtimeTripId, routeIdOf, trainDays } from '../timetable/run.ts';
import { departureMinutes, weekdaysAt } from '../timetable/services.ts';

/**
 * The days of the calendar, relative to the day of publication: all days that boards show, and earlier days with runs that
 * continue into them.
 */
const FIRST_DAY = -9;
const LAST_DAY = 16;

type Value = string | number;

/**
 * Returns the texts of the GTFS files for these lines, as published on a day (days since 1970-01-01). Departures have the same
 * times as on boards.
 */
export async function scheduleTables(
  { patterns, stops }: NetworkIndex,
  carried: Carried,
  day: number,
): Promise<Record<string, string>> {
  const filePatterns = patterns.filter(({ line }) => carries(carried, line));
  const lines = [...new Set(filePatterns.map(({ line }) => line))];
  const called = new Set(filePatterns.flatMap(({ points }) => points));
  const services = new Map<string, Service>();
  const trips: Value[][] = [];
  let stopTimes = '';
  for (const pattern of filePatterns) {
    // A file of a large mode takes too long to block other requests.
    await nextTurn();
    const booking = pattern.line.product.class === COACH ? BY_PHONE : NO_BOOKING;
    for (const [minute, days] of daysByMinute(pattern, day)) {
      const service = serviceOf(weekdaysAt(pattern, minute), days, day);
      services.set(service.id, service);
      const id = tripIdOf(pattern, minute);
      trips.push([
        routeIdOf(pattern.line),
        service.id,
        id,
        headsignOf(pattern),
        pattern.direction,
        '',
        pattern.path ? shapeOf(pattern) : '',
        accessOf(pattern),
      ]);
      for (const [call, point] of pattern.points.entries()) {
        const time = clock(minute * 60 + (pattern.offsetSeconds[call] ?? 0));
        stopTimes += row([id, time, time, point.id, call + 1, '', booking, booking]);
      }
    }
  }
  const dates = [...services.values()].flatMap(({ id, missing }) => missing.map((date) => [id, date, 2]));
  const operators = [...new Set(lines.map(({ operator }) => operator))];
  const isMetro = lines.some(({ product }) => product.class === METRO);
  const shapes = filePatterns.flatMap((pattern) =>
    (pattern.path ?? []).map(({ lat, lng }, index) => [shapeOf(pattern), lat, lng, index + 1, '']),
  );
  return {
    'agency.txt': table(
      'agency_id,agency_name,agency_url,agency_timezone,agency_lang,agency_phone',
      operators.map((name) => [agencyIdOf(name), name, 'http://transportnsw.info', 'Australia/Sydney', 'en', '131500']),
    ),
    'stops.txt': table(
      'stop_id,stop_code,stop_name,stop_lat,stop_lon,location_type,parent_station,wheelchair_boarding',
      stops.flatMap((stop) => stopRows(stop, called, isMetro ? ', ' : ' ')),
    ),
    'routes.txt': table(
      'route_id,agency_id,route_short_name,route_long_name,route_desc,route_type,route_url,route_color,route_text_color',
      lines.map(routeRow),
    ),
    'calendar.txt': table(
      'service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date',
      [...services.values()].map(({ id, weekdays }) => [
        id,
        ...weekdays.map(Number),
        dateOf(day + FIRST_DAY),
        dateOf(day + LAST_DAY),
      ]),
    ),
    'calendar_dates.txt': table('service_id,date,exception_type', dates),
    'trips.txt': table(
      'route_id,service_id,trip_id,trip_headsign,direction_id,block_id,shape_id,wheelchair_accessible',
      trips,
    ),
    'stop_times.txt': `${STOP_TIMES}\n${stopTimes}`,
    'shapes.txt': table('shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence,shape_dist_traveled', shapes),
    'feed_info.txt': table(
      'feed_publisher_name,feed_publisher_url,feed_lang,feed_start_date,feed_end_date,feed_version',
      [['TfNSW', 'http://transportnsw.info', 'en', dateOf(day + FIRST_DAY), dateOf(day + LAST_DAY), versionOf(day)]],
    ),
  };
}

/** Values of `pickup_type` and `drop_off_type`. */
const NO_BOOKING = 0;
const BY_PHONE = 2;
const STOP_TIMES = 'trip_id,arrival_time,departure_time,stop_id,stop_sequence,stop_headsign,pickup_type,drop_off_type';

interface Service {
  id: string;
  weekdays: boolean[];
  /** Dates in the calendar on which it does not run although the weekday matches. */
  missing: string[];
}

/** The days on which a pattern departs, by minute of the service day. */
function daysByMinute({ services }: PatternNode, day: number): Map<number, number[]> {
  const days = new Map<number, number[]>();
  for (let date = day + FIRST_DAY; date <= day + LAST_DAY; date++) {
    for (const minute of departureMinutes(services, date)) {
      const weekdays = days.get(minute);
      if (weekdays) weekdays.push(date);
      else days.set(minute, [date]);
    }
  }
  return days;
}

function serviceOf(weekdays: boolean[], days: readonly number[], day: number): Service {
  const missing: string[] = [];
  for (let date = day + FIRST_DAY; date <= day + LAST_DAY; date++) {
    // 1970-01-01 was a Thursday.
    if (weekdays[(date + 3) % 7] && !days.includes(date)) missing.push(dateOf(date));
  }
  return { id: ['1257.152', trainDays(weekdays), ...missing].join('.'), weekdays, missing };
}

/** Boards append the suburb to the name of the last stop: "Liverpool Station, Liverpool". */
function headsignOf({ headsign, points }: PatternNode): string {
  const { name = '', locality = '' } = points.at(-1)?.home ?? {};
  return headsign === `${name}, ${locality}` && name.includes(locality) ? name : headsign;
}

/** Trips without an identifier in the feeds have one from the bundle of all operators. */
function tripIdOf(pattern: PatternNode, minute: number): string {
  const { line, ordinal } = pattern;
  return hasTripId(pattern) ? realtimeTripId({ pattern, minute }) : `${minute}.TA.${routeIdOf(line)}.${ordinal}.H`;
}

/** The stop and the points at which the lines call. The schedule has no groups of street stops, only their poles. */
function stopRows(home: StopNode, called: ReadonlySet<PointNode>, beforePlatform: string): Value[][] {
  const points = home.points.filter((point) => called.has(point));
  const isGroup = home.id.startsWith('G');
  const access = home.wheelchairAccess ? 1 : 2;
  const pointRows = points.map((point): Value[] => {
    const name = scheduleName(point, beforePlatform);
    return [point.id, point.id, name, point.lat, point.lng, 0, isGroup ? '' : home.id, isGroup ? access : 0];
  });
  if (points.length === 0 || isGroup) return pointRows;
  return [[home.id, home.id, home.name, home.lat, home.lng, 1, '', access], ...pointRows];
}

/** For instance "Town Hall Station Platform 3", "Circular Quay, Wharf 2, Side A" or "Town Hall, Park St, Stand K". */
function scheduleName({ platformName, home }: PointNode, beforePlatform: string): string {
  // Boards use the code of this platform, such as "THL6".
  const platform = platformName.replace(/^[A-Z]{2,4}0?(\d{1,2})$/, 'Platform $1');
  if (platform.startsWith('Platform ')) return home.name + beforePlatform + platform;
  return /^(Wharf|Side|Stand) /.test(platform) ? `${home.name}, ${platform}` : platform;
}

const ROUTE_TYPES: Readonly<Record<number, number>> = {
  [TRAIN]: 2,
  [METRO]: 401,
  [LIGHT_RAIL]: 900,
  [BUS]: 700,
  [COACH]: 204,
  [FERRY]: 4,
  [SCHOOL_BUS]: 712,
};

function routeRow(line: SandboxLine): Value[] {
  const { route, number, product, description, operator } = line;
  const isTrain = product.class === TRAIN;
  // For trains the description is the line; for other modes it is the network.
  const [long, desc] = isTrain ? [description, number] : [longNameOf(line), product.name];
  const type = ROUTE_TYPES[product.class] ?? '';
  return [routeIdOf(line), agencyIdOf(operator), route ?? number, long, desc, type, '', '', ''];
}

/** "Randwick Line" from "L2 Randwick Line"; if there is only a number, the description on boards. */
function longNameOf({ route, number, description }: SandboxLine): string {
  return route !== null && number.startsWith(`${route} `) ? number.slice(route.length + 1) : description;
}

/** The vehicle's accessibility: 1 yes, 2 no. 0 if unknown, and for modes other than buses and light rail. */
function accessOf({ wheelchairAccessible, line }: PatternNode): number {
  if (wheelchairAccessible === null || ![LIGHT_RAIL, BUS].includes(line.product.class)) return 0;
  return wheelchairAccessible ? 1 : 2;
}

function shapeOf({ line, ordinal }: PatternNode): string {
  return `${routeIdOf(line)}.${ordinal + 1}`;
}

function agencyIdOf(operator: string): string {
  return operator.replaceAll(' ', '');
}

/** Formats a time as "25:10:30". */
function clock(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** Formats a day as YYYYMMDD. */
function dateOf(day: number): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
}

function versionOf(day: number): string {
  const date = dateOf(day);
  return `${date.slice(6)}${date.slice(4, 6)}${date.slice(0, 4)}-013000`;
}

function table(header: string, rows: readonly (readonly Value[])[]): string {
  return `${header}\n${rows.map(row).join('')}`;
}

/** Upstream quotes every value. */
function row(values: readonly Value[]): string {
  return `"${values.map((value) => String(value).replaceAll('"', '""')).join('","')}"\n`;
}
