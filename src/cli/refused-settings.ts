import { html } from '#web/html.ts';
import { checkSmtp, createMailer } from '#web/signup/mail/mailer.ts';
import { type Config, VARIABLES } from '../config.ts';
import { withTimeLimit } from '../core/clock.ts';
import { openRedis } from '../core/redis/shared-redis.ts';
import { SILENT } from './command.ts';

/** A shorter key is taken for one that was cut off: those of Transport for NSW are longer. */
const SHORTEST_KEY = 20;
const REACH_MS = 8000;
/** Names that RFC 2606 reserves for examples. */
const PLACEHOLDER = /\bexample\.(?:com|net|org)\b|\.example\b/;
const TEST_TEXT = 'The Transit Information Service can send mails.';

/**
 * Lists settings with which the service would start but not work: placeholder values, keys that are cut off, a Redis or SMTP
 * server that cannot be reached. Sends a mail to `testMail` if given. The sandbox may have placeholder values.
 */
export async function listRefusedSettings(
  config: Config,
  env: NodeJS.ProcessEnv,
  testMail: string | undefined,
): Promise<string[]> {
  const { upstream, redisUrls, smtpUrl, mailFrom, dataDir } = config;
  const keys = upstream.kind === 'real' ? upstream.apiKeys : [];
  const problems = [
    ...VARIABLES.filter((name) => upstream.kind === 'real' && PLACEHOLDER.test(env[name] ?? '')).map(
      (name) => `${name} has a name from an example: put in your own.`,
    ),
    ...keys.flatMap((key, index) =>
      key.length < SHORTEST_KEY
        ? `UPSTREAM_API_KEY: the key at position ${index} has ${key.length} characters, which is too short.`
        : [],
    ),
  ];
  const attempts = [
    redisUrls.length > 0 && { name: 'REDIS_URL', what: 'Redis cannot be used', run: () => writeToRedis(redisUrls) },
    smtpUrl !== null && {
      name: 'SMTP_URL',
      what: 'the mail server cannot be reached',
      run: () => checkSmtp(smtpUrl, REACH_MS),
    },
    testMail !== undefined && {
      name: '--test-mail',
      what: 'the mail was not accepted',
      run: () =>
        createMailer({ smtpUrl, smtpTimeoutMs: REACH_MS, mailFrom, dataDir, log: SILENT, now: Date.now }).send(
          testMail,
          { subject: 'A test of SMTP_URL', text: TEST_TEXT, html: html`<p>${TEST_TEXT}</p>` },
        ),
    },
  ].filter((attempt) => attempt !== false);
  const results = await Promise.allSettled(attempts.map(({ run }) => run()));
  const failures = results.flatMap((result, index) =>
    result.status === 'rejected'
      ? `${attempts[index]?.name}: ${attempts[index]?.what}: ${(result.reason as Error).message}.`
      : [],
  );
  return [...problems, ...failures];
}

async function writeToRedis(urls: readonly string[]): Promise<void> {
  const redis = await openRedis(urls, SILENT);
  try {
    const [failure] = await withTimeLimit(REACH_MS, () => redis.writeProbes());
    if (failure) throw failure.cause ?? failure;
  } finally {
    redis.close();
  }
}
