import { pipeline, type Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { type CsvColumns, type CsvRow, loadRows, type Table } from './rows.ts';
import { UnreadableFile } from './schedule-file.ts';

/**
 * The files to read, with the maximum unpacked size and number of rows of each: several times those of upstream's. All of New
 * South Wales has 5 million calls, 185,000 trips, 100,000 stops with entrances, and 10,000 routes.
 */
const LIMITS = {
  'agency.txt': { bytes: 10e6, rows: 10_000 },
  'stops.txt': { bytes: 200e6, rows: 500_000 },
  'routes.txt': { bytes: 100e6, rows: 100_000 },
  'calendar.txt': { bytes: 100e6, rows: 500_000 },
  'calendar_dates.txt': { bytes: 200e6, rows: 5_000_000 },
  'trips.txt': { bytes: 1e9, rows: 1_000_000 },
  'shapes.txt': { bytes: 1e9, rows: 20_000_000 },
  'frequencies.txt': { bytes: 100e6, rows: 100_000 },
  'occupancies.txt': { bytes: 500e6, rows: 4_000_000 },
  'stop_times.txt': { bytes: 4e9, rows: 12_000_000 },
} as const;
export type MemberName = keyof typeof LIMITS;
/** Without these the rest of the zip is still usable. */
const EXTRAS: readonly string[] = ['shapes.txt', 'occupancies.txt'] satisfies MemberName[];
/** The limit of files in a zip. Upstream's have up to 16. */
const MAX_ENTRIES = 1000;
/** The size of unpacked chunks, in bytes. */
const PIECE = 1 << 18;

/** A zip of the schedule. Sizes are checked before and during unpacking. */
export class ScheduleZip {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /** Throws `UnreadableFile` if the file is not a zip, or would unpack to an implausible size. */
  static async open(path: string): Promise<ScheduleZip> {
    const zip = await openPromise(path, { lazyEntries: true, autoClose: false }).catch(refuse('not a zip'));
    try {
      return new ScheduleZip(zip, await listEntries(zip));
    } catch (error) {
      zip.close();
      return refuse('not a zip')(error);
    }
  }

  has(name: MemberName): boolean {
    return this.#entries.has(name);
  }

  /** Passes each row of a file to a callback, as `loadRows` does; no row if the file is missing. */
  loadRows<Required extends string, Optional extends string>(
    table: Omit<Table<Required, Optional>, 'maxRows' | 'size'> & { name: MemberName },
    onRow: (row: CsvRow, columns: CsvColumns<Required | Optional>) => void,
  ): Promise<void> {
    const size = this.#entries.get(table.name)?.uncompressedSize ?? 0;
    return loadRows(this.#stream(table.name), { ...table, size, maxRows: LIMITS[table.name].rows }, onRow);
  }

  /** Yields the bytes of a file; nothing if it is missing. Throws `UnreadableFile` if they are broken. */
  async *#stream(name: MemberName): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name);
    if (!entry) return;
    checkSize(entry);
    let [length, checksum] = [0, 0];
    try {
      for await (const chunk of await this.#unpack(entry)) {
        length += chunk.length;
        if (length > entry.uncompressedSize) break;
        checksum = crc32(chunk, checksum);
        yield chunk;
      }
    } catch (error) {
      refuse(`${name} is broken`)(error);
    }
    if (length !== entry.uncompressedSize) throw new UnreadableFile(`${name} has a different size than the zip states`);
    // If a zip changed while it was downloaded, some of its parts may be old.
    if (checksum !== entry.crc32) throw new UnreadableFile(`${name} has a different checksum than the zip states`);
  }

  /** Unpacks a file without yauzl, whose chunks are so small that they take longer than parsing the rows. */
  async #unpack(entry: Entry): Promise<Readable> {
    if (!entry.canDecodeFileData()) throw new UnreadableFile('unknown compression method');
    const packed = await this.#zip.openReadStreamPromise(entry, { decodeFileData: false });
    if (entry.compressionMethod === 0) return packed;
    return pipeline(packed, createInflateRaw({ chunkSize: PIECE }), () => {});
  }

  close(): void {
    this.#zip.close();
  }
}

async function listEntries(zip: ZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > MAX_ENTRIES) throw new UnreadableFile(`${zip.entryCount} files in the zip`);
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    if (!Object.hasOwn(LIMITS, entry.fileName)) continue;
    if (!EXTRAS.includes(entry.fileName)) checkSize(entry);
    entries.set(entry.fileName, entry);
  }
  return entries;
}

function checkSize({ fileName, uncompressedSize }: Entry): void {
  const limit = LIMITS[fileName as MemberName].bytes;
  if (uncompressedSize <= limit) return;
  throw new UnreadableFile(`${fileName} would unpack to ${uncompressedSize} bytes, more than the allowed ${limit}`);
}

function refuse(problem: string) {
  return (error: unknown): never => {
    if (error instanceof UnreadableFile) throw error;
    throw new UnreadableFile(`${problem}: ${error instanceof Error ? error.message : error}`, { cause: error });
  };
}
