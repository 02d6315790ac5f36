/** Why a record is not shown, and what that says: the record is good, or good but of a kind to look into, or bad. */
const REASONS = {
  cancelled: 'everyday',
  'not asked for': 'everyday',
  'missed change': 'everyday',
  'has left': 'everyday',
  'arrives too late': 'everyday',
  'ends elsewhere': 'everyday',
  'beyond the limit': 'everyday',
  'unknown product class': 'unknown',
  malformed: 'bad',
  'of another request': 'bad',
  'no time': 'bad',
  'no route': 'bad',
  'no headsign': 'bad',
  'no identifier': 'bad',
  'no name': 'bad',
  'no position': 'bad',
  'legs apart': 'bad',
} as const satisfies Record<string, 'everyday' | 'unknown' | 'bad'>;

export type LeftOutReason = keyof typeof REASONS;

/** How many records were left out, by reason. */
export type LeftOutCounts = Partial<Record<LeftOutReason, number>>;

/** Thrown while one record is mapped: this record is not shown, the others are. */
export class LeftOut extends Error {
  override readonly name = 'LeftOut';
  readonly reason: LeftOutReason;

  constructor(reason: LeftOutReason, options?: { cause: unknown }) {
    super(reason, options);
    this.reason = reason;
  }
}

/** The value. Throws `LeftOut` with the reason where there is none. */
export function need<Value>(value: Value | null | undefined, reason: LeftOutReason): Value {
  if (value === null || value === undefined || value === '') throw new LeftOut(reason);
  return value;
}

export function sumLeftOut(counts: readonly LeftOutCounts[]): LeftOutCounts {
  const sum: LeftOutCounts = {};
  for (const one of counts)
    for (const reason of listReasons(one)) sum[reason] = (sum[reason] ?? 0) + (one[reason] ?? 0);
  return sum;
}

/** Whether the record was good (`everyday`), of a kind to look into (`unknown`), or `bad`. */
export function kindOf(reason: LeftOutReason): 'everyday' | 'unknown' | 'bad' {
  return REASONS[reason];
}

export function listLeftOut(counts: LeftOutCounts): [reason: LeftOutReason, records: number][] {
  return listReasons(counts).map((reason) => [reason, counts[reason] ?? 0]);
}

/** Bad records and unknown product classes are for the operator to look into; the other reasons are everyday. */
export function isEveryday(counts: LeftOutCounts): boolean {
  return listReasons(counts).every((reason) => REASONS[reason] === 'everyday');
}

function listReasons(counts: LeftOutCounts): LeftOutReason[] {
  return Object.keys(counts) as LeftOutReason[];
}
