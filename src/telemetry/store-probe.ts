import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than the slowest healthy answer of the store, shorter than the time-out of any health check. */
const TIMEOUT_MS = 500;

export type IsStoreReachable = () => Promise<boolean>;

/** Whether the account store answers. One probe at a time, so that health checks do not queue up before a silent store. */
export function createStoreProbe(probe: () => Promise<unknown>): IsStoreReachable {
  let probing: Promise<boolean> | null = null;
  return () => {
    probing ??= answersInTime(probe()).finally(() => {
      probing = null;
    });
    return probing;
  };
}

async function answersInTime(answer: Promise<unknown>): Promise<boolean> {
  const answered = answer.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, sleep(TIMEOUT_MS, false, { ref: false })]);
}
