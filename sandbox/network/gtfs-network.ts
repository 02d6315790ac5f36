import { loadTable, type Row } from './gtfs-table.ts';
import type {
  Position,
  SandboxCalendar,
  SandboxLine,
  SandboxNetwork,
  SandboxPattern,
  SandboxPlace,
  SandboxService,
  SandboxStop,
} from './network.ts';

const OWN_FOLDER = new URL('./gtfs/', import.meta.url);

/** Reads a network from a GTFS folder; by default the sandbox's own. Throws if the files are inconsistent. */
export function loadNetwork(folder: URL = OWN_FOLDER): SandboxNetwork {
  return { stops: loadStops(folder), lines: loadLines(folder), places: loadPlaces(folder) };
}

function loadStops(folder: URL): SandboxStop[] {
  const rows = loadTable(folder, 'stops.txt');
  const points = Map.groupBy(
    rows.filter((row) => row.location_type === '0'),
    (row) => row.parent_station,
  );
  return rows.filter((row) => row.location_type === '1').map((row) => stopOf(row, points.get(row.stop_id) ?? []));
}

function stopOf(row: Row<'stops.txt'>, points: readonly Row<'stops.txt'>[]): SandboxStop {
  return {
    id: row.stop_id,
    stopId: row.efa_stop_id,
    name: row.stop_name,
    locality: row.efa_locality,
    lat: row.stop_lat,
    lng: row.stop_lon,
    wheelchairAccess: row.wheelchair_boarding === '1',
    points: points.map((point) => ({
      id: point.stop_id,
      code: point.efa_platform,
      platformName: point.stop_name,
      lat: point.stop_lat,
      lng: point.stop_lon,
    })),
  };
}

function loadLines(folder: URL): SandboxLine[] {
  const agencies = new Map(loadTable(folder, 'agency.txt').map((row) => [row.agency_id, row]));
  const products = new Map(loadTable(folder, 'efa_products.txt').map((row) => [row.product_id, row]));
  const trips = Map.groupBy(loadTable(folder, 'trips.txt'), (row) => row.route_id);
  const patternsOf = createPatternReader(folder);
  const routes = loadTable(folder, 'routes.txt');
  const routeIds = new Set(routes.map((row) => row.route_id));
  for (const routeId of trips.keys()) {
    if (!routeIds.has(routeId)) throw new Error(`trips.txt: no route ${routeId} in routes.txt`);
  }
  return routes.map((row) => {
    const agency = agencies.get(row.agency_id);
    const product = products.get(row.efa_product_id);
    if (agency === undefined) throw new Error(`route ${row.route_id}: no agency ${row.agency_id} in agency.txt`);
    if (product === undefined) {
      throw new Error(`route ${row.route_id}: no product ${row.efa_product_id} in efa_products.txt`);
    }
    return {
      id: row.route_id,
      route: row.route_short_name || null,
      number: row.route_long_name || row.route_short_name,
      product: { id: Number(product.product_id), class: product.product_class, name: product.product_name },
      operator: agency.agency_name,
      description: row.route_desc,
      monitored: row.efa_monitored,
      patterns: patternsOf(trips.get(row.route_id) ?? []),
    };
  });
}

function loadPlaces(folder: URL): SandboxPlace[] {
  return loadTable(folder, 'efa_places.txt').map((row) => ({
    id: row.place_id,
    name: row.place_name,
    locality: row.place_locality,
    type: row.place_type,
    lat: row.place_lat,
    lng: row.place_lon,
  }));
}

const ACCESSIBLE = { '': null, '0': null, '1': true, '2': false } as const;

/**
 * Finds the patterns of one route's trips. GTFS has no patterns, and needs separate trips for weekdays and weekends. Trips of a
 * route with the same direction, headsign, accessibility, shape, stops and travel times form one pattern.
 */
function createPatternReader(folder: URL): (trips: readonly Row<'trips.txt'>[]) => SandboxPattern[] {
  const stopTimes = Map.groupBy(loadTable(folder, 'stop_times.txt'), (row) => row.trip_id);
  const frequencies = Map.groupBy(loadTable(folder, 'frequencies.txt'), (row) => row.trip_id);
  const calendars = new Map(loadTable(folder, 'calendar.txt').map((row) => [row.service_id, calendarOf(row)]));
  const shapes = Map.groupBy(loadTable(folder, 'shapes.txt'), (row) => row.shape_id);
  const paths = new Map([...shapes].map(([id, rows]) => [id, pathOf(rows)]));

  function patternOf(trip: Row<'trips.txt'>): SandboxPattern {
    const times = stopTimes.get(trip.trip_id)?.toSorted((a, b) => a.stop_sequence - b.stop_sequence) ?? [];
    const start = times[0]?.departure_time;
    const calendar = calendars.get(trip.service_id);
    const path = paths.get(trip.shape_id);
    if (start === undefined) throw new Error(`trip ${trip.trip_id} has no stop times`);
    if (calendar === undefined) throw new Error(`trip ${trip.trip_id}: no service ${trip.service_id} in calendar.txt`);
    if (trip.shape_id && !path) throw new Error(`trip ${trip.trip_id}: no shape ${trip.shape_id} in shapes.txt`);
    return {
      headsign: trip.trip_headsign,
      direction: trip.direction_id === '1' ? 1 : 0,
      wheelchairAccessible: ACCESSIBLE[trip.wheelchair_accessible],
      calls: times.map((row) => ({ point: row.stop_id, minutes: (row.departure_time - start) / 60 })),
      services: servicesOf(trip, start, frequencies.get(trip.trip_id), calendar),
      ...(path !== undefined && { path }),
    };
  }

  return (trips) => {
    const equalPatterns = Map.groupBy(trips.map(patternOf), ({ services: _, ...pattern }) => JSON.stringify(pattern));
    return [...equalPatterns.values()].flatMap((patterns) =>
      patterns.slice(0, 1).map((first) => ({ ...first, services: patterns.flatMap((pattern) => pattern.services) })),
    );
  };
}

/** The frequencies of a trip; if it has none, its single departure. */
function servicesOf(
  trip: Row<'trips.txt'>,
  start: number,
  frequencies: readonly Row<'frequencies.txt'>[] | undefined,
  calendar: SandboxCalendar,
): SandboxService[] {
  const departures = frequencies ?? [{ start_time: start, end_time: start + 60, headway_secs: 3600 }];
  return departures.map(({ start_time, end_time, headway_secs }) => {
    if (start_time % 60 !== 0 || headway_secs % 60 !== 0 || headway_secs <= 0) {
      throw new Error(`trip ${trip.trip_id}: departures of the sandbox are on whole minutes`);
    }
    if (end_time <= start_time) throw new Error(`trip ${trip.trip_id}: end_time is not after start_time`);
    return {
      calendar,
      firstMinute: start_time / 60,
      // There is no departure at end_time itself.
      lastMinute: Math.ceil(end_time / 60) - 1,
      everyMinutes: headway_secs / 60,
    };
  });
}

function calendarOf(row: Row<'calendar.txt'>): SandboxCalendar {
  const { monday, tuesday, wednesday, thursday, friday, saturday, sunday } = row;
  return {
    weekdays: [monday, tuesday, wednesday, thursday, friday, saturday, sunday],
    firstDay: row.start_date,
    lastDay: row.end_date,
  };
}

function pathOf(rows: readonly Row<'shapes.txt'>[]): Position[] {
  return rows
    .toSorted((a, b) => a.shape_pt_sequence - b.shape_pt_sequence)
    .map((row) => ({ lat: row.shape_pt_lat, lng: row.shape_pt_lon }));
}
