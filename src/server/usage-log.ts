import type { CallBalance } from '../access/call-balance.ts';
import { type Clock, HOUR_MS, MINUTE_MS } from '../clock.ts';
import type { Shortage } from '../efa/ask.ts';
import type { Log } from '../log.ts';

const LOOK_EVERY_MS = MINUTE_MS;
const LOG_EVERY_MS = HOUR_MS;

/**
 * Logs every hour, and when calls run short, which account used most. It is no label of metrics: there are too many
 * accounts.
 */
export function logHeaviestAccount(options: {
  balance: Pick<CallBalance, 'heaviest'>;
  shortage: () => Shortage | null;
  log: Log<'info'>;
  clock: Clock;
}): void {
  const { balance, shortage, log, clock } = options;
  let wasShort = false;
  let loggedAt = clock.now();

  function look(): void {
    const isShort = shortage() !== null;
    if ((isShort && !wasShort) || clock.now() - loggedAt >= LOG_EVERY_MS) {
      loggedAt = clock.now();
      const heaviest = balance.heaviest();
      if (heaviest)
        log.info({ ...heaviest, shortage: shortage() }, 'the accounts that used most today, on this instance');
    }
    wasShort = isShort;
    clock.after(LOOK_EVERY_MS, look);
  }

  clock.after(LOOK_EVERY_MS, look);
}
