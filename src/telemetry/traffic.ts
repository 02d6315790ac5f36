/*
 * What this process has answered in the last day, in a ring buffer of minutes: its size does not depend on the traffic,
 * and reading it costs no call.
 */

const MINUTES = 24 * 60;
/** Durations are counted in a histogram with steps of 15 %: 0.5 ms, 0.57 ms … 40 s. */
const STEP = 1.15;
const FIRST_MS = 0.5;
const STEPS = 82;

interface OperationCounts {
  answered: number;
  /** Answers with a status of 500 and more. */
  failed: number;
  durations: Uint32Array;
}

interface Minute {
  /** Minutes since 1970. */
  at: number;
  operations: Map<string, OperationCounts>;
  records: number;
  liveRecords: number;
}

export interface OperationSummary {
  operation: string;
  answered: number;
  /** 0 to 1; null without traffic. */
  successRate: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
}

export interface Traffic {
  answered(operation: string, status: number, durationMs: number): void;
  upstreamAnswered(records: number, liveRecords: number): void;
  summarise(minutes: number, operations: readonly string[]): OperationSummary[];
  /** 0 to 1; null when upstream sent nothing that could be live. */
  liveShare(minutes: number): number | null;
  lastUpstreamAnswer(): Date | null;
}

export function createTraffic(now: () => Date): Traffic {
  const ring = new Array<Minute | undefined>(MINUTES);
  let lastUpstreamAnswer: Date | null = null;
  const minuteNow = () => Math.floor(now().getTime() / 60_000);

  function current(): Minute {
    const at = minuteNow();
    const slot = at % MINUTES;
    const minute = ring[slot];
    if (minute?.at === at) return minute;
    const fresh = { at, operations: new Map(), records: 0, liveRecords: 0 };
    ring[slot] = fresh;
    return fresh;
  }

  const recent = (minutes: number) => {
    const oldest = minuteNow() - minutes;
    return ring.filter((minute) => minute !== undefined && minute.at > oldest) as Minute[];
  };

  return {
    answered(operation, status, durationMs) {
      const { operations } = current();
      const counts = operations.get(operation) ?? noCounts();
      operations.set(operation, counts);
      counts.answered += 1;
      if (status >= 500) counts.failed += 1;
      const step = stepOf(durationMs);
      counts.durations[step] = (counts.durations[step] ?? 0) + 1;
    },
    upstreamAnswered(records, liveRecords) {
      const minute = current();
      minute.records += records;
      minute.liveRecords += liveRecords;
      lastUpstreamAnswer = now();
    },
    summarise(minutes, operations) {
      const counted = recent(minutes);
      return operations.map((operation) => {
        const counts = counted.map((minute) => minute.operations.get(operation)).filter((one) => one !== undefined);
        const answered = sum(counts.map((one) => one.answered));
        const durations = addUp(counts);
        return {
          operation,
          answered,
          successRate: answered === 0 ? null : 1 - sum(counts.map((one) => one.failed)) / answered,
          p50Ms: quantile(durations, answered, 0.5),
          p95Ms: quantile(durations, answered, 0.95),
        };
      });
    },
    liveShare(minutes) {
      const counted = recent(minutes);
      const records = sum(counted.map((minute) => minute.records));
      return records === 0 ? null : sum(counted.map((minute) => minute.liveRecords)) / records;
    },
    lastUpstreamAnswer: () => lastUpstreamAnswer,
  };
}

function noCounts(): OperationCounts {
  return { answered: 0, failed: 0, durations: new Uint32Array(STEPS) };
}

function stepOf(durationMs: number): number {
  const step = Math.ceil(Math.log(Math.max(durationMs, FIRST_MS) / FIRST_MS) / Math.log(STEP));
  return Math.min(STEPS - 1, step);
}

function addUp(counts: readonly OperationCounts[]): Uint32Array {
  const total = new Uint32Array(STEPS);
  for (const { durations } of counts)
    for (const [step, count] of durations.entries()) total[step] = (total[step] ?? 0) + count;
  return total;
}

/** The upper end of the step in which the quantile lies. */
function quantile(durations: Uint32Array, answered: number, share: number): number | null {
  if (answered === 0) return null;
  let left = Math.ceil(answered * share);
  const step = durations.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return Number((FIRST_MS * STEP ** step).toPrecision(2));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
