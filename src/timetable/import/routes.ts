import type { Mode } from '../../transit/mode.ts';
import { type FileId, SCHEDULE_FILES } from '../schedule-files.ts';
import type { LeftOutCounter } from './left-out.ts';
import { isEmptyRoute } from './passenger-trips.ts';
import type { ScheduleRoute } from './schedule-file.ts';
import type { ScheduleZip } from './zip.ts';

/** GTFS route types, including the extended ones; the first matching range applies. 714 is a replacement bus. */
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

/** Names used by the trip planner that the files lack. */
const LINE_NAMES: ReadonlyMap<string, string> = new Map([
  ['T1', 'T1 North Shore & Western Line'],
  ['M1', 'M1 Metro North West & Bankstown Line'],
  ['L1', 'L1 Dulwich Hill Line'],
  ['L2', 'L2 Randwick Line'],
  ['L3', 'L3 Kingsford Line'],
  ['F1', 'F1 Manly'],
  ['F2', 'F2 Taronga Zoo'],
  ['F3', 'F3 Parramatta River'],
  ['F4', 'F4 Pyrmont Bay'],
  ['F6', 'F6 Mosman Bay'],
  ['F7', 'F7 Double Bay'],
  ['MFF', 'MFF Manly Fast Ferry'],
]);

/** The trip planner's networks, for files with trips of a single network. */
const NETWORKS_OF_FILES: Partial<Record<FileId, number>> = {
  metro: 24,
  sydneyferries: 10,
  MFF: 12,
  innerwest: 13,
  cbdandsoutheast: 13,
  parramatta: 13,
  newcastle: 21,
};
/** The trip planner's networks by name; some files have the name as the description of a route. */
const NETWORKS_OF_NAMES: ReadonlyMap<string, number> = new Map([
  ['Sydney Trains Network', 1],
  ['Intercity Trains Network', 2],
  ['Sydney Buses Network', 5],
  ['School Buses', 8],
  ['Sydney Ferries Network', 10],
  ['Private ferry and fast ferry services', 12],
  ['Sydney Light Rail Network', 13],
  ['Parramatta Light Rail Network', 13],
  ['Temporary buses', 14],
  ['Newcastle Light Rail Network', 21],
  ['Sydney Metro Network', 24],
]);
const INTERCITY_ROUTES: readonly string[] = ['BMT', 'CCN', 'HUN', 'SCO', 'SHL'];

/** The routes with passengers, and their indices by id. */
export interface Routes {
  routes: ScheduleRoute[];
  indexes: ReadonlyMap<string, number>;
}

export async function loadRoutes(zip: ScheduleZip, file: FileId, leftOut: LeftOutCounter): Promise<Routes> {
  const agencies = await loadAgencies(zip);
  const [onlyAgency] = agencies.size === 1 ? agencies.keys() : [];
  const { onlyMode } = SCHEDULE_FILES[file];
  const routes: ScheduleRoute[] = [];
  const indexes = new Map<string, number>();
  const table = {
    name: 'routes.txt',
    required: ['route_id', 'route_type'],
    optional: ['agency_id', 'route_short_name', 'route_long_name', 'route_desc'],
  } as const;
  await zip.loadRows(table, (row, at) => {
    const [id, type] = [row.text(at.route_id), row.integer(at.route_type)];
    if (isEmptyRoute(id)) return;
    const mode = ROUTE_TYPES.find(([from, to]) => type >= from && type <= to)?.[2];
    if (id === '' || !mode) return leftOut.add('route of an unknown type');
    if (onlyMode && mode !== onlyMode) return leftOut.add('route of another mode than the file');
    const longName = row.text(at.route_long_name);
    const shortName = row.text(at.route_short_name) || longName;
    const description = row.text(at.route_desc);
    const agencyId = row.text(at.agency_id) || (onlyAgency ?? '');
    const route = { id, shortName, mode, agencyId };
    indexes.set(id, routes.length);
    routes.push({
      ...route,
      longName,
      lineName: chooseLineName(route, longName, description),
      agencyName: agencies.get(agencyId) ?? '',
      network: findNetwork(file, route, description),
    });
  });
  return { routes, indexes };
}

async function loadAgencies(zip: ScheduleZip): Promise<Map<string, string>> {
  const agencies = new Map<string, string>();
  const table = { name: 'agency.txt', required: ['agency_name'], optional: ['agency_id'] } as const;
  await zip.loadRows(table, (row, at) => {
    agencies.set(row.text(at.agency_id), row.text(at.agency_name));
  });
  return agencies;
}

type Named = Pick<ScheduleRoute, 'id' | 'shortName' | 'mode' | 'agencyId'>;

/**
 * A train line consists of many routes, one for each direction and variant, with the line's name as their description: "T4
 * Eastern Suburbs & Illawarra Line". Other routes, and the trains of the bundle, have their network as description, which the
 * trip planner uses to name buses and TrainLink's trains.
 */
function chooseLineName({ mode, shortName }: Named, longName: string, description: string): string {
  const lineName = LINE_NAMES.get(shortName);
  if (lineName && mode !== 'bus' && mode !== 'schoolbus') return lineName;
  if (mode === 'train') {
    if (!description.endsWith(' Network')) return description || shortName;
    if (longName !== shortName && longName !== '') return longName;
  }
  if (mode === 'metro' || mode === 'lightrail' || mode === 'ferry') {
    return longName.startsWith(shortName) ? longName : `${shortName} ${longName}`.trim();
  }
  return `${description} ${shortName}`.trim();
}

function findNetwork(file: FileId, { id, shortName, mode, agencyId }: Named, description: string): number | null {
  const network = NETWORKS_OF_FILES[file] ?? NETWORKS_OF_NAMES.get(description);
  if (network !== undefined) return network;
  if (mode === 'schoolbus') return 8;
  if (file !== 'sydneytrains' && file !== 'nswtrains') return null;
  if (mode === 'coach') return 7;
  if (mode !== 'train') return null;
  if (file === 'sydneytrains' && agencyId === 'SydneyTrains') return 1;
  const isIntercity = INTERCITY_ROUTES.some((route) => shortName.startsWith(route) || id.startsWith(`4T.T.${route}`));
  return isIntercity ? 2 : 3;
}
