import { createPatternReader } from './gtfs-patterns.ts';
import {
  agencyRow,
  calendarRow,
  frequencyRow,
  placeRow,
  productRow,
  routeRow,
  type StopRow,
  shapeRow,
  stopRow,
  stopTimeRow,
  tripRow,
} from './gtfs-rows.ts';
import { readTable } from './gtfs-table.ts';
import type { SandboxLine, SandboxNetwork, SandboxPlace, SandboxStop } from './network.ts';

const OWN_FOLDER = new URL('./gtfs/', import.meta.url);

/** Reads a network from a GTFS folder; the sandbox's own by default. Throws where the files do not fit together. */
export function readNetwork(folder: URL = OWN_FOLDER): SandboxNetwork {
  return { stops: readStops(folder), lines: readLines(folder), places: readPlaces(folder) };
}

function readStops(folder: URL): SandboxStop[] {
  const rows = readTable(folder, 'stops.txt', stopRow);
  const points = Map.groupBy(
    rows.filter((row) => row.location_type === '0'),
    (row) => row.parent_station,
  );
  return rows.filter((row) => row.location_type === '1').map((row) => stopOf(row, points.get(row.stop_id) ?? []));
}

function stopOf(row: StopRow, points: readonly StopRow[]): SandboxStop {
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

function readLines(folder: URL): SandboxLine[] {
  const agencies = new Map(readTable(folder, 'agency.txt', agencyRow).map((row) => [row.agency_id, row]));
  const products = new Map(readTable(folder, 'efa_products.txt', productRow).map((row) => [row.product_id, row]));
  const trips = Map.groupBy(readTable(folder, 'trips.txt', tripRow), (row) => row.route_id);
  const patternsOf = createPatternReader({
    stopTimes: readTable(folder, 'stop_times.txt', stopTimeRow),
    frequencies: readTable(folder, 'frequencies.txt', frequencyRow),
    calendar: readTable(folder, 'calendar.txt', calendarRow),
    shapes: readTable(folder, 'shapes.txt', shapeRow),
  });
  const routes = readTable(folder, 'routes.txt', routeRow);
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

function readPlaces(folder: URL): SandboxPlace[] {
  return readTable(folder, 'efa_places.txt', placeRow).map((row) => ({
    id: row.place_id,
    name: row.place_name,
    locality: row.place_locality,
    type: row.place_type,
    lat: row.place_lat,
    lng: row.place_lon,
  }));
}
