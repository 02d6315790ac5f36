import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Int32Column } from '../../core/columns.ts';

/*
 * The recorded runs of one line on one service day, packed: a few bytes for each run and about one for each call.
 * `bench/punctuality.ts` prints how many days of the state's size fit into the file. Lateness is in whole seconds.
 */

/** The lateness of a call without a known time or cancellation. */
export const UNKNOWN = -0x8000_0000;
/** Lateness of a call that is cancelled, or that the vehicle skipped. */
export const CANCELLED = UNKNOWN + 1;

/** A run as stored, a few bytes long; its stops are those of its profile. */
export interface RecordedRun {
  /** ID of the profile: the stops and their planned times. */
  profile: number;
  /** The planned time of the first call, in seconds of the service day. */
  start: number;
  /** A hash of the trip's identifier, to join the parts of a run; 0 once they are joined. */
  identity: number;
  /** Seconds late at each call, `UNKNOWN` or `CANCELLED`. */
  late: Int32Column;
}

const FORMAT = 1;
const NO_CALLS = new Int32Column();

export function packRuns(runs: readonly RecordedRun[]): Buffer {
  const sorted = runs.toSorted((one, other) => one.start - other.start || one.profile - other.profile);
  const bytes: number[] = [];
  const write = (value: number) => {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
    bytes.push(rest);
  };
  const writeSigned = (value: number) => write(value >= 0 ? value * 2 : -value * 2 - 1);
  write(FORMAT);
  write(sorted.length);
  let lastStart = 0;
  for (const { start } of sorted) {
    writeSigned(start - lastStart);
    lastStart = start;
  }
  for (const { profile } of sorted) write(profile);
  for (const { identity } of sorted) write(identity >>> 0);
  for (const { late } of sorted) write(late.length);
  for (const { late } of sorted) {
    let last = 0;
    for (const value of late) {
      if (value === UNKNOWN || value === CANCELLED) {
        write(value - UNKNOWN);
        continue;
      }
      // Vehicles are about as late as at the stop before.
      const change = value - last;
      write(2 + (change >= 0 ? change * 2 : -change * 2 - 1));
      last = value;
    }
  }
  return zstdCompressSync(Uint8Array.from(bytes));
}

export function unpackRuns(packed: Uint8Array): RecordedRun[] {
  const bytes = zstdDecompressSync(packed);
  let at = 0;
  const parseNumber = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = bytes.readUInt8(at++);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  const parseSigned = () => {
    const value = parseNumber();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  if (parseNumber() !== FORMAT) throw new Error('the runs are written in a form of another version');
  const count = parseNumber();
  let start = 0;
  const runs = Array.from({ length: count }, (): RecordedRun => {
    start += parseSigned();
    return { profile: 0, start, identity: 0, late: NO_CALLS };
  });
  for (const run of runs) run.profile = parseNumber();
  for (const run of runs) run.identity = parseNumber();
  for (const run of runs) run.late = new Int32Column(parseNumber());
  for (const { late } of runs) {
    let last = 0;
    for (let call = 0; call < late.length; call++) {
      const token = parseNumber();
      if (token < 2) {
        late[call] = UNKNOWN + token;
        continue;
      }
      const change = token - 2;
      last += change % 2 === 0 ? change / 2 : -(change + 1) / 2;
      late[call] = last;
    }
  }
  return runs;
}

/**
 * Joins the parts of runs that were written at different times. A later part overrides the calls that it knows. Parts of one run
 * have the same key; a run with the key null is not joined.
 */
export function joinParts<Run extends { late: Int32Column }>(
  runs: Iterable<Run>,
  keyOf: (run: Run) => string | null,
): Run[] {
  const joined: Run[] = [];
  const known = new Map<string, Run>();
  for (const run of runs) {
    const key = keyOf(run);
    const before = key === null ? undefined : known.get(key);
    if (!before) {
      if (key !== null) known.set(key, run);
      joined.push(run);
      continue;
    }
    for (const [call, late] of run.late.entries()) if (late !== UNKNOWN) before.late[call] = late;
  }
  return joined;
}
