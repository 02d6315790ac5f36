import papaparse from 'papaparse';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import type { Mode } from '../transit/mode.ts';
import { AUSTRALIA } from '../transit/place.ts';
import { STOP_ID, type StopRecord } from './table.ts';

/** The files that are read, and how large each may be unpacked: several times what the authority's are. */
const MAX_BYTES = {
  'stops.txt': 200e6,
  'routes.txt': 100e6,
  'trips.txt': 2e9,
  'stop_times.txt': 20e9,
} as const;

/** The authority has about 100,000 stops and platforms, and less than a million trips. */
const MAX_STOPS = 500_000;
const MAX_TRIPS = 5_000_000;
const MAX_TEXT = 200;
/** In characters. The authority's longest rows have less than a hundredth of it. */
const MAX_ROW = 64_000;

/** Entrances, nodes of paths and boarding areas are no stops. */
const STOPS_AND_STATIONS = ['', '0', '1'];

/** The types of routes, also the extended ones that the authority uses: the first whose range holds the number. */
const ROUTE_TYPES: readonly (readonly [from: number, to: number, mode: Mode])[] = [
  [0, 0, 'lightrail'],
  [1, 1, 'metro'],
  [2, 2, 'train'],
  [3, 3, 'bus'],
  [4, 4, 'ferry'],
  [100, 199, 'train'],
  [200, 299, 'coach'],
  [400, 499, 'metro'],
  [712, 713, 'schoolbus'],
  [700, 799, 'bus'],
  [900, 999, 'lightrail'],
  [1000, 1299, 'ferry'],
];

/** The stops of a GTFS file, the day of its data, and how many records were no stops of the state. */
export interface GtfsStops {
  stops: StopRecord[];
  dataDate: string;
  /** Records without an identifier of the authority, a name, or a position in Australia. */
  broken: number;
}

/** Reads the stops of a GTFS file; their modes are known where it has timetables. Throws where it is none, and after `withinMs`. */
export async function readGtfs(file: string, now: Date, withinMs: number): Promise<GtfsStops> {
  const until = performance.now() + withinMs;
  const zip = await openPromise(file, { lazyEntries: true, autoClose: false });
  try {
    const entries = new Map<string, Entry>();
    for await (const entry of zip.eachEntry())
      if (Object.hasOwn(MAX_BYTES, entry.fileName)) entries.set(entry.fileName, entry);
    const stopsEntry = entries.get('stops.txt');
    if (!stopsEntry) throw new Error('there is no stops.txt in it');
    const { stops, broken } = await readStops({ zip, entries, until });
    const modes = await readModes({ zip, entries, until });
    const changedAt = stopsEntry.getLastModDate({ timezone: 'UTC' });
    // Some programs write no date, which reads as 1980.
    const isDated = changedAt.getFullYear() > 2000 && changedAt < now;
    const dataDate = (isDated ? changedAt : now).toISOString().slice(0, 10);
    return { stops: withModes(stops, modes), dataDate, broken };
  } finally {
    zip.close();
  }
}

/** `until` is when reading has to end, by `performance.now`. */
interface Archive {
  zip: ZipFile;
  entries: ReadonlyMap<string, Entry>;
  until: number;
}

async function readStops(archive: Archive) {
  const stops = new Map<string, StopRecord>();
  let broken = 0;
  const columns = ['stop_id', 'stop_name', 'stop_lat', 'stop_lon'] as const;
  const others = ['location_type', 'parent_station', 'wheelchair_boarding'] as const;
  await readRows(archive, 'stops.txt', { columns, others }, (row) => {
    if (!STOPS_AND_STATIONS.includes(row.location_type)) return;
    const [lat, lng] = [toDegrees(row.stop_lat), toDegrees(row.stop_lon)];
    const isPlaced = lat > AUSTRALIA.south && lat < AUSTRALIA.north && lng > AUSTRALIA.west && lng < AUSTRALIA.east;
    const isNamed = row.stop_name !== '' && row.stop_name.length <= MAX_TEXT;
    if (!STOP_ID.test(row.stop_id) || !isNamed || !isPlaced) {
      broken++;
      return;
    }
    const parentId = STOP_ID.test(row.parent_station) ? row.parent_station : null;
    const wheelchair = { 1: true, 2: false }[row.wheelchair_boarding];
    stops.set(row.stop_id, {
      stop_id: row.stop_id,
      name: row.stop_name,
      suburb: '',
      lat,
      lng,
      modes: [],
      parent_id: parentId,
      is_platform: parentId !== null,
      ...(wheelchair !== undefined && { wheelchair }),
    });
    if (stops.size > MAX_STOPS) throw new Error(`stops.txt has more than ${MAX_STOPS.toLocaleString('en')} stops`);
  });
  return { stops, broken };
}

/** Platforms have the accessibility of their station where they have none of their own; stations have the modes of their platforms. */
function withModes(stops: ReadonlyMap<string, StopRecord>, modes: ReadonlyMap<string, Set<Mode>>): StopRecord[] {
  const ofStations = new Map<string, Set<Mode>>();
  for (const { stop_id, parent_id } of stops.values()) {
    const own = modes.get(stop_id);
    if (own && parent_id) ofStations.set(parent_id, (ofStations.get(parent_id) ?? new Set()).union(own));
  }
  return [...stops.values()].map((stop) => {
    const parent = stop.parent_id === null ? undefined : stops.get(stop.parent_id);
    const wheelchair = stop.wheelchair ?? parent?.wheelchair;
    return {
      ...stop,
      parent_id: parent ? stop.parent_id : null,
      is_platform: parent !== undefined,
      modes: [...(modes.get(stop.stop_id) ?? []), ...(ofStations.get(stop.stop_id) ?? [])],
      ...(wheelchair !== undefined && { wheelchair }),
    };
  });
}

/** The modes of the trips that call at each stop; none where the file has no timetables. */
async function readModes(archive: Archive): Promise<Map<string, Set<Mode>>> {
  const ofStops = new Map<string, Set<Mode>>();
  if (!['routes.txt', 'trips.txt', 'stop_times.txt'].every((name) => archive.entries.has(name))) return ofStops;
  const ofRoutes = new Map<string, Mode>();
  await readRows(archive, 'routes.txt', { columns: ['route_id', 'route_type'] }, ({ route_id, route_type }) => {
    const type = Number(route_type);
    const mode = ROUTE_TYPES.find(([from, to]) => type >= from && type <= to)?.[2];
    if (mode) ofRoutes.set(route_id, mode);
  });
  const ofTrips = new Map<string, Mode>();
  await readRows(archive, 'trips.txt', { columns: ['route_id', 'trip_id'] }, ({ route_id, trip_id }) => {
    const mode = ofRoutes.get(route_id);
    if (mode) ofTrips.set(trip_id, mode);
    if (ofTrips.size > MAX_TRIPS) throw new Error(`trips.txt has more than ${MAX_TRIPS.toLocaleString('en')} trips`);
  });
  await readRows(archive, 'stop_times.txt', { columns: ['trip_id', 'stop_id'] }, ({ trip_id, stop_id }) => {
    const mode = ofTrips.get(trip_id);
    if (!mode) return;
    const modes = ofStops.get(stop_id);
    if (modes) modes.add(mode);
    else if (ofStops.size < MAX_STOPS) ofStops.set(stop_id, new Set([mode]));
  });
  return ofStops;
}

/** Reads a file of the zip row by row; `others` are columns that it may lack. */
async function readRows<Column extends string, Other extends string = never>(
  { zip, entries, until }: Archive,
  name: keyof typeof MAX_BYTES,
  { columns, others = [] }: { columns: readonly Column[]; others?: readonly Other[] },
  note: (row: Record<Column | Other, string>) => void,
): Promise<void> {
  const entry = entries.get(name) as Entry;
  if (entry.uncompressedSize > MAX_BYTES[name]) throw new Error(`${name} is larger than ${MAX_BYTES[name] / 1e6} MB`);
  const input = (await zip.openReadStreamPromise(entry)).setEncoding('utf8');
  const all = [...columns, ...others];
  let indexes: number[] | null = null;
  for await (const rows of splitRows(input, name)) {
    if (performance.now() >= until) throw new Error('reading it takes too long');
    for (const fields of rows) {
      if (!indexes) {
        const header = fields.map((field) => field.replace(/^\uFEFF/, '').trim());
        indexes = all.map((column) => header.indexOf(column));
        const missing = columns.find((_column, at) => indexes?.[at] === -1);
        if (missing) throw new Error(`${name} has no column ${missing}`);
        continue;
      }
      const row = {} as Record<Column | Other, string>;
      for (const [at, column] of all.entries()) row[column] = (fields[indexes[at] as number] ?? '').trim();
      note(row);
    }
  }
}

/** The rows that end in each chunk. An unclosed quote would make a row of the rest of the file, read again with each chunk. */
async function* splitRows(chunks: AsyncIterable<string>, name: string): AsyncGenerator<string[][]> {
  const isEmpty = ([first, ...more]: string[]) => first === '' && more.length === 0;
  let parser: papaparse.Parser | null = null;
  let rest = '';
  for await (const chunk of chunks) {
    parser ??= new papaparse.Parser({ newline: chunk.includes('\r\n') ? '\r\n' : '\n' });
    const text = rest + chunk;
    const { data, meta } = parser.parse(text, 0, true) as papaparse.ParseResult<string[]>;
    rest = text.slice(meta.cursor);
    // Only the row that began in an earlier chunk can be longer than one.
    if (rest.length > MAX_ROW || (data[0]?.join().length ?? 0) > MAX_ROW) {
      throw new Error(`${name} has a row of more than ${MAX_ROW / 1000} kB`);
    }
    yield data.filter((row) => !isEmpty(row));
  }
  if (!parser || rest === '') return;
  const { data } = parser.parse(rest, 0, false) as papaparse.ParseResult<string[]>;
  yield data;
}

/** Not a number where the text is empty, which `Number` reads as 0. */
function toDegrees(text: string): number {
  return text === '' ? Number.NaN : Number(text);
}
