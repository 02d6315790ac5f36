import { type Lines, lastPositionOf, NEVER, offsetsOf, type Visits } from './lines.ts';

const UNKNOWN = -0x80000000;
const HOUR_SECONDS = 3600;
/** A window serves searches that begin up to this many seconds after its own beginning. */
const OPEN_SECONDS = 6 * HOUR_SECONDS;

/** The visits of the lines in a window. All searches in one direction share this memory, one at a time. */
export interface WindowVisits {
  /** For each stop, where its visits begin and end in `items`. The end is -1 until they are listed. */
  first: Int32Array;
  end: Int32Array;
  /** Pairs of line and call. */
  items: Int32Array<ArrayBuffer>;
  length: number;
  /** The window to which the visits belong. */
  of: object | null;
}

export function createWindowVisits(stopCount: number): WindowVisits {
  return {
    first: new Int32Array(stopCount),
    end: new Int32Array(stopCount),
    items: new Int32Array(2 * stopCount),
    length: 0,
    of: null,
  };
}

/** See `createWindow`. */
export interface Window {
  open(at: number, end: number, room?: { before?: number; after?: number }): void;
  refresh(): void;
  list(stop: number): number;
  /** For each line at a listed stop, the start of its first run that is still on its way. */
  readonly starts: Int32Array;
  readonly visits: WindowVisits;
  /** Grows whenever the visits are reset. */
  opened: number;
}

/**
 * The lines that run at the time of a search. Most do not, and leaving them out saves most visits. The visits of a stop, and the
 * start of a line's first run that is still on its way, are looked up when they are first needed. Later searches may use the same
 * window: it then lists more than they need, but misses nothing.
 */
export function createWindow(lines: Lines, visits: WindowVisits): Window {
  const starts = new Int32Array(lines.modes.length);
  let from = NEVER;
  let until = NEVER;
  const window: Window = { open, refresh, list, starts, visits, opened: 0 };
  return window;

  /**
   * Opens the window of a search that leaves at `at` or later and arrives by `end`. A new window begins `before` seconds earlier,
   * and lasts at least until `after` seconds past `at`, so that the next searches can use it too.
   */
  function open(at: number, end: number, { before = 0, after = 0 } = {}): void {
    const isOpen = at >= from && at < from + OPEN_SECONDS && end <= until;
    if (isOpen && visits.of === window) return;
    if (!isOpen) {
      from = Math.floor((at - before) / HOUR_SECONDS) * HOUR_SECONDS;
      until = Math.max(end, at + after);
      starts.fill(UNKNOWN);
    }
    visits.end.fill(-1);
    visits.length = 0;
    visits.of = window;
    window.opened++;
  }

  /** Drops the window, because the lines have changed. */
  function refresh(): void {
    from = NEVER;
  }

  function startOf(line: number): number {
    const start = starts[line] as number;
    return start === UNKNOWN ? findStart(line) : start;
  }

  function findStart(line: number): number {
    const { firstRun, starts: runStarts, departures, arrivals } = lines;
    const offsets = offsetsOf(lines, line);
    const last = lastPositionOf(lines, line);
    const end = firstRun[line + 1] as number;
    let low = firstRun[line] as number;
    for (let high = end; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((runStarts[middle] as number) + (offsets[(arrivals[middle] as number) + last] as number) < from) {
        low = middle + 1;
      } else high = middle;
    }
    const start = low < end ? (runStarts[low] as number) + (offsets[departures[low] as number] as number) : NEVER;
    starts[line] = start;
    return start;
  }

  /** Lists the visits of a stop in `visits`, and returns where they end. */
  function list(stop: number): number {
    const end = visits.end[stop] as number;
    return end < 0 ? collect(stop) : end;
  }

  function collect(stop: number): number {
    visits.first[stop] = visits.length;
    add(lines, stop);
    if (lines.live) add(lines.live, stop);
    visits.end[stop] = visits.length;
    return visits.length;
  }

  function add({ firstVisit, visits: all }: Visits, stop: number): void {
    const first = firstVisit[stop] as number;
    const end = firstVisit[stop + 1] as number;
    const most = visits.length + 2 * (end - first);
    if (most > visits.items.length) {
      visits.items = new Int32Array(visits.items.buffer.transfer(2 * most * Int32Array.BYTES_PER_ELEMENT));
    }
    const { items } = visits;
    let { length } = visits;
    for (let at = first; at < end; at++) {
      const line = all[at * 2] as number;
      if (startOf(line) >= until) continue;
      items[length] = line;
      items[length + 1] = (lines.firstCall[line] as number) + (all[at * 2 + 1] as number);
      length += 2;
    }
    visits.length = length;
  }
}
