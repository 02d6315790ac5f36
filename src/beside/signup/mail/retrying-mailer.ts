import { MINUTE_MS } from '../../../core/clock.ts';
import type { Log } from '../../../core/log.ts';
import type { Mailer, MailMessage } from './mailer.ts';

/** `failed` may work later, `refused` will not: the mail server does not take mail for this address. */
export type MailOutcome = 'sent' | 'failed' | 'refused';

export interface RetryingMailer extends Mailer {
  /**
   * Sends the mail now, or retries it until then: resolves with whether it is sent. Rejects when it is refused at once. `giveUp` is
   * called when a later try is refused, at the end of the time, and when the process ends.
   */
  sendOrRetry(to: string, message: MailMessage, retries: Retries): Promise<boolean>;
  close(): Promise<void>;
}

interface Retries {
  until: Date;
  giveUp?: () => Promise<unknown>;
}

const RETRY_MS = 5 * MINUTE_MS;
/** Some 10 kB each. Beyond this, mails that fail are refused. */
const MAX_WAITING = 500;

/** Counts mails and retries them. They wait in memory only, because keys are stored nowhere. */
export function createRetryingMailer(options: {
  mailer: Mailer;
  count: (outcome: MailOutcome) => void;
  now: () => Date;
  sleep: (ms: number) => Promise<unknown>;
  log: Log<'warn'>;
}): RetryingMailer {
  const { mailer, count, now, sleep, log } = options;
  const waiting: ({ to: string; message: MailMessage } & Retries)[] = [];
  let isRetrying = false;
  let isClosed = false;

  async function send(to: string, message: MailMessage): Promise<void> {
    try {
      await mailer.send(to, message);
      count('sent');
    } catch (error) {
      count(isRefusal(error) ? 'refused' : 'failed');
      throw error;
    }
  }

  async function giveUp({ giveUp }: Retries, reason: string): Promise<void> {
    log.warn({ reason }, 'a mail is not retried any more');
    await giveUp?.().catch((err: Error) => log.warn({ err }, 'the key of a mail that was not sent stays valid'));
  }

  async function retry(): Promise<void> {
    if (isRetrying) return;
    isRetrying = true;
    while (waiting.length > 0 && !isClosed) {
      await sleep(RETRY_MS);
      await sendWaiting();
    }
    isRetrying = false;
  }

  /** Ends with the first mail that fails: it goes to the end, and the others probably fail too. */
  async function sendWaiting(): Promise<void> {
    for (let mail = waiting.shift(); mail; mail = waiting.shift()) {
      if (mail.until <= now()) {
        await giveUp(mail, 'too late');
        continue;
      }
      try {
        await send(mail.to, mail.message);
      } catch (error) {
        if (!isRefusal(error) && !isClosed) return void waiting.push(mail);
        await giveUp(mail, 'refused');
      }
    }
  }

  return {
    isOutbox: mailer.isOutbox,
    send,
    async sendOrRetry(to, message, retries) {
      try {
        await send(to, message);
        return true;
      } catch (error) {
        if (isRefusal(error) || isClosed || waiting.length >= MAX_WAITING) throw error;
        log.warn({ err: error }, 'a mail could not be sent and is retried');
        waiting.push({ to, message, ...retries });
        void retry();
        return false;
      }
    },
    async close() {
      isClosed = true;
      for (const mail of waiting.splice(0)) await giveUp(mail, 'the process ends');
    },
  };
}

/** A 5xx reply to the addresses of the mail. A refused password is a fault of ours, which can be mended. */
function isRefusal(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return code === 'EENVELOPE' && responseCode >= 500;
}
