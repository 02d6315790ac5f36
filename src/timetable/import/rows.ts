import { Int32Column } from '../../core/columns.ts';
import { MAX_SECONDS } from '../service-day.ts';
import { UnreadableFile } from './schedule-file.ts';

/*
 * A custom reader instead of papaparse: stop_times of NSW has 5 million rows, for which papaparse creates 55 million strings.
 * This one finds the requested columns in the bytes and decodes only the values that are read.
 */

/**
 * The limit of a row, in bytes: an unclosed quote turns the rest of the file into one row. Upstream's longest rows have less than
 * a hundredth of it.
 */
const MAX_ROW_BYTES = 64_000;
/**
 * After this many rows, the number of all rows is estimated from the size of the file: a file with far too many is refused early.
 */
const SAMPLE_ROWS = 100_000;
/** The limit of columns. Upstream's tables have up to 13. */
const MAX_COLUMNS = 100;

const [QUOTE, COMMA, LF, CR, COLON, BLANK, MINUS, POINT] = [34, 44, 10, 13, 58, 32, 45, 46] as const;
const [ZERO, NINE] = [48, 57] as const;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** The requested columns and their numbers. */
export type CsvColumns<Name extends string> = Readonly<Record<Name, number>>;

/** The current row; valid until the next one is read. */
export interface CsvRow {
  /** Trimmed; empty if the column or the value is missing. */
  text(column: number): string;
  /** NaN unless the value is a whole number from 0. */
  integer(column: number): number;
  /** A decimal number such as degrees; NaN if it is missing or invalid. */
  decimal(column: number): number;
  /** The seconds of a time such as "34:30:00", "7:05:00" or "7:05"; NaN for anything else. */
  seconds(column: number): number;
}

/** A CSV file in a zip, and its columns that are read. */
export interface Table<Required extends string, Optional extends string> {
  name: string;
  required: readonly Required[];
  optional: readonly Optional[];
  /** The limit of rows. Blank ones count too, because they take time. */
  maxRows: number;
  /** The size of the whole file in bytes. */
  size: number;
}

/**
 * Passes each row of a CSV file to a callback. Columns are found by the names in the first row, in any order. Rows end with LF
 * or CR LF, blank ones are skipped, values may be quoted. Throws `UnreadableFile` if a required column is missing, and as soon as
 * there are more than `maxRows` rows, or the first ones show that there will be.
 */
export async function loadRows<Required extends string, Optional extends string>(
  chunks: AsyncIterable<Buffer>,
  table: Table<Required, Optional>,
  onRow: (row: CsvRow, columns: CsvColumns<Required | Optional>) => void,
): Promise<void> {
  const names: string[] = [...table.required, ...table.optional];
  const columns = Object.fromEntries(names.map((column, index) => [column, index])) as CsvColumns<Required | Optional>;
  const row = new RowBytes(names, table);
  for await (const chunk of chunks) {
    row.load(chunk);
    while (row.next(false)) onRow(row, columns);
    row.checkRest();
  }
  while (row.next(true)) onRow(row, columns);
}

class RowBytes implements CsvRow {
  readonly #names: readonly string[];
  readonly #table: Table<string, string>;
  #bytesRead = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #position = 0;
  /** The rows so far, with the header. */
  #rows = 0;
  #isBlank = false;
  /** Maps columns of the file to requested ones, -1 for others; null before the header is read. */
  #columnMap: Int32Column | null = null;
  readonly #starts = new Int32Column(MAX_COLUMNS);
  readonly #ends = new Int32Column(MAX_COLUMNS);
  /** Whether the value contains doubled quotes. */
  readonly #hasQuotes = new Uint8Array(MAX_COLUMNS);

  constructor(names: readonly string[], table: Table<string, string>) {
    this.#names = names;
    this.#table = table;
  }

  /** Adds bytes after those of an incomplete row. */
  load(chunk: Buffer): void {
    const rest = this.#bytes.subarray(this.#position);
    this.#bytesRead += chunk.length;
    this.#bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    this.#position = 0;
  }

  checkRest(): void {
    if (this.#bytes.length - this.#position <= MAX_ROW_BYTES) return;
    throw new UnreadableFile(`${this.#table.name} has a row of more than ${MAX_ROW_BYTES} bytes`);
  }

  /** Moves to the next row; false if there is no complete one. The last row of the file needs no line end. */
  next(isEnd: boolean): boolean {
    for (;;) {
      const fields = this.#scan(isEnd);
      if (fields === 0) return false;
      this.#checkRows(this.#rows++);
      if (this.#isBlank) continue;
      if (this.#columnMap) return true;
      this.#parseHeader(fields);
    }
  }

  #checkRows(rows: number): void {
    const { name, maxRows, size } = this.#table;
    if (rows > maxRows) throw new UnreadableFile(`${name} has more than the allowed ${maxRows} rows`);
    if (rows !== SAMPLE_ROWS) return;
    const expectedRows = Math.round((rows * size) / this.#bytesRead);
    if (expectedRows <= maxRows) return;
    throw new UnreadableFile(`${name} has about ${expectedRows} rows, more than the allowed ${maxRows}`);
  }

  #parseHeader(fields: number): void {
    const header = Array.from({ length: Math.min(fields, MAX_COLUMNS) }, (_, column) => this.text(column));
    const missing = this.#table.required.find((column) => !header.includes(column));
    if (missing) throw new UnreadableFile(`${this.#table.name} has no column ${missing}`);
    this.#columnMap = Int32Column.from(header, (column) => this.#names.indexOf(column));
  }

  /** Scans the row at the current position and moves past it. Returns the number of values; 0 if the row is incomplete. */
  #scan(isEnd: boolean): number {
    const bytes = this.#bytes;
    const { length } = bytes;
    const columnMap = this.#columnMap;
    const [starts, ends, hasQuotes] = [this.#starts, this.#ends, this.#hasQuotes];
    let position = this.#position;
    if (position >= length) return 0;
    if (!columnMap && bytes.subarray(position, position + 3).equals(BYTE_ORDER_MARK)) position += 3;
    starts.fill(0, 0, this.#names.length);
    ends.fill(0, 0, this.#names.length);
    for (let field = 0; ; field++) {
      let start = position;
      let end: number;
      let quotes = 0;
      if (bytes[position] === QUOTE) {
        start = ++position;
        for (;;) {
          while (position < length && bytes[position] !== QUOTE) position++;
          if (position + 1 >= length && !isEnd) return 0;
          if (bytes[position + 1] !== QUOTE) break;
          quotes = 1;
          position += 2;
        }
        end = Math.min(position, length);
        position++;
        while (position < length && bytes[position] !== COMMA && bytes[position] !== LF) position++;
      } else {
        while (position < length && bytes[position] !== COMMA && bytes[position] !== LF) position++;
        end = position > start && bytes[position - 1] === CR && bytes[position] !== COMMA ? position - 1 : position;
      }
      if (position >= length && !isEnd) return 0;
      const column = columnMap ? (columnMap[field] ?? -1) : field;
      if (column >= 0 && column < MAX_COLUMNS) {
        starts[column] = start;
        ends[column] = end;
        hasQuotes[column] = quotes;
      }
      if (bytes[position++] === COMMA) continue;
      this.#position = Math.min(position, length);
      this.#isBlank = field === 0 && end === start;
      return field + 1;
    }
  }

  text(column: number): string {
    const [start, end] = [this.#starts.valueAt(column), this.#ends.valueAt(column)];
    if (start === end) return '';
    const text = this.#bytes.toString('utf8', start, end);
    const isTrimmed = (this.#bytes[start] as number) > BLANK && (this.#bytes[end - 1] as number) > BLANK;
    const trimmed = isTrimmed ? text : text.trim();
    return this.#hasQuotes[column] ? trimmed.replaceAll('""', '"') : trimmed;
  }

  decimal(column: number): number {
    const [start, end] = [this.#starts.valueAt(column), this.#ends.valueAt(column)];
    const isNegative = this.#bytes[start] === MINUS;
    let [value, scale] = [0, 0];
    for (let index = isNegative ? start + 1 : start; index < end; index++) {
      const byte = this.#bytes[index] as number;
      if (byte === POINT && scale === 0) scale = 1;
      else if (byte >= ZERO && byte <= NINE) {
        value = value * 10 + (byte - ZERO);
        scale *= 10;
      } else scale = Number.POSITIVE_INFINITY;
    }
    // Spaces, exponents and the like, or more digits than can be exact.
    if (start === end || !(value < Number.MAX_SAFE_INTEGER && scale < 1e15)) return this.#parseDecimal(column);
    return (isNegative ? -value : value) / (scale || 1);
  }

  #parseDecimal(column: number): number {
    const text = this.text(column);
    return text === '' ? Number.NaN : Number(text);
  }

  integer(column: number): number {
    return this.#digits(this.#starts.valueAt(column), this.#ends.valueAt(column));
  }

  seconds(column: number): number {
    let [start, end] = [this.#starts.valueAt(column), this.#ends.valueAt(column)];
    while (start < end && this.#bytes[start] === BLANK) start++;
    while (end > start && this.#bytes[end - 1] === BLANK) end--;
    if (end - start < 4 || this.#bytes[end - 3] !== COLON) return Number.NaN;
    const hasSeconds = end - start > 6 && this.#bytes[end - 6] === COLON;
    const secondsPart = hasSeconds ? this.#digits(end - 2, end) : 0;
    if (hasSeconds) end -= 3;
    const minutes = this.#digits(end - 2, end);
    const seconds = this.#digits(start, end - 3) * 3600 + minutes * 60 + secondsPart;
    return minutes < 60 && secondsPart < 60 && seconds <= MAX_SECONDS ? seconds : Number.NaN;
  }

  #digits(start: number, end: number): number {
    if (start >= end || end - start > 9) return Number.NaN;
    let value = 0;
    for (let index = start; index < end; index++) {
      const byte = this.#bytes[index] as number;
      if (byte < ZERO || byte > NINE) return Number.NaN;
      value = value * 10 + (byte - ZERO);
    }
    return value;
  }
}
