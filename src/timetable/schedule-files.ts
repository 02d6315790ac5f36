import type { Mode } from '../transit/mode.ts';

/** A zip of upstream's schedule. */
export interface FileSource<Feed extends string = FeedSourceId> {
  path: string;
  /** The feed that uses this file's trip IDs; null if there is none. */
  feed: Feed | null;
  /** Routes of other modes are left out, because light rail files have contained trains. */
  onlyMode?: Mode;
  /** Read only while the named file is unusable. */
  standsInFor?: 'buses';
  /** No feed belongs to it, and it repeats trips of the other files. */
  isBundle?: true;
}

const SCHEDULE = '/v1/gtfs/schedule';
const CONTRACTS = [
  'buses/SBSC006',
  'buses/GSBC001',
  'buses/GSBC002',
  'buses/GSBC003',
  'buses/GSBC004',
  'buses/GSBC007',
  'buses/GSBC008',
  'buses/GSBC009',
  'buses/GSBC010',
  'buses/GSBC014',
  'buses/OSMBSC001',
  'buses/OSMBSC002',
  'buses/OSMBSC003',
  'buses/OSMBSC004',
  'buses/OMBSC006',
  'buses/OMBSC007',
  'buses/OSMBSC008',
  'buses/OSMBSC009',
  'buses/OSMBSC010',
  'buses/OSMBSC011',
  'buses/OSMBSC012',
  'buses/NISC001',
  'buses/ReplacementBus',
] as const;
const REGIONS = [
  'regionbuses/southeasttablelands',
  'regionbuses/southeasttablelands2',
  'regionbuses/northcoast',
  'regionbuses/northcoast2',
  'regionbuses/northcoast3',
  'regionbuses/centralwestandorana',
  'regionbuses/centralwestandorana2',
  'regionbuses/riverinamurray',
  'regionbuses/riverinamurray2',
  'regionbuses/newenglandnorthwest',
  'regionbuses/sydneysurrounds',
  'regionbuses/newcastlehunter',
  'regionbuses/farwest',
] as const;

function filesOf<Id extends string, const Source extends FileSource<string>>(
  ids: readonly Id[],
  describe: (id: Id) => Source,
) {
  return Object.fromEntries(ids.map((id) => [id, describe(id)])) as Record<Id, Source>;
}

/** The schedule files with the trips of the feed. */
export function filesOfFeed(source: FeedSourceId): FileId[] {
  return FILE_IDS.filter((file) => SCHEDULE_FILES[file].feed === source);
}

/**
 * In order of precedence: if two files have the same stop, the first one names and places it. Metro is current under `/v2`
 * only; `/v1` still serves a file from 2024. `/lightrail` duplicates `innerwest`.
 */
const FILES = {
  ...filesOf(['sydneytrains', 'nswtrains'], (id) => ({ path: `${SCHEDULE}/${id}`, feed: id })),
  metro: { path: '/v2/gtfs/schedule/metro', feed: 'metro' },
  ...filesOf(['sydneyferries', 'MFF'], (id) => ({ path: `${SCHEDULE}/ferries/${id}`, feed: id })),
  ...filesOf(['innerwest', 'cbdandsoutheast', 'parramatta', 'newcastle'], (id) => ({
    path: `${SCHEDULE}/lightrail/${id}`,
    feed: id,
    onlyMode: 'lightrail',
  })),
  buses: { path: `${SCHEDULE}/buses`, feed: 'buses' },
  // The contract files use the IDs of the `buses` feed. The feeds of regional buses are not polled.
  ...filesOf(CONTRACTS, (id) => ({ path: `${SCHEDULE}/${id}`, feed: 'buses', standsInFor: 'buses' })),
  ...filesOf(REGIONS, (id) => ({ path: `${SCHEDULE}/${id}`, feed: null })),
  complete: { path: '/v1/publictransport/timetables/complete/gtfs', feed: null, isBundle: true },
} as const;

export type FileId = keyof typeof FILES;
/** A feed of trip updates. */
export type FeedSourceId = NonNullable<(typeof FILES)[FileId]['feed']>;

export const SCHEDULE_FILES: Readonly<Record<FileId, FileSource>> = FILES;

export const FILE_IDS = Object.keys(SCHEDULE_FILES) as FileId[];

/** All files, with the bundle if requested. */
export function filesFor({ hasBundle }: { hasBundle: boolean }): FileId[] {
  return FILE_IDS.filter((id) => hasBundle || !SCHEDULE_FILES[id].isBundle);
}

export function isFileId(name: string): name is FileId {
  return Object.hasOwn(SCHEDULE_FILES, name);
}
