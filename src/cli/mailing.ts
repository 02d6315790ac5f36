import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMailSettings } from '../config.ts';
import { noticeMail } from '../signup/mail/mail-messages.ts';
import { createMailer } from '../signup/mail/mailer.ts';
import { type Command, getWholeNumber, readText, UsageError } from './command.ts';

const PER_MINUTE = 60;
/** This many failures in a row are due to the mail server, not to the addresses. */
const MAX_FAILURES_IN_A_ROW = 5;
/** Accounts that nobody reads mails of, as the sandbox's own (RFC 2606). */
const NOBODY = '.invalid';

/** A mail to all who have an account. A mailing is known by its text: repeated, it goes on where it broke off. */
export const MAILING_COMMANDS: Record<string, Command> = {
  async mail({ store, operands: [file], options, env, now, record }) {
    const { subject } = options;
    if (!file || !subject || /\p{C}/u.test(subject)) throw new UsageError('mail needs a file and --subject TEXT.');
    const perMinute = getWholeNumber('--per-minute', options['per-minute'], { least: 1, most: 100_000 }) ?? PER_MINUTE;
    const text = await readText(file);
    if (text.trim() === '') throw new UsageError(`${file} is empty.`);
    const message = noticeMail(subject, text);
    const mailing = createHash('sha256').update(`${subject}\n${text}`).digest('hex').slice(0, 12);
    const all = (await store.listAccounts()).filter(({ email }) => !email.endsWith(NOBODY));
    const before = await store.readMailing(mailing);
    const left = all.filter(({ id }) => !before[id]);
    const states = Object.values(before);
    const counts = {
      mailing,
      left: left.length,
      sent_before: states.filter((state) => state === 'sent').length,
      // The command was ended while it sent these: they may have arrived, and are not sent again.
      unclear: states.filter((state) => state === 'claimed').length,
    };
    if (!options.send) {
      const note = `A dry run: nothing was sent. At ${perMinute} a minute it takes ${Math.ceil(left.length / perMinute)} minutes. Add --send.\n\nSubject: ${subject}\n\n${message.text}`;
      return { json: { ...counts, subject, text: message.text }, rows: [counts], note };
    }

    const mailer = createMailer({ ...readMailSettings(env), log: { warn() {} }, now: () => new Date() });
    await record(`${mailing} begun, ${left.length} accounts: ${subject}`);
    let [sent, failed, failedInARow] = [0, 0, 0];
    for (const { id, email } of left) {
      if (failedInARow >= MAX_FAILURES_IN_A_ROW) break;
      // Another process may send the same mailing.
      if (!(await store.claimMail(mailing, id))) continue;
      const isSent = await mailer.send(email, message).then(
        () => true,
        () => false,
      );
      await store.finishMail(mailing, id, isSent);
      sent += Number(isSent);
      failed += Number(!isSent);
      failedInARow = isSent ? 0 : failedInARow + 1;
      await sleep(60_000 / perMinute);
    }
    const done = { ...counts, left: left.length - sent, sent, failed };
    const note = [
      mailer.isOutbox && 'SMTP_URL is not set: the mails are files in DATA_DIR/outbox.',
      failed > 0 && 'Mails failed: run the same command again, which sends only what is left.',
    ];
    return {
      json: { ...done, at: now.toISOString() },
      rows: [done],
      note: note.filter(Boolean).join('\n'),
      changed: `${mailing}: ${sent} sent, ${failed} failed`,
      isIncomplete: failed > 0,
    };
  },
};
