import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, parseEnv } from 'node:util';
import { type Config, parseConfig, VARIABLES } from '../config.ts';
import { deadlinesFrom, MINUTE_MS } from '../core/clock.ts';
import { UpstreamHttp } from '../efa/upstream-http.ts';
import type { Meter } from '../upstream/budget/meter.ts';
import { createSharedMeters } from '../upstream/protection.ts';
import { allowEarlyEnd, openSilentRedis, printUsageError, UsageError } from './command.ts';
import { listRefusedSettings } from './refused-settings.ts';
import { ASSUMPTIONS } from './upstream-check/assumptions.ts';
import {
  exitCodeOf,
  KeyRefused,
  MAX_CALLS,
  type Received,
  type Result,
  runCheck,
  type Transport,
} from './upstream-check/check.ts';

/**
 * 0: all holds, 1: callers would see wrong or failed responses, 2: usage or configuration, 3: key refused, 4: only cost differs,
 * 5: unreachable, 6: something is not settled.
 */
type UpstreamExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6;

const USAGE = `npm run upstream -- check    tests the assumptions of the service about upstream
npm run upstream -- config   prints every setting with its source, and refuses those that cannot work;
                             --test-mail ADDRESS sends a mail

Exit codes of config: 0 usable, 2 not. Exit codes of check: 0 all holds, 1 something differs that callers would see, 2 usage or configuration,
3 the key was refused, 4 only the cost differs, 5 upstream cannot be reached, 6 something is not settled.
`;

/** Two calls a second leave the rest of the rate limit to the service. */
const CALL_INTERVAL_MS = 500;
/** The service's timeout of a call. */
const CALL_MS = deadlinesFrom().callMs;
const MAX_FEED_BYTES = 32 * 1024 * 1024;
/** Calls of the day that must remain after the check. */
const SPARE_CALLS = 100;

interface UpstreamSurroundings {
  env: NodeJS.ProcessEnv;
  /** Contents of `.env`, which Node has already merged into `env`; empty without such a file. */
  dotEnv?: NodeJS.ProcessEnv;
  print: (text: string) => void;
  /** Milliseconds between two calls. */
  intervalMs?: number;
  /** Epoch milliseconds. */
  now?: () => number;
}

/** Runs one command and returns the exit code of the process. */
export async function runUpstreamCommand(
  args: string[],
  surroundings: UpstreamSurroundings,
): Promise<UpstreamExitCode> {
  const { print } = surroundings;
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { help: { type: 'boolean', default: false }, 'test-mail': { type: 'string' } },
      allowPositionals: true,
    });
    const [command] = positionals;
    if (values.help || command === undefined) print(USAGE);
    else if (command === 'check') return await check(surroundings);
    else if (command === 'config') return await describeConfig(surroundings, values['test-mail']);
    else throw new UsageError(`${positionals.join(' ')} is no command.\n\n${USAGE}`);
    return 0;
  } catch (error) {
    printUsageError(error, print);
    return 2;
  }
}

async function check({
  env,
  print,
  intervalMs = CALL_INTERVAL_MS,
  now = Date.now,
}: UpstreamSurroundings): Promise<UpstreamExitCode> {
  const config = parseConfig(env);
  if (config.upstream.kind !== 'real')
    throw new UsageError('UPSTREAM_API_KEY must be set: there is nothing to check without it.');
  const { upstream } = config;
  const budget = await openBudget(config, upstream.apiKeys);
  const connection = connect(config, upstream, { budget, intervalMs, now });
  try {
    print(`The check makes up to ${MAX_CALLS} calls to ${new URL(upstream.url).origin}, two a second. ${budget.where}`);
    if (budget.left < MAX_CALLS + SPARE_CALLS) {
      print(
        `Of today's calls ${budget.left} are left. The check waits for another day, or for a larger UPSTREAM_DAILY_BUDGET.`,
      );
      return 2;
    }
    return report(await runCheck({ transport: connection.transport, now, timeoutMs: CALL_MS }), print);
  } catch (error) {
    const { code, name, message } = error as NodeJS.ErrnoException;
    if (error instanceof KeyRefused) {
      print(
        `The key was refused: ${message}. Enable the trip planner, the realtime feeds and the car parks for it at opendata.transport.nsw.gov.au.`,
      );
      return 3;
    }
    if (code || name === 'TimeoutError') {
      print(`Upstream cannot be reached: ${message}`);
      return 5;
    }
    throw error;
  } finally {
    await connection.close();
    budget.close();
  }
}

/** The calls of the first key: shared with the running service through Redis, else this process's own. */
async function openBudget({ upstreamLimits: limits, redisUrls }: Config, apiKeys: readonly string[]) {
  const redis = await openSilentRedis(redisUrls);
  const [meter]: (Meter | undefined)[] = redis ? createSharedMeters(redis, { apiKeys, limits }) : [];
  async function record(): Promise<void> {
    for (;;) {
      const result = await meter?.spend('feed');
      if (!result || result.isTaken || result.why === 'day') return;
      await sleep(result.waitMs);
    }
  }

  // The shared count is known only after taking a call, so the first step uses that call.
  await record();
  let isTakenAhead = true;
  const left = Math.floor(limits.dailyBudget - (meter?.spent() ?? 0));
  return {
    left,
    where: meter
      ? `They count in the budget that the service shares through Redis, which has ${left.toLocaleString('en')} calls left today.`
      : 'Without REDIS_URL a running service does not know of them: they are not in its UPSTREAM_DAILY_BUDGET.',
    async record(): Promise<void> {
      if (!isTakenAhead) await record();
      isTakenAhead = false;
    },
    close: () => redis?.close(),
  };
}

/** Sends the steps one after another, bypassing cache and breaker. */
function connect(
  { upstreamProxy: proxyUrl }: Config,
  { url, apiKeys }: { url: string; apiKeys: readonly string[] },
  { budget, intervalMs, now }: { budget: { record(): Promise<void> }; intervalMs: number; now: () => number },
): { transport: Transport; close(): Promise<unknown> } {
  const open = (base: string, accept: string) =>
    new UpstreamHttp({
      url: base,
      connections: 16,
      connectTimeoutMs: CALL_MS,
      proxyUrl,
      headers: { accept, 'accept-encoding': 'gzip' },
      maxBytes: MAX_FEED_BYTES,
      now,
    });
  const planner = open(url, 'application/json');
  const feeds = open(new URL(url).origin, 'application/x-google-protobuf, */*');
  const keys = { first: apiKeys[0] ?? '', 'made up': 'made-up-key-of-the-check' };

  const transport: Transport = async ({ path, base, key }): Promise<Received> => {
    await sleep(intervalMs);
    await budget.record();
    const sentAt = now();
    const http = base === 'feeds' ? feeds : planner;
    // Longer than the service waits, so that a slow response is not taken for a missing one.
    const { status, headers, body } = await http.receive(path, { apiKey: keys[key], timeoutMs: MINUTE_MS });
    const headerPairs = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
    return { status, headers: Object.fromEntries(headerPairs), body, sentAt, tookMs: now() - sentAt };
  };
  return { transport, close: () => Promise.all([planner.close(), feeds.close()]) };
}

function report(
  { results, calls, notes }: { results: Result[]; calls: number; notes: string[] },
  print: (text: string) => void,
): UpstreamExitCode {
  for (const { id, verdict, saw } of results) {
    const { says, breaks, action } = ASSUMPTIONS[id];
    print(`${verdict.padEnd(8)} ${id}: ${says}`);
    const observations = [...new Set(saw.filter(Boolean))];
    if (observations.length > 0) print(`         seen: ${observations.join('; ')}`);
    if (verdict === 'DIFFERS') print(`         callers: ${breaks}\n         do: ${action}`);
  }
  for (const note of notes) print(`note     ${note}`);
  const count = (verdict: string) => results.filter((result) => result.verdict === verdict).length;
  print(`${calls} calls: ${count('HOLDS')} hold, ${count('DIFFERS')} differ, ${count('UNKNOWN')} are not settled.`);
  return exitCodeOf(results);
}

const READ_BY_OTHERS = /^(NODE_ENV|OTEL_.*|GIT_COMMIT|HTTPS?_PORT|HTTP_ADDRESS|TLS_DIR|COMPOSE_.*)$/;
const SECRETS = /KEY|SECRET|URL|UPSTREAM_PROXY|OTEL/;

/** Prints each variable with its source. Returns 2 when the service would not start or not work with it. */
async function describeConfig(
  { env, dotEnv = {}, print }: UpstreamSurroundings,
  testMail: string | undefined,
): Promise<UpstreamExitCode> {
  for (const name of VARIABLES) {
    const value = env[name] ?? '';
    const source = value === '' ? 'default' : dotEnv[name] === value ? '.env' : 'environment';
    print(`${name.padEnd(28)} ${source.padEnd(12)} ${value === '' ? '' : maskSecrets(name, value)}`.trimEnd());
  }
  // The packages of OpenTelemetry, and Compose, read further variables.
  const isUnknown = (name: string) => !VARIABLES.includes(name) && !READ_BY_OTHERS.test(name);
  const unknown = [
    ...Object.keys(dotEnv),
    ...Object.keys(env).filter((name) => name.startsWith('UPSTREAM_') && !Object.hasOwn(dotEnv, name)),
  ].filter(isUnknown);
  const config = parseConfig(env);
  const { upstream, upstreamLimits, redisUrls, timetable, smtpUrl } = config;
  print('');
  if (upstream.kind === 'sandbox') print('The sandbox makes up every response.');
  else {
    const count = upstream.apiKeys.length;
    const limits = `${upstreamLimits.rps * count} calls a second, ${(upstreamLimits.dailyBudget * count).toLocaleString('en')} a day`;
    print(
      `Responses come from ${new URL(upstream.url).origin}, with ${count} ${count === 1 ? 'key' : 'keys'}: ${limits}.`,
    );
  }
  if (redisUrls.length > 0) print('Accounts are in Redis; several instances share keys, counts and calls.');
  else print(`Accounts are in a file in ${config.dataDir}; several instances may share it only on one machine.`);
  if (timetable.mode === 'off') print('Timetable and realtime feeds are off: every board costs calls.');
  else print(`Timetable and realtime feeds: ${timetable.mode}.`);
  print(smtpUrl ? 'Mails are sent by SMTP.' : `Mails are written to ${config.dataDir}/outbox: nobody gets them.`);
  for (const name of unknown)
    print(`Unknown setting ${name} in ${Object.hasOwn(dotEnv, name) ? '.env' : 'the environment'}.`);
  for (const sentence of contradictions(config, env)) print(`Look again: ${sentence}`);
  const refused = await listRefusedSettings(config, env, testMail);
  for (const sentence of refused) print(`Refused: ${sentence}`);
  return refused.length > 0 ? 2 : 0;
}

/** Lists settings that the service accepts but that contradict each other. */
function contradictions({ upstream, upstreamLimits, publicUrl, trustProxy, smtpUrl }: Config, env: NodeJS.ProcessEnv) {
  const isReal = upstream.kind === 'real';
  const isLocal = ['localhost', '127.0.0.1'].includes(new URL(publicUrl).hostname);
  const sentences = {
    'UPSTREAM_RPS is above the 5 calls a second that a key is given.': isReal && upstreamLimits.rps > 5,
    'UPSTREAM_DAILY_BUDGET is above the 60,000 calls a day that a key is given.':
      isReal && upstreamLimits.dailyBudget > 60_000,
    [`PUBLIC_URL is ${publicUrl}: links in mails and errors lead nowhere for others.`]: isReal && isLocal,
    'PUBLIC_URL is https and TRUST_PROXY is off: all callers seem to come from the address of the proxy.':
      publicUrl.startsWith('https:') && trustProxy === false,
    'SMTP_URL is set and MAIL_FROM is not: mails come from keys@localhost, which servers refuse.':
      smtpUrl !== null && !env.MAIL_FROM,
  };
  return Object.entries(sentences).flatMap(([sentence, isSo]) => (isSo ? sentence : []));
}

/** Masks a value: URLs keep their host, other secrets show only their length. */
function maskSecrets(name: string, value: string): string {
  if (!SECRETS.test(name)) return value;
  const parts = value.split(',').map((part) => {
    const url = URL.parse(part.trim());
    if (!url) return `(a secret of ${part.trim().length} characters)`;
    return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
  });
  return parts.join(', ');
}

/** `npm run upstream -- check | config` */
if (import.meta.main) {
  allowEarlyEnd();
  const dotEnv = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {};
  process.exitCode = await runUpstreamCommand(process.argv.slice(2), {
    env: { ...dotEnv, ...process.env },
    dotEnv,
    print: (text) => process.stdout.write(`${text}\n`),
  });
}
