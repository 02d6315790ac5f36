import { type Int32Column, Uint16Column } from '../core/columns.ts';
import { nextTurn } from '../core/event-loop-turn.ts';

/** A row of a table of stops. */
export interface StopRow {
  stop: number;
  /** Typical seconds from the first row. */
  seconds: number;
}

/** The stops of a run in order, and the seconds from the first stop to each. */
export interface StopSequence {
  stops: readonly number[];
  seconds: Int32Column;
}

/** The limit of rows in a table. Lines of New South Wales have up to some hundred. */
const MAX_ROWS = 2000;
/** The limit of rows times stops, summed over all sequences: about 0.1 s of work, several times what any line needs. */
const MAX_WORK = 20_000_000;
/** After this much work, other requests get a turn. */
const WORK_OF_TURN = 1_000_000;

/**
 * Merges sequences of stops into one order that contains each of them, so that times only increase down a column of a table.
 * Earlier sequences weigh more. Stops that only a later sequence has are placed next to the stops that it shares. A stop at
 * which a sequence calls twice has two rows. Returns the order, and the rows of each sequence; null for sequences that would make
 * the table too long, or that remain when merging has taken too long.
 */
export async function mergeOrders(
  sequences: readonly StopSequence[],
): Promise<{ order: StopRow[]; rows: (readonly StopRow[] | null)[] }> {
  const order: StopRow[] = [];
  /**
   * By their stops, the rows of sequences that added none since the order last changed. Many patterns have the same stops, with
   * other platforms or headsigns.
   */
  const known = new Map<string, readonly StopRow[]>();
  const rows: (readonly StopRow[] | null)[] = [];
  let [work, workOfTurn] = [0, 0];
  for (const sequence of sequences) {
    const { stops } = sequence;
    const steps = (order.length + 1) * stops.length;
    const key = stops.join();
    const knownRows = known.get(key) ?? null;
    if (knownRows || work + steps > MAX_WORK) {
      rows.push(knownRows);
      continue;
    }
    work += steps;
    workOfTurn += steps;
    if (workOfTurn > WORK_OF_TURN) {
      workOfTurn = 0;
      await nextTurn();
    }
    const shared = alignRows(order, stops);
    const added = shared.filter((row) => row === null).length;
    if (order.length > 0 && order.length + added > MAX_ROWS) {
      rows.push(null);
      continue;
    }
    const sequenceRows = insertRows(order, sequence, shared);
    if (added > 0) known.clear();
    else known.set(key, sequenceRows);
    rows.push(sequenceRows);
  }
  return { order, rows };
}

/** Adds the rows that are not shared to the order, and returns all rows of the sequence. */
function insertRows(
  order: StopRow[],
  { stops, seconds }: StopSequence,
  shared: readonly (StopRow | null)[],
): StopRow[] {
  const first = shared.findIndex((row) => row !== null);
  const shift = first < 0 ? 0 : (shared[first] as StopRow).seconds - seconds.valueAt(first);
  const rows = stops.map((stop, index) => shared[index] ?? { stop, seconds: seconds.valueAt(index) + shift });
  for (let at = rows.length - 1, next: StopRow | undefined; at >= 0; at--) {
    const row = rows[at] as StopRow;
    if (!shared[at]) {
      const before = shared.findLastIndex((sharedRow, index) => sharedRow !== null && index < at);
      const place = next
        ? order.indexOf(next)
        : before < 0
          ? order.length
          : order.indexOf(shared[before] as StopRow) + 1;
      order.splice(place, 0, row);
    }
    next = row;
  }
  return rows;
}

/** The row of each stop in the longest common subsequence; null for stops outside it. */
function alignRows(order: readonly StopRow[], stops: readonly number[]): (StopRow | null)[] {
  const width = stops.length + 1;
  // For each row and stop, the length of the longest common subsequence from there on.
  const lengths = new Uint16Column((order.length + 1) * width);
  for (let row = order.length - 1; row >= 0; row--) {
    const { stop } = order[row] as StopRow;
    for (let at = stops.length - 1; at >= 0; at--) {
      const isSame = stop === stops[at];
      lengths[row * width + at] = isSame
        ? lengths.valueAt((row + 1) * width + at + 1) + 1
        : Math.max(lengths.valueAt((row + 1) * width + at), lengths.valueAt(row * width + at + 1));
    }
  }
  let row = 0;
  return stops.map((stop, index) => {
    const longest = lengths[row * width + index];
    let sharedRow = row;
    while (sharedRow < order.length && order[sharedRow]?.stop !== stop) sharedRow++;
    if (sharedRow === order.length || lengths[sharedRow * width + index] !== longest) return null;
    row = sharedRow + 1;
    return order[sharedRow] as StopRow;
  });
}
