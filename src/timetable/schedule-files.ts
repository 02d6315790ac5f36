import type { Mode } from '../transit/mode.ts';

/** A zip of upstream's schedule. */
export interface FileSource {
  path: string;
  modes: readonly Mode[];
  /** The realtime feed whose trip ids are those of this file; null where there is none. */
  feed: string | null;
  /** Read only while the named file cannot be used. */
  standsInFor?: 'buses';
  /** Its trip ids are not those of any feed, and it repeats agencies of the other files. */
  isBundle?: true;
}

const SCHEDULE = '/v1/gtfs/schedule';
const BUS_MODES = ['bus', 'schoolbus'] as const;

function lightRail<Feed extends string>(feed: Feed) {
  return { path: `${SCHEDULE}/lightrail/${feed}`, modes: ['lightrail'], feed } as const;
}

/** The contracts have the ids of the `buses` feed. */
function contract<Contract extends string>(id: Contract) {
  return { path: `${SCHEDULE}/buses/${id}`, modes: BUS_MODES, feed: 'buses', standsInFor: 'buses' } as const;
}

/** The feeds of regional buses are not polled. */
function region<Region extends string>(id: Region) {
  return { path: `${SCHEDULE}/regionbuses/${id}`, modes: [...BUS_MODES, 'coach'], feed: null } as const;
}

/**
 * In order of precedence: where two files have the same stop, the first names and places it. Metro is under `/v2` only:
 * `/v1` still answers with a file of 2024. `/lightrail` is `innerwest` again.
 */
export const SCHEDULE_FILES = {
  sydneytrains: { path: `${SCHEDULE}/sydneytrains`, modes: ['train'], feed: 'sydneytrains' },
  nswtrains: { path: `${SCHEDULE}/nswtrains`, modes: ['train', 'coach'], feed: 'nswtrains' },
  metro: { path: '/v2/gtfs/schedule/metro', modes: ['metro'], feed: 'metro' },
  sydneyferries: { path: `${SCHEDULE}/ferries/sydneyferries`, modes: ['ferry'], feed: 'sydneyferries' },
  MFF: { path: `${SCHEDULE}/ferries/MFF`, modes: ['ferry'], feed: 'MFF' },
  innerwest: lightRail('innerwest'),
  cbdandsoutheast: lightRail('cbdandsoutheast'),
  parramatta: lightRail('parramatta'),
  newcastle: lightRail('newcastle'),
  buses: { path: `${SCHEDULE}/buses`, modes: [...BUS_MODES, 'ferry'], feed: 'buses' },
  'buses/SBSC006': contract('SBSC006'),
  'buses/GSBC001': contract('GSBC001'),
  'buses/GSBC002': contract('GSBC002'),
  'buses/GSBC003': contract('GSBC003'),
  'buses/GSBC004': contract('GSBC004'),
  'buses/GSBC007': contract('GSBC007'),
  'buses/GSBC008': contract('GSBC008'),
  'buses/GSBC009': contract('GSBC009'),
  'buses/GSBC010': contract('GSBC010'),
  'buses/GSBC014': contract('GSBC014'),
  'buses/OSMBSC001': contract('OSMBSC001'),
  'buses/OSMBSC002': contract('OSMBSC002'),
  'buses/OSMBSC003': contract('OSMBSC003'),
  'buses/OSMBSC004': contract('OSMBSC004'),
  'buses/OMBSC006': contract('OMBSC006'),
  'buses/OMBSC007': contract('OMBSC007'),
  'buses/OSMBSC008': contract('OSMBSC008'),
  'buses/OSMBSC009': contract('OSMBSC009'),
  'buses/OSMBSC010': contract('OSMBSC010'),
  'buses/OSMBSC011': contract('OSMBSC011'),
  'buses/OSMBSC012': contract('OSMBSC012'),
  'buses/NISC001': contract('NISC001'),
  'buses/ReplacementBus': contract('ReplacementBus'),
  'regionbuses/southeasttablelands': region('southeasttablelands'),
  'regionbuses/southeasttablelands2': region('southeasttablelands2'),
  'regionbuses/northcoast': region('northcoast'),
  'regionbuses/northcoast2': region('northcoast2'),
  'regionbuses/northcoast3': region('northcoast3'),
  'regionbuses/centralwestandorana': region('centralwestandorana'),
  'regionbuses/centralwestandorana2': region('centralwestandorana2'),
  'regionbuses/riverinamurray': region('riverinamurray'),
  'regionbuses/riverinamurray2': region('riverinamurray2'),
  'regionbuses/newenglandnorthwest': region('newenglandnorthwest'),
  'regionbuses/sydneysurrounds': region('sydneysurrounds'),
  'regionbuses/newcastlehunter': region('newcastlehunter'),
  'regionbuses/farwest': region('farwest'),
  complete: {
    path: '/v1/publictransport/timetables/complete/gtfs',
    modes: ['train', 'metro', 'lightrail', 'bus', 'coach', 'ferry', 'schoolbus'],
    feed: null,
    isBundle: true,
  },
} as const satisfies Record<string, FileSource>;

export type FileId = keyof typeof SCHEDULE_FILES;

export const FILE_IDS = Object.keys(SCHEDULE_FILES) as FileId[];

/** All files, and the bundle where it is wanted. */
export function filesFor({ hasBundle }: { hasBundle: boolean }): FileId[] {
  return FILE_IDS.filter((id) => hasBundle || !('isBundle' in SCHEDULE_FILES[id]));
}

export function isFileId(name: string): name is FileId {
  return Object.hasOwn(SCHEDULE_FILES, name);
}
