import { z } from 'zod';
import { firstFrom } from '../core/binary-search.ts';
import { Float64Column, Int32Column, Uint32Column } from '../core/columns.ts';
import { MODES, type Mode, modeSchema, sortModes } from '../transit/mode.ts';
import type { Bounds } from '../transit/region.ts';

/** A stop or platform. */
export interface StopRecord {
  readonly stop_id: string;
  /** Without the suburb. */
  readonly name: string;
  /** Empty if unknown. */
  readonly suburb: string;
  readonly lat: number;
  readonly lng: number;
  /** Empty if unknown. */
  readonly modes: readonly Mode[];
  /** The stop to which a platform belongs; null if there is none or it is unknown. */
  readonly parent_id: string | null;
  readonly is_platform: boolean;
  /** Whether wheelchair users can board; absent if unknown. */
  readonly wheelchair?: boolean;
}

/** The first line of a stops file. */
const headerSchema = z.object({ format: z.literal(1), dataDate: z.iso.date(), source: z.string() });

const NEWLINE = 10;
const TAB = 9;
const MICRODEGREES = 1e6;
/** The size of the grid: a cell is a hundredth of a degree, about a kilometre. */
const CELLS_PER_DEGREE = 100;
/** Cells from west to east; the number of a cell is its row times this, plus its column. */
const CELLS_AROUND = 360 * CELLS_PER_DEGREE;
const MODES_OF_TEXT = new Map<string, readonly Mode[]>();

/**
 * Stops in a compact form: the text of the file, one line per stop and sorted by identifier, with typed arrays of line offsets,
 * positions, and lines by grid cell. Records are parsed from their line on demand, because tens of thousands of objects would
 * take several times the memory of the text.
 */
export class StopTable implements Iterable<StopRecord> {
  readonly source: Omit<z.infer<typeof headerSchema>, 'format'>;
  readonly #text: Buffer;
  readonly #starts: Uint32Column;
  readonly #lats: Int32Column;
  readonly #lngs: Int32Column;
  /** Rows sorted by cell, and the cell of each. */
  readonly #rows: Uint32Column;
  readonly #cells: Uint32Column;

  /** Throws if the text is not a table of stops. */
  constructor(text: Buffer) {
    this.#text = text;
    const headerEnd = text.indexOf(NEWLINE);
    const { dataDate, source } = headerSchema.parse(JSON.parse(text.toString('utf8', 0, Math.max(0, headerEnd))));
    this.source = { dataDate, source };
    if (text.at(-1) !== NEWLINE) throw new Error('the last line of the stops has no end');
    const starts: number[] = [];
    for (let start = headerEnd + 1; start < text.length; start = text.indexOf(NEWLINE, start) + 1) {
      starts.push(start);
    }
    this.#starts = Uint32Column.from(starts);
    this.#lats = new Int32Column(starts.length);
    this.#lngs = new Int32Column(starts.length);
    // Cell and row are packed into one number, because numbers sort many times faster than with a comparator.
    const byCell = new Float64Column(starts.length);
    let previousId = '';
    for (const row of starts.keys()) {
      const { stop_id, lat, lng } = this.#parse(row);
      this.#lats[row] = Math.round(lat * MICRODEGREES);
      this.#lngs[row] = Math.round(lng * MICRODEGREES);
      byCell[row] = cellOf(lat, lng) * starts.length + row;
      if (previousId >= stop_id) throw new Error('the stops are not sorted by identifier');
      previousId = stop_id;
    }
    byCell.sort();
    this.#rows = Uint32Column.from(byCell, (number) => number % starts.length);
    this.#cells = Uint32Column.from(byCell, (number) => Math.floor(number / starts.length));
  }

  get size(): number {
    return this.#starts.length;
  }

  get(stopId: string): StopRecord | null {
    const row = firstFrom(0, this.#starts.length, (at) => this.#idAt(at) >= stopId);
    return row < this.#starts.length && this.#idAt(row) === stopId ? this.#parse(row) : null;
  }

  *[Symbol.iterator](): Generator<StopRecord> {
    for (let row = 0; row < this.#starts.length; row++) yield this.#parse(row);
  }

  /** The stops within these bounds, in no particular order. */
  *inBox({ south, west, north, east }: Bounds): Generator<StopRecord> {
    const [fromLat, fromLng, toLat, toLng] = [south, west, north, east].map((degrees) => degrees * MICRODEGREES) as [
      number,
      number,
      number,
      number,
    ];
    const columns = cellOf(south, east) - cellOf(south, west);
    for (let cell = cellOf(south, west); cell <= cellOf(north, west); cell += CELLS_AROUND) {
      let next = firstFrom(0, this.#cells.length, (at) => this.#cells.valueAt(at) >= cell);
      for (; next < this.#cells.length && this.#cells.valueAt(next) <= cell + columns; next++) {
        const row = this.#rows.valueAt(next);
        const [lat, lng] = [this.#lats.valueAt(row), this.#lngs.valueAt(row)];
        if (lat >= fromLat && lat <= toLat && lng >= fromLng && lng <= toLng) yield this.#parse(row);
      }
    }
  }

  #idAt(row: number): string {
    const start = this.#starts.valueAt(row);
    return this.#text.toString('latin1', start, this.#text.indexOf(TAB, start));
  }

  #parse(row: number): StopRecord {
    const start = this.#starts.valueAt(row);
    return parseLine(this.#text.toString('utf8', start, this.#text.indexOf(NEWLINE, start)));
  }
}

/** Returns a table of these stops; if two have the same identifier, the later one counts. */
export function tableOf(stops: readonly StopRecord[], source?: StopTable['source']): StopTable {
  return new StopTable(tableText(stops, source));
}

export function noStops(): StopTable {
  return tableOf([]);
}

export function tableText(
  stops: readonly StopRecord[],
  source: StopTable['source'] = { dataDate: '1970-01-01', source: 'none' },
): Buffer {
  const lines = new Map(stops.map((stop) => [stop.stop_id, writeLine(stop)]));
  // Do not sort by locale: the binary search compares code units.
  const sorted = [...lines.keys()].sort((a, b) => (a < b ? -1 : 1)).map((id) => lines.get(id));
  return Buffer.from([JSON.stringify({ format: 1, ...source }), ...sorted, ''].join('\n'));
}

function writeLine(stop: StopRecord): string {
  const modes = sortModes(stop.modes).join(',');
  const fields = [stop.stop_id, stop.name, stop.suburb, stop.lat.toFixed(6), stop.lng.toFixed(6), modes];
  const wheelchair = stop.wheelchair === undefined ? [] : [stop.wheelchair ? '1' : '0'];
  return [...fields, stop.parent_id ?? '', stop.is_platform ? '1' : '', ...wheelchair].map(withoutBreaks).join('\t');
}

function withoutBreaks(text: string): string {
  return text.replace(/[\t\r\n]+/g, ' ').trim();
}

/** The name in the form of upstream's lists. */
export function nameWithSuburb({ name, suburb }: { name: string; suburb: StopRecord['suburb'] }): string {
  return suburb === '' || name.endsWith(`, ${suburb}`) ? name : `${name}, ${suburb}`;
}

function parseLine(line: string): StopRecord {
  const [stop_id = '', name = '', suburb = '', lat, lng, modes = '', parent = '', platform, wheelchair] =
    line.split('\t');
  const position = { lat: Number(lat), lng: Number(lng) };
  if (platform === undefined || !(Math.abs(position.lat) <= 90 && Math.abs(position.lng) <= 180)) {
    throw new Error(`no stop: ${line.slice(0, 100)}`);
  }
  return {
    stop_id,
    name,
    suburb,
    ...position,
    modes: parseModes(modes),
    parent_id: parent || null,
    is_platform: platform === '1',
    ...(wheelchair && { wheelchair: wheelchair === '1' }),
  };
}

/** Each combination of modes is parsed once, and all stops share its list. */
function parseModes(text: string): readonly Mode[] {
  const cached = MODES_OF_TEXT.get(text);
  if (cached) return cached;
  const modes = text === '' ? [] : z.array(modeSchema).max(MODES.length).parse(text.split(','));
  MODES_OF_TEXT.set(text, Object.freeze(modes));
  return modes;
}

function cellOf(lat: number, lng: number): number {
  return Math.floor((lat + 90) * CELLS_PER_DEGREE) * CELLS_AROUND + Math.floor((lng + 180) * CELLS_PER_DEGREE);
}
