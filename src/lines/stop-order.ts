/** A row of a table of stops. */
export interface Row {
  stop: number;
  /** Typical seconds from the first row. */
  seconds: number;
}

/** The stops of a run in order, and the seconds from the first stop to each. */
export interface StopSequence {
  stops: readonly number[];
  seconds: readonly number[];
}

/**
 * Merges sequences of stops into one order that contains each of them, so that times only increase down a column of a table.
 * Earlier sequences weigh more. Stops that only a later sequence has are placed next to the stops that it shares. A stop at
 * which a sequence calls twice has two rows. Returns the order, and the rows of each sequence.
 */
export function mergeOrders(sequences: readonly StopSequence[]): { order: Row[]; rows: Row[][] } {
  const order: Row[] = [];
  const rows = sequences.map(({ stops, seconds }) => {
    const shared = findShared(order, stops);
    const first = shared.findIndex((row) => row !== null);
    const shift = first < 0 ? 0 : (shared[first] as Row).seconds - (seconds[first] as number);
    const sequenceRows = stops.map(
      (stop, index) => shared[index] ?? { stop, seconds: (seconds[index] as number) + shift },
    );
    for (let at = sequenceRows.length - 1, next: Row | undefined; at >= 0; at--) {
      const row = sequenceRows[at] as Row;
      if (!shared[at]) {
        const before = shared.findLastIndex((sharedRow, index) => sharedRow !== null && index < at);
        const place = next ? order.indexOf(next) : before < 0 ? order.length : order.indexOf(shared[before] as Row) + 1;
        order.splice(place, 0, row);
      }
      next = row;
    }
    return sequenceRows;
  });
  return { order, rows };
}

/** The row of each stop in the longest common subsequence; null for stops outside it. */
function findShared(order: readonly Row[], stops: readonly number[]): (Row | null)[] {
  const width = stops.length + 1;
  // The length of the longest common subsequence that starts at each row and stop or later.
  const lengths = new Uint16Array((order.length + 1) * width);
  for (let row = order.length - 1; row >= 0; row--) {
    for (let at = stops.length - 1; at >= 0; at--) {
      const isSame = order[row]?.stop === stops[at];
      lengths[row * width + at] = isSame
        ? (lengths[(row + 1) * width + at + 1] as number) + 1
        : Math.max(lengths[(row + 1) * width + at] as number, lengths[row * width + at + 1] as number);
    }
  }
  let row = 0;
  return stops.map((stop, index) => {
    const longest = lengths[row * width + index];
    let sharedRow = row;
    while (sharedRow < order.length && order[sharedRow]?.stop !== stop) sharedRow++;
    if (sharedRow === order.length || lengths[sharedRow * width + index] !== longest) return null;
    row = sharedRow + 1;
    return order[sharedRow] as Row;
  });
}
