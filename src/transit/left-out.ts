/** Why a record is left out, and whether it was good (`everyday`), worth a look (`unknown`) or `bad`. */
const REASONS = {
  cancelled: 'everyday',
  'not requested': 'everyday',
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

export type LeftOutCounts = Partial<Record<LeftOutReason, number>>;

/** Thrown while mapping one record, to leave it out and keep the others. */
export class LeftOut extends Error {
  override readonly name = 'LeftOut';
  readonly reason: LeftOutReason;

  constructor(reason: LeftOutReason, options?: { cause: unknown }) {
    super(reason, options);
    this.reason = reason;
  }
}

/** Returns the value; throws `LeftOut` with the reason if it is null, undefined or empty. */
export function getOrLeaveOut<Value>(value: Value | null | undefined, reason: LeftOutReason): Value {
  if (value === null || value === undefined || value === '') throw new LeftOut(reason);
  return value;
}

export function sumLeftOut(counts: readonly LeftOutCounts[]): LeftOutCounts {
  const sum: LeftOutCounts = {};
  for (const count of counts)
    for (const reason of listReasons(count)) sum[reason] = (sum[reason] ?? 0) + (count[reason] ?? 0);
  return sum;
}

/** Whether the record was good (`everyday`), worth a look (`unknown`) or `bad`. */
export function kindOf(reason: LeftOutReason): 'everyday' | 'unknown' | 'bad' {
  return REASONS[reason];
}

export function listLeftOut(counts: LeftOutCounts): [reason: LeftOutReason, records: number][] {
  return listReasons(counts).map((reason) => [reason, counts[reason] ?? 0]);
}

/** Whether there are only everyday reasons; bad records and unknown product classes need an operator's attention. */
export function isEveryday(counts: LeftOutCounts): boolean {
  return listReasons(counts).every((reason) => REASONS[reason] === 'everyday');
}

function listReasons(counts: LeftOutCounts): LeftOutReason[] {
  return Object.keys(counts) as LeftOutReason[];
}
