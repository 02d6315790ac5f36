import { Float64Column, Int32Column, Uint8Column, Uint16Column, Uint32Column } from '../core/columns.ts';
import { placeSections, type SectionsOf } from '../core/sections.ts';
import type { FileReport } from './import/schedule-file.ts';

/*
 * The file: eight letters, the format, the length of the header and of the whole file, the header as JSON, then the sections,
 * which are typed arrays used in place. Columns of starts (`…Start`, `…Calls`, `…Trips`) have one more entry than there are
 * items: item `n` has the entries from `start[n]` up to `start[n + 1]`. A text is stored as its number; number 0 is the empty
 * text.
 */

/** Raise this whenever a section or its meaning changes. Files of another format are imported again. */
export const FORMAT = 10;

/** The bytes are not a timetable, are truncated, or were written by another version of the service. */
export class NotATimetable extends Error {
  override name = 'NotATimetable';
}

const SECTIONS = {
  /** The texts in UTF-8, and where each begins. */
  textBytes: Uint8Column,
  textStart: Uint32Column,
  /** The ids of trips, in the order of the trips. */
  tripIdBytes: Uint8Column,
  tripIdStart: Uint32Column,

  stopId: Uint32Column,
  stopName: Uint32Column,
  stopPlatform: Uint32Column,
  stopLat: Float64Column,
  stopLng: Float64Column,
  /** -1 if the stop has none. */
  stopParent: Int32Column,
  childStart: Uint32Column,
  children: Uint32Column,
  /** Wheelchair access as in GTFS. */
  stopFlags: Uint8Column,
  /** Bit `n` stands for mode `n` of `MODES`; a station has the modes of its platforms. */
  stopModes: Uint8Column,
  stopSlots: Uint32Column,
  /**
   * The walks from each stop to others, and how long they take. Signed plain arrays, because searches also make such columns for
   * other paces, and are slower with two classes of arrays.
   */
  walkStart: Int32Array,
  walkStop: Int32Array,
  walkSeconds: Int32Array,
  /** As in `MapCells`. */
  stopCell: Uint16Column,
  cellUnits: Uint8Column,
  /** The cells of the stops in ascending order, one entry per stop. */
  gridCell: Uint32Column,
  gridStop: Uint32Column,

  /** Records with the fields of `ROUTE`. */
  routes: Uint32Column,

  /** Bit `n` after `serviceStart` is day `serviceFirst + n`. */
  serviceFirst: Int32Column,
  serviceStart: Uint32Column,
  serviceBits: Uint8Column,

  /** The route of a pattern, its calls in order, and its trips by start. */
  patternRoute: Uint32Column,
  /** `direction_id`: 0 or 1. */
  patternDirection: Uint8Column,
  patternCalls: Uint32Column,
  patternTrips: Uint32Column,
  /** Where the pattern's record in the file of paths begins and ends; equal if there is none. */
  pathStart: Uint32Column,
  pathEnd: Uint32Column,
  /** The straight parts of ferry paths away from wharves: latitude and longitude of both ends, in millionths of a degree. */
  ferryWays: Int32Column,
  callStop: Uint32Column,
  /** As in `ScheduleCalls`. Trips with other numbers form another pattern. */
  callSequence: Uint16Column,
  callFlags: Uint8Column,
  /** 0 if the trip's headsign applies. */
  callHeadsign: Uint32Column,
  /** The smallest arrival and the largest departure of all trips of the pattern, in seconds after the start of the trip. */
  callEarliest: Int32Column,
  callLatest: Int32Column,
  /** The calls of patterns at each stop. */
  visitStart: Uint32Column,
  visitPattern: Uint32Column,
  visitPosition: Uint16Column,

  tripPattern: Uint32Column,
  /** Departure from the first call, in seconds since the start of the service day. */
  tripStart: Int32Column,
  /** The seconds between vehicles without fixed times; 0 if the times are fixed. */
  tripHeadway: Uint16Column,
  /** Where the times of the calls begin in `offsets`. Each call of the pattern has one entry: seconds after `tripStart`. */
  tripArrivals: Uint32Column,
  tripDepartures: Uint32Column,
  /** A plain array, like those that searches make for live runs. */
  offsets: Int32Array,
  /** Where the usual loads of the calls begin in `loads`, plus 1; 0 if none is known. */
  tripLoads: Uint32Column,
  /** As in `ScheduleCalls`. */
  loads: Uint16Column,
  tripService: Uint32Column,
  tripHeadsign: Uint32Column,
  /** The number of the block; 0 if there is none. */
  tripBlock: Uint32Column,
  /** What riders may bring, as packed by `packAccess`. */
  tripFlags: Uint8Column,
  tripSlots: Uint32Column,
  /** The slots of trips whose ID contains a date, by the ID without it. */
  datelessSlots: Uint32Column,

  blockStart: Uint32Column,
  /** Sorted by start. */
  blockTrips: Uint32Column,
} as const;

export type Sections = SectionsOf<typeof SECTIONS>;
/** The content of each section, as the builder has it. */
export type SectionNumbers = { [Name in keyof typeof SECTIONS]: ArrayLike<number> };

/** The fields of a route. All are texts, except `mode` (index in `MODES`) and `network` (plus 1; 0 if there is none). */
export const ROUTE = {
  file: 0,
  id: 1,
  shortName: 2,
  lineName: 3,
  mode: 4,
  network: 5,
  longName: 6,
  agencyId: 7,
  operator: 8,
  length: 9,
} as const;

/** When the timetable was made, and of what. */
export interface TimetableAbout {
  /** Milliseconds since 1970. */
  importedAt: number;
  files: FileReport[];
  /** The latest time of any call, in seconds since the start of its service day. */
  maxSeconds: number;
}

const MAGIC = Buffer.from('TRANSITT');
const HEADER_START = 20;

interface TimetableHeader {
  about: TimetableAbout;
  /** The number of entries of each section, in the order of `SECTIONS`. */
  lengths: number[];
}

export function packSections(about: TimetableAbout, numbers: SectionNumbers): SharedArrayBuffer {
  const names = Object.keys(SECTIONS) as (keyof typeof SECTIONS)[];
  const lengths = names.map((name) => numbers[name].length);
  const header = Buffer.from(JSON.stringify({ about, lengths } satisfies TimetableHeader));
  const { total, open } = placeSections(SECTIONS, HEADER_START + header.length, lengths);
  const packed = new SharedArrayBuffer(total);
  const head = Buffer.from(packed);
  MAGIC.copy(head);
  for (const [index, number] of [FORMAT, header.length, total].entries())
    head.writeUInt32LE(number, MAGIC.length + 4 * index);
  header.copy(head, HEADER_START);
  const sections = open(packed);
  for (const name of names) sections[name].set(numbers[name]);
  return packed;
}

/** Returns views of the bytes without copying. Throws `NotATimetable`. */
export function openSections(packed: SharedArrayBuffer): { about: TimetableAbout; sections: Sections } {
  const head = Buffer.from(packed);
  if (head.length < HEADER_START || MAGIC.compare(head, 0, MAGIC.length) !== 0) throw new NotATimetable('no timetable');
  const format = head.readUInt32LE(MAGIC.length);
  if (format !== FORMAT) throw new NotATimetable(`format ${format} instead of ${FORMAT}`);
  const headerLength = head.readUInt32LE(MAGIC.length + 4);
  if (head.readUInt32LE(MAGIC.length + 8) !== head.length) throw new NotATimetable('it is truncated');
  try {
    const { about, lengths }: TimetableHeader = JSON.parse(
      head.toString('utf8', HEADER_START, HEADER_START + headerLength),
    );
    return { about, sections: placeSections(SECTIONS, HEADER_START + headerLength, lengths).open(packed) };
  } catch (error) {
    throw new NotATimetable('its header is damaged', { cause: error });
  }
}

/**
 * Lookup by ID. `slots` is a hash table with open addressing; a slot holds an item's number plus 1, or 0 if it is free. Several
 * items may have the same ID.
 */

/** Builds the slots from the hash of each item's ID. Pass `numbers` if the items are not 0, 1, 2 … */
export function fillSlots(hashes: Uint32Column, numbers?: ArrayLike<number>): Uint32Column {
  const slots = new Uint32Column(Math.ceil(hashes.length * 1.6) + 1);
  for (let index = 0; index < hashes.length; index++) {
    let slot = hashes.valueAt(index) % slots.length;
    while (slots[slot] !== 0) slot = (slot + 1) % slots.length;
    slots[slot] = (numbers?.[index] ?? index) + 1;
  }
  return slots;
}

/** Yields the items whose ID may be the one with this hash; compare the ID, because hashes collide. */
export function* candidatesOf(slots: Uint32Column, hash: number): Generator<number> {
  for (let slot = hash % slots.length; slots[slot] !== 0; slot = (slot + 1) % slots.length) {
    yield slots.valueAt(slot) - 1;
  }
}

/** The FNV-1a hash of a text. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** The number of a grid cell, about 500 m wide. Numbers increase from west to east. */
export function cellOf(lat: number, lng: number): number {
  return (
    Math.floor((lat + 90) * CELLS_PER_DEGREE) * 360 * CELLS_PER_DEGREE + Math.floor((lng + 180) * CELLS_PER_DEGREE)
  );
}

const CELLS_PER_DEGREE = 200;
export const CELLS_AROUND = 360 * CELLS_PER_DEGREE;
