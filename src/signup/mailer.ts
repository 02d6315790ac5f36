import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import nodemailer from 'nodemailer';
import type { Html } from '../site/html.ts';

export interface MailMessage {
  subject: string;
  text: string;
  html: Html;
}

export interface Mailer {
  /** Resolves when the SMTP server (or the outbox) has taken the mail. `to` is one validated address. */
  send(to: string, message: MailMessage): Promise<void>;
}

export interface MailerOptions {
  /** Null: mails are written to `dataDir/outbox`. */
  smtpUrl: string | null;
  mailFrom: string;
  dataDir: string;
  log: Pick<FastifyBaseLogger, 'info'>;
  now: () => Date;
}

/** A browser waits for the page while the mail is sent. */
const SMTP_TIMEOUT_MS = 10_000;

export function createMailer({ smtpUrl, mailFrom, dataDir, log, now }: MailerOptions): Mailer {
  if (smtpUrl !== null) {
    const timeouts = {
      connectionTimeout: SMTP_TIMEOUT_MS,
      greetingTimeout: SMTP_TIMEOUT_MS,
      socketTimeout: SMTP_TIMEOUT_MS,
    };
    const smtp = nodemailer.createTransport({ url: smtpUrl, ...timeouts });
    return { send: async (to, message) => void (await smtp.sendMail(compose(mailFrom, to, message))) };
  }

  const composer = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const outbox = join(dataDir, 'outbox');
  return {
    async send(to, message) {
      const composed = await composer.sendMail(compose(mailFrom, to, message));
      await mkdir(outbox, { recursive: true, mode: 0o700 });
      const path = join(outbox, `${now().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}.eml`);
      await writeFile(path, composed.message as Buffer, { mode: 0o600 });
      log.info({ path }, 'SMTP_URL is not set: a mail was written to a file instead of being sent');
    },
  };
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
