import { DateTime } from 'luxon';

/** A second reading of a schedule, straight from its rows and without regard to speed. */

type Row = Record<string, string>;

export interface PlainRun {
  tripId: string;
  lineId: string;
  direction: number;
  headsign: string;
  /** The station and the departure, at the last stop the arrival, as a UTC timestamp in whole minutes. */
  calls: { stop: string; at: string }[];
  /** The same times in seconds of the service day. */
  seconds: number[];
}

function rowsOf(table = ''): Row[] {
  const [head = [], ...rows] = table
    .trim()
    .split(/\r?\n/)
    .map((line) =>
      [...line.matchAll(/(?:"((?:[^"]|"")*)"|([^",]*))(?:,|$)/g)].map(([, one, other]) => one ?? other ?? ''),
    );
  return rows.map((row) => Object.fromEntries(head.map((name, column) => [name, row[column] ?? ''])));
}

/** `lineIdOf` names the line of a row of routes.txt; `date` is `YYYYMMDD`. */
export function readPlainRuns(
  tables: Readonly<Record<string, string>>,
  lineIdOf: (route: Row) => string,
  date: string,
): PlainRun[] {
  const day = DateTime.fromFormat(date, 'yyyyMMdd', { zone: 'Australia/Sydney' });
  const weekday = day.toFormat('cccc').toLowerCase();
  const exceptions = rowsOf(tables['calendar_dates.txt']).filter((row) => row.date === date);
  const isActive = (service: string) => {
    const [exception] = exceptions.filter((row) => row.service_id === service);
    if (exception) return exception.exception_type === '1';
    return rowsOf(tables['calendar.txt']).some(
      (row) =>
        row.service_id === service &&
        row[weekday] === '1' &&
        (row.start_date as string) <= date &&
        date <= (row.end_date as string),
    );
  };
  const active = new Map<string, boolean>();
  const runsThen = (service: string) => {
    if (!active.has(service)) active.set(service, isActive(service));
    return active.get(service);
  };
  const parents = new Map(rowsOf(tables['stops.txt']).map((row) => [row.stop_id, row.parent_station || row.stop_id]));
  const routes = new Map(rowsOf(tables['routes.txt']).map((row) => [row.route_id, row]));
  const times = Map.groupBy(rowsOf(tables['stop_times.txt']), (row) => row.trip_id);
  const start = day.set({ hour: 12 }).minus({ hours: 12 });
  const secondsOf = (clock = '') => clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  const momentOf = (seconds: number) => `${new Date(start.toMillis() + seconds * 1000).toISOString().slice(0, 16)}:00Z`;
  return rowsOf(tables['trips.txt'])
    .filter((trip) => runsThen(trip.service_id as string))
    .map((trip) => {
      const calls = (times.get(trip.trip_id) ?? []).toSorted(
        (one, other) => Number(one.stop_sequence) - Number(other.stop_sequence),
      );
      const seconds = calls.map((call, at) =>
        secondsOf(at === calls.length - 1 ? call.arrival_time : call.departure_time),
      );
      return {
        tripId: trip.trip_id as string,
        lineId: lineIdOf(routes.get(trip.route_id) as Row),
        direction: Number(trip.direction_id),
        headsign: calls[0]?.stop_headsign || (trip.trip_headsign as string),
        calls: calls.map((call, at) => ({
          stop: parents.get(call.stop_id) as string,
          at: momentOf(seconds[at] as number),
        })),
        seconds,
      };
    });
}
