import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import nodemailer from 'nodemailer';
import type { Html } from '../site/html.ts';

export interface Letter {
  subject: string;
  text: string;
  html: Html;
}

export interface Postman {
  /** Resolves when the mail is on its way (or in the outbox); rejects when it is not. `to` is one checked address. */
  send(to: string, letter: Letter): Promise<void>;
}

export interface PostmanOptions {
  /** Null: mails are written to `dataDir/outbox`. */
  smtpUrl: string | null;
  mailFrom: string;
  dataDir: string;
  log: Pick<FastifyBaseLogger, 'info'>;
  now: () => Date;
}

/** Somebody waits in front of a page meanwhile. */
const PATIENCE_MS = 10_000;

export function createPostman({ smtpUrl, mailFrom, dataDir, log, now }: PostmanOptions): Postman {
  if (smtpUrl !== null) {
    const timeouts = { connectionTimeout: PATIENCE_MS, greetingTimeout: PATIENCE_MS, socketTimeout: PATIENCE_MS };
    const smtp = nodemailer.createTransport({ url: smtpUrl, ...timeouts });
    return { send: async (to, letter) => void (await smtp.sendMail(compose(mailFrom, to, letter))) };
  }

  const writer = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const outbox = join(dataDir, 'outbox');
  return {
    async send(to, letter) {
      const { message } = await writer.sendMail(compose(mailFrom, to, letter));
      await mkdir(outbox, { recursive: true, mode: 0o700 });
      const path = join(outbox, `${now().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}.eml`);
      await writeFile(path, message as Buffer, { mode: 0o600 });
      log.info({ path }, 'SMTP_URL is not set: a mail was written to a file instead of being sent');
    },
  };
}

/** One recipient, given as data and never as a header line. */
function compose(from: string, to: string, { subject, text, html }: Letter) {
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
