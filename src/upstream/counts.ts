/** What happened since the process began; for metrics. */
export interface Counts {
  /** Calls of upstream, retries among them. */
  calls: number;
  retries: number;
  failures: number;
  /** Times that upstream answered 401. */
  keysRefused: number;
  /** Times that upstream wanted to be left alone, 403 or 429. */
  tapsClosed: number;
  /** Questions by how they were answered. */
  answered: Record<'upstream' | 'joined' | 'cache' | 'staleBusy' | 'staleFailing' | 'refused' | 'failed', number>;
}

export function createCounts(): Counts {
  const answered = { upstream: 0, joined: 0, cache: 0, staleBusy: 0, staleFailing: 0, refused: 0, failed: 0 };
  return { calls: 0, retries: 0, failures: 0, keysRefused: 0, tapsClosed: 0, answered };
}
