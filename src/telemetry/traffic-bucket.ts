/** Durations are counted in a histogram with steps of 15 %: 0.5 ms, 0.57 ms … 40 s. */
const STEP = 1.15;
const FIRST_MS = 0.5;
const STEPS = 82;

/** The responses of a period of time, counted. */
export interface Bucket {
  operations: Map<string, ReturnType<typeof noCounts>>;
  /** Departures in responses of upstream, and those of them that it tracks. */
  records: number;
  liveRecords: number;
}

export function createBucket(): Bucket {
  return { operations: new Map(), records: 0, liveRecords: 0 };
}

export function addResponse(bucket: Bucket, operation: string, status: number, durationMs: number): void {
  const counts = countsOf(bucket, operation);
  counts.answered += 1;
  if (status >= 500) counts.failed += 1;
  const step = stepOf(durationMs);
  counts.durations[step] = (counts.durations[step] ?? 0) + 1;
}

/** Counts the departures of one response of upstream. */
export function addRecords(bucket: Bucket, records: number, liveRecords: number): void {
  bucket.records += records;
  bucket.liveRecords += liveRecords;
}

export function addBucket(bucket: Bucket, { operations, records, liveRecords }: Bucket): void {
  addRecords(bucket, records, liveRecords);
  for (const [operation, { answered, failed, durations }] of operations) {
    const counts = countsOf(bucket, operation);
    counts.answered += answered;
    counts.failed += failed;
    for (const [step, count] of durations.entries()) counts.durations[step] = (counts.durations[step] ?? 0) + count;
  }
}

export function summarise({ operations }: Bucket, operation: string) {
  const { answered, failed, durations } = operations.get(operation) ?? noCounts();
  return {
    operation,
    answered,
    /** 0 to 1; null without traffic. */
    successRate: answered === 0 ? null : 1 - failed / answered,
    p50Ms: quantile(durations, answered, 0.5),
    p95Ms: quantile(durations, answered, 0.95),
  };
}

/** 0 to 1; null when upstream sent nothing that could be live. */
export function liveShareOf({ records, liveRecords }: Bucket): number | null {
  return records === 0 ? null : liveRecords / records;
}

/** Lists the counts that are not zero as flat fields, which can be added up field by field. */
export function toFields({ operations, records, liveRecords }: Bucket): [name: string, count: number][] {
  const fields: [string, number][] = [
    ['records', records],
    ['live', liveRecords],
  ];
  for (const [operation, { answered, failed, durations }] of operations) {
    fields.push([`answered ${operation}`, answered], [`failed ${operation}`, failed]);
    for (const [step, count] of durations.entries()) fields.push([`${step} ${operation}`, count]);
  }
  return fields.filter(([, count]) => count !== 0);
}

/** Fields that are not ours are passed over. */
export function fromFields(fields: Readonly<Record<string, string>>): Bucket {
  const bucket = createBucket();
  for (const [name, text] of Object.entries(fields)) {
    const count = Number(text);
    if (!Number.isSafeInteger(count)) continue;
    if (name === 'records') bucket.records = count;
    if (name === 'live') bucket.liveRecords = count;
    const [, what, operation] = /^(answered|failed|\d+) (.+)$/.exec(name) ?? [];
    if (!what || !operation) continue;
    const counts = countsOf(bucket, operation);
    if (what === 'answered') counts.answered = count;
    else if (what === 'failed') counts.failed = count;
    else counts.durations[Number(what)] = count;
  }
  return bucket;
}

function countsOf({ operations }: Bucket, operation: string) {
  const known = operations.get(operation);
  if (known) return known;
  const counts = noCounts();
  operations.set(operation, counts);
  return counts;
}

/** `failed` are responses with a status of 500 and more. */
function noCounts() {
  return { answered: 0, failed: 0, durations: new Uint32Array(STEPS) };
}

function stepOf(durationMs: number): number {
  const step = Math.ceil(Math.log(Math.max(durationMs, FIRST_MS) / FIRST_MS) / Math.log(STEP));
  return Math.min(STEPS - 1, step);
}

/** The upper end of the step in which the quantile lies. */
function quantile(durations: Uint32Array, answered: number, share: number): number | null {
  if (answered === 0) return null;
  let left = Math.ceil(answered * share);
  const step = durations.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return Number((FIRST_MS * STEP ** Math.max(0, step)).toPrecision(2));
}
