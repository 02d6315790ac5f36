import type { z } from 'zod';
import { ApiError } from '../errors.ts';

/**
 * Why a record is not shown. The first three are decisions about good data; the others say that the data is bad.
 */
export type LeftOutReason =
  | 'cancelled'
  | 'unknown product class'
  | 'not asked for'
  | 'malformed'
  | 'no time'
  | 'no route'
  | 'no headsign'
  | 'no identifier'
  | 'no name'
  | 'no position';

const BY_DECISION: readonly string[] = ['cancelled', 'unknown product class', 'not asked for'];

/** How many records were left out, by reason. */
export type LeftOutCounts = Partial<Record<LeftOutReason, number>>;

/** Thrown inside a record's mapping: this record is not shown, the others are. */
export class LeftOut extends Error {
  override readonly name = 'LeftOut';
  readonly reason: LeftOutReason;

  constructor(reason: LeftOutReason, options?: { cause: unknown }) {
    super(reason, options);
    this.reason = reason;
  }
}

/** The value, or the record is left out for the reason. */
export function need<Value>(value: Value | null | undefined, reason: LeftOutReason): Value {
  if (value === null || value === undefined || value === '') throw new LeftOut(reason);
  return value;
}

/**
 * Reads and maps each record in a guard of its own: what cannot be read is left out and counted.
 * Throws `UPSTREAM_ERROR` when there were records and every one of them was bad: an empty answer would be a lie.
 */
export function mapRecords<Record, Ours>(
  records: readonly unknown[],
  schema: z.ZodType<Record>,
  map: (record: Record) => Ours,
): { kept: Ours[]; leftOut: LeftOutCounts } {
  const kept: Ours[] = [];
  const leftOut: LeftOutCounts = {};
  for (const record of records) {
    try {
      kept.push(map(readRecord(record, schema)));
    } catch (error) {
      const reason = error instanceof LeftOut ? error.reason : 'malformed';
      leftOut[reason] = (leftOut[reason] ?? 0) + 1;
    }
  }
  const isNonsense = Object.keys(leftOut).every((reason) => !BY_DECISION.includes(reason));
  if (records.length > 0 && kept.length === 0 && isNonsense) {
    throw new ApiError('UPSTREAM_ERROR', 'The transport authority sent an answer that could not be read.', {
      cause: new Error(`no record could be read: ${JSON.stringify(leftOut)}`),
    });
  }
  return { kept, leftOut };
}

/** Throws `LeftOut` when the record is not of the schema's shape. */
export function readRecord<Record>(record: unknown, schema: z.ZodType<Record>): Record {
  const read = schema.safeParse(record);
  if (!read.success) throw new LeftOut('malformed', { cause: read.error });
  return read.data;
}

export function sumLeftOut(counts: readonly LeftOutCounts[]): LeftOutCounts {
  const sum: LeftOutCounts = {};
  for (const [reason, count] of counts.flatMap((one) => Object.entries(one)) as [LeftOutReason, number][]) {
    sum[reason] = (sum[reason] ?? 0) + count;
  }
  return sum;
}

/** Bad data and classes we do not know deserve an operator's attention; the other reasons are everyday. */
export function isEveryday(counts: LeftOutCounts): boolean {
  return Object.keys(counts).every((reason) => reason === 'cancelled' || reason === 'not asked for');
}
