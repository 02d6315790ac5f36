import { nextTurn } from '../../core/event-loop-turn.ts';
import { getOrLeaveOut, kindOf, LeftOut, type LeftOutCounts, listLeftOut } from '../../transit/left-out.ts';
import { unexpectedResponse } from '../failure.ts';

/** After this time, other work gets its turn. */
const SLICE_MS = 2;

/**
 * Reads and maps each record separately; unreadable ones are left out and counted. Throws `UPSTREAM_ERROR` if all of them are
 * bad, because an empty response would be wrong.
 */
export async function mapRecords<Record, Ours>(
  records: readonly unknown[],
  parse: (record: unknown) => Record | undefined,
  map: (record: Record) => Ours,
): Promise<{ kept: Ours[]; leftOut: LeftOutCounts }> {
  const mapped: Ours[] = [];
  const leftOut: LeftOutCounts = {};
  let turnEndsAt = performance.now() + SLICE_MS;
  for (const record of records) {
    try {
      mapped.push(map(parseRecord(record, parse)));
    } catch (error) {
      const reason = error instanceof LeftOut ? error.reason : 'malformed';
      leftOut[reason] = (leftOut[reason] ?? 0) + 1;
    }
    // After the last record too, because the response must still be written.
    if (performance.now() > turnEndsAt) {
      await nextTurn();
      turnEndsAt = performance.now() + SLICE_MS;
    }
  }
  const areAllBad = listLeftOut(leftOut).every(([reason]) => kindOf(reason) === 'bad');
  if (records.length > 0 && mapped.length === 0 && areAllBad) {
    throw unexpectedResponse(`no record could be read: ${JSON.stringify(leftOut)}`);
  }
  return { kept: mapped, leftOut };
}

/** Throws `LeftOut` if the record cannot be read. */
export function parseRecord<Record>(record: unknown, parse: (record: unknown) => Record | undefined): Record {
  return getOrLeaveOut(parse(record), 'malformed');
}
