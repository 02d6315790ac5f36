import { pipeline, type Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { UnreadableFile } from './schedule-file.ts';

/** The files to read, and the maximum unpacked size of each: several times that of upstream's. */
const MAX_BYTES = {
  'agency.txt': 10e6,
  'stops.txt': 200e6,
  'routes.txt': 100e6,
  'calendar.txt': 100e6,
  'calendar_dates.txt': 200e6,
  'trips.txt': 1e9,
  'shapes.txt': 1e9,
  'stop_times.txt': 4e9,
} as const;
export type MemberName = keyof typeof MAX_BYTES;
/** Upstream's zips have up to 16 files. */
const MAX_ENTRIES = 1000;
/** In bytes. */
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

  /** Yields the bytes of a file; nothing if it is missing. Throws `UnreadableFile` if they are broken. */
  async *read(name: MemberName): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name);
    if (!entry) return;
    if (entry.uncompressedSize > MAX_BYTES[name]) throw new UnreadableFile(`${name} is too large`);
    let length = 0;
    try {
      for await (const chunk of await this.#unpack(entry)) {
        length += chunk.length;
        if (length > entry.uncompressedSize) break;
        yield chunk;
      }
    } catch (error) {
      refuse(`${name} is broken`)(error);
    }
    if (length !== entry.uncompressedSize) throw new UnreadableFile(`${name} has a different size than the zip states`);
  }

  /** Does not use yauzl to unpack, because its chunks are so small that they take longer than parsing the rows. */
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
    if (!Object.hasOwn(MAX_BYTES, entry.fileName)) continue;
    const limit = MAX_BYTES[entry.fileName as MemberName];
    if (entry.uncompressedSize > limit && entry.fileName !== 'shapes.txt') {
      throw new UnreadableFile(`${entry.fileName} would unpack to ${entry.uncompressedSize} bytes, more than ${limit}`);
    }
    entries.set(entry.fileName, entry);
  }
  return entries;
}

function refuse(problem: string) {
  return (error: unknown): never => {
    if (error instanceof UnreadableFile) throw error;
    throw new UnreadableFile(`${problem}: ${error instanceof Error ? error.message : error}`, { cause: error });
  };
}
