import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import nodemailer from 'nodemailer';
import { withTimeLimit } from '#src/core/clock.ts';
import { makePrivateFolder } from '#src/core/durable-file.ts';
import type { Log } from '#src/core/log.ts';
import type { Html } from '../../html.ts';

/** Both forms say the same: the reader's program chooses one. */
export interface MailMessage {
  subject: string;
  text: string;
  html: Html;
}

/** Sends mails over SMTP, or writes them to files. */
export interface Mailer {
  /**
   * Resolves when the SMTP server (or the outbox) has accepted the mail; rejects on failure or timeout. A server that responds
   * too late may still deliver the mail. `to` is one validated address.
   */
  send(to: string, message: MailMessage): Promise<void>;
  /** True without an SMTP server: mails are written to files. */
  isOutbox: boolean;
}

/** Below the 9.5 s of a request, so that a failed mail can be undone in time. */
const SMTP_TIMEOUT_MS = 8000;
/** How long a server may take to close its side of a connection that we have closed. */
const CLOSE_TIMEOUT_MS = 1000;

export function createMailer(options: {
  /** Null: mails are written to `dataDir/outbox`. */
  smtpUrl: string | null;
  /** Timeout for one mail, from the DNS lookup to the server's last response. */
  smtpTimeoutMs?: number | undefined;
  mailFrom: string;
  dataDir: string;
  log: Log<'warn'>;
  now: () => number;
}): Mailer {
  const { smtpUrl, smtpTimeoutMs = SMTP_TIMEOUT_MS, mailFrom, dataDir, log, now } = options;
  if (smtpUrl !== null) {
    const smtp = nodemailer.createTransport({ url: smtpUrl, socketCloseTimeout: CLOSE_TIMEOUT_MS });
    return {
      isOutbox: false,
      async send(to, message) {
        // nodemailer's timeouts cover single steps, and a server can reset them by sending anything.
        const mail = compose(mailFrom, to, message);
        await withTimeLimit(smtpTimeoutMs, (signal) => smtp.sendMail({ ...mail, signal }));
      },
    };
  }

  const composer = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const outbox = join(dataDir, 'outbox');
  return {
    isOutbox: true,
    async send(to, message) {
      const { text, html, ...mail } = compose(mailFrom, to, message);
      const parts = { text: readablePart('plain', text), html: readablePart('html', html) };
      const composed = await composer.sendMail({ ...mail, ...parts });
      await makePrivateFolder(outbox);
      const path = join(
        outbox,
        `${new Date(now()).toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}.eml`,
      );
      await writeFile(path, composed.message as Buffer, { mode: 0o600 });
      log.warn({ path }, 'SMTP_URL is not set: a mail was written to a file instead of being sent');
    },
  };
}

/** Connects to the SMTP server and logs in. Rejects if that fails. */
export async function checkSmtp(smtpUrl: string, timeoutMs: number): Promise<void> {
  const smtp = nodemailer.createTransport({ url: smtpUrl, socketCloseTimeout: CLOSE_TIMEOUT_MS });
  await withTimeLimit(timeoutMs, () => smtp.verify());
}

/** Returns an unencoded part of a mail, so that a key or command can be copied from the file. */
function readablePart(type: 'plain' | 'html', content: string) {
  return { raw: `Content-Type: text/${type}; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n${content}` };
}

/** The recipient is passed as an object, so that its text cannot add header lines (header injection). */
function compose(from: string, to: string, { subject, text, html }: MailMessage) {
  return {
    from,
    to: { name: '', address: to },
    subject,
    text,
    html: html.markup,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
