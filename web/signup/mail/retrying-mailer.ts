import { MINUTE_MS } from '#src/core/clock.ts';
import type { Log } from '#src/core/log.ts';
import type { Mailer, MailMessage } from './mailer.ts';

/** `failed` may work later. `refused` will not: the mail server rejects this address. */
export type MailOutcome = 'sent' | 'failed' | 'refused';

/** For mails that are still useful later. */
export interface PatientMailer {
  /**
   * Sends the mail, or retries it until `until`. Returns true if it was sent, false if it is being retried; rejects if it is
   * refused. Calls `giveUp` when a retry is refused, when the time is up, and when the process ends.
   */
  sendOrRetry(to: string, message: MailMessage, retries: Retries): Promise<boolean>;
}

/** Sends mails and retries failed ones until it is closed. */
export interface RetryingMailer extends Mailer, PatientMailer {
  close(): Promise<void>;
}

/** How long a mail is useful, and what to undo if it was never accepted. */
export interface Retries {
  until: number;
  giveUp?: () => Promise<unknown>;
}

const RETRY_MS = 5 * MINUTE_MS;
/** Some 10 kB each. Beyond this, mails that fail are refused. */
const MAX_WAITING = 500;

/** Counts and retries mails. They wait only in memory, because keys are stored nowhere. */
export function createRetryingMailer(options: {
  mailer: Mailer;
  count: (outcome: MailOutcome) => void;
  now: () => number;
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
    log.warn({ reason }, 'mail given up');
    await giveUp?.().catch((err: Error) => log.warn({ err }, 'key of an unsent mail not revoked'));
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

  /** Stops at the first mail that fails and moves it to the end, because the others would probably fail too. */
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

/** True for a 5xx reply about the mail's addresses. A refused password is our own error and can be fixed. */
function isRefusal(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return code === 'EENVELOPE' && responseCode >= 500;
}
