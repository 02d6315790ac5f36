export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The time, for what goes on without a request. Tests and simulations pass a clock of their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs `task` once after the delay and returns a function that cancels it. Does not keep the process alive. */
  after(delayMs: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}

/** The promise's outcome or, when it takes longer than `delayMs`, the outcome of `late`. */
export function within<Value>(
  clock: Clock,
  delayMs: number,
  promise: Promise<Value>,
  late: () => Value | Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(delayMs, () => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    });
    promise.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error) => {
        cancel();
        reject(error);
      },
    );
  });
}
