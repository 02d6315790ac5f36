import { z } from 'zod';
import { SECOND_MS } from './core/clock.ts';
import { trustedProxies } from './http/connection/trusted-proxies.ts';
import { JOURNEY_MODES } from './journeys/source.ts';
import { TIMETABLE_MODES } from './timetable/update/keep-current.ts';

const REAL_UPSTREAM_URL = 'https://api.transport.nsw.gov.au/v1/tp';
/** The sandbox has no budget of calls. */
const UNLIMITED = { rps: Number.POSITIVE_INFINITY, dailyBudget: 1e12 };
/** The samplers of OpenTelemetry's specification. */
const TRACE_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
/** Parts outside the contract that `WITHOUT` can leave out. */
const EXTENSIONS = ['mcp', 'streams', 'pages', 'carparks', 'punctuality'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Settings that must be equal on all instances that share a Redis, and the reason. */
const SAME_ON_ALL_INSTANCES = {
  LINK_SECRET:
    'links in mails and identifiers must be valid on every instance. Generate one with `openssl rand -hex 32`',
  PUBLIC_URL: 'links in mails and errors must use the address through which callers reach all instances',
};

/** Each of these suggests production, where callers must never get made-up data by mistake. */
const SIGNS_OF_PRODUCTION = ['REDIS_URL', 'LINK_SECRET', 'PUBLIC_URL'];

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
  .transform(withoutTrailingSlashes);

/** Values separated by commas. */
const list = z.string().transform((text) => text.split(',').map((part) => part.trim()));

const redisUrl = z.url({
  protocol: /^rediss?$/,
  error: 'must be a redis:// or rediss:// URL, or several separated by commas',
});

const unitRatio = 'must be a number from 0 to 1';

/** "auto", or "auto,complete" with the bundle of all operators. */
const timetable = list
  .transform(([mode, ...further]) => ({
    mode: mode as (typeof TIMETABLE_MODES)[number],
    hasBundle: further.length > 0,
    more: further,
  }))
  .refine(
    ({ mode, more }) =>
      TIMETABLE_MODES.includes(mode) && (more.length === 0 || (more.length === 1 && more[0] === 'complete')),
    `must be one of ${TIMETABLE_MODES.join(', ')}, or one of them and ",complete"`,
  );

/** "9464", "0.0.0.0:9464" or "[::1]:9464". */
const metricsAddress = z
  .string()
  .regex(/^(?:.+:)?\d{1,5}$/, 'must be a port, or an address and a port such as 0.0.0.0:9464')
  .transform((text) => {
    const colon = text.lastIndexOf(':');
    const host = colon === -1 ? '127.0.0.1' : text.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
    return { host, port: Number(text.slice(colon + 1)) };
  })
  .refine(({ port }) => port <= 65_535, 'must have a port of at most 65535');

/** A URL template and, after a space, the attribution. */
const tiles = z
  .string()
  .transform((text) => {
    const [url = '', ...words] = text.trim().split(' ');
    return { url, attribution: words.join(' ').trim() };
  })
  .refine(
    ({ url }) => /^https?:\/\/[^\s"'<>;,]+$/.test(url) && ['{z}', '{x}', '{y}'].every((part) => url.includes(part)),
    'must be a URL with {z}, {x} and {y}, and may have an attribution after a space',
  );

const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(3000),
  PUBLIC_URL: httpUrl.optional(),
  UPSTREAM_URL: httpUrl.optional(),
  UPSTREAM_API_KEY: list
    .pipe(z.array(z.string().regex(/^[\x21-\x7e]+$/, 'must be one key, or several separated by commas')))
    .default([]),
  UPSTREAM_PROXY: httpUrl.optional(),
  SANDBOX: z.enum(['0', '1'], { error: 'must be 1 or 0' }).optional(),
  TIMETABLE: timetable.optional(),
  JOURNEYS: z.enum(JOURNEY_MODES, { error: `must be one of ${JOURNEY_MODES.join(', ')}` }).default('auto'),
  UPSTREAM_RPS: wholeNumber(1, 1000).default(5),
  UPSTREAM_DAILY_BUDGET: wholeNumber(1, 100_000_000).default(60_000),
  REDIS_URL: list.pipe(z.array(redisUrl)).default([]),
  DATA_DIR: z.string().default('./data'),
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' }).optional(),
  MAIL_FROM: z
    .string()
    .refine(isMailbox, 'must be an address, or a name and <address>')
    .default('Transit Information Service <keys@localhost>'),
  LINK_SECRET: list
    .transform((secrets) => secrets as [string, ...string[]])
    .refine((secrets) => secrets.every((secret) => secret.length >= 32), {
      error: 'must have at least 32 characters (each secret, if several are separated by commas)',
    })
    .optional(),
  CONTACT: z.url({ protocol: /^(mailto|https)$/, error: 'must be a mailto: or https:// URL' }).optional(),
  TILES: tiles.optional(),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).optional(),
  LOG_REQUESTS: wholeNumber(0, 1_000_000).default(20),
  METRICS_ADDRESS: metricsAddress.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_TRACES_SAMPLER: z
    .enum(TRACE_SAMPLERS, { error: `must be one of ${TRACE_SAMPLERS.join(', ')}` })
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number({ error: unitRatio }).min(0, unitRatio).max(1, unitRatio).default(1),
  TRUST_PROXY: trustedProxies.default(false),
  DRAIN_SECONDS: wholeNumber(0, 300).default(0),
  WITHOUT: list
    .pipe(
      z.array(z.enum(EXTENSIONS, { error: `must be one of ${EXTENSIONS.join(', ')}, or several separated by commas` })),
    )
    .default([]),
});

/** Names of all environment variables that the service reads. */
export const VARIABLES: readonly string[] = Object.keys(environment.shape);

/** Lists every problem of the environment, one per line. Never contains values of secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads and validates the environment. Empty variables count as unset. Throws `ConfigError` with all problems. */
export function parseConfig(env: NodeJS.ProcessEnv) {
  const variables = withoutEmpty(env);
  const parsed = environment.safeParse(variables);
  const problems = parsed.success ? [] : problemsOf(parsed.error);

  if (variables.UPSTREAM_URL && !variables.UPSTREAM_API_KEY && !isLoopback(variables.UPSTREAM_URL)) {
    problems.push('UPSTREAM_API_KEY must be set when UPSTREAM_URL is not on this machine');
  }
  const isReal = Boolean(variables.UPSTREAM_URL || variables.UPSTREAM_API_KEY);
  if (!isReal) problems.push(...reasonsAgainstSandbox(variables));
  if (isReal && variables.SANDBOX === '1') {
    problems.push('SANDBOX must not be 1 when UPSTREAM_API_KEY or UPSTREAM_URL is set: remove one of them');
  }
  if (isReal && variables.REDIS_URL) {
    for (const [name, reason] of Object.entries(SAME_ON_ALL_INSTANCES)) {
      if (!variables[name]) problems.push(`${name} must be set when REDIS_URL is: ${reason}`);
    }
  }
  if (!parsed.success || problems.length > 0) throw new ConfigError([...new Set(problems)].join('\n'));

  const { data } = parsed;
  const publicUrl = data.PUBLIC_URL ?? `http://localhost:${data.PORT}`;
  return Object.freeze({
    host: data.HOST,
    /** 0 picks a free port. */
    port: data.PORT,
    publicUrl,
    /** Base of the `docs` link in every error, without a trailing slash. */
    docsUrl: `${publicUrl}/docs`,
    /** Where data comes from: Transport for NSW (or another server at `url`), or the embedded sandbox. */
    upstream: isReal
      ? { kind: 'real' as const, url: data.UPSTREAM_URL ?? REAL_UPSTREAM_URL, apiKeys: data.UPSTREAM_API_KEY }
      : { kind: 'sandbox' as const },
    /** HTTP proxy for upstream calls and feeds; null: none. */
    upstreamProxy: (isReal && data.UPSTREAM_PROXY) || null,
    /** Limits of each upstream key; unlimited in the sandbox. */
    upstreamLimits: isReal ? { rps: data.UPSTREAM_RPS, dailyBudget: data.UPSTREAM_DAILY_BUDGET } : UNLIMITED,
    /** The local timetable. `hasBundle`: also import the bundle of all operators. */
    timetable: {
      mode: data.TIMETABLE?.mode ?? (isReal ? 'auto' : 'on'),
      hasBundle: data.TIMETABLE?.hasBundle || !isReal,
    },
    journeys: data.JOURNEYS,
    /** One server, or the nodes of a cluster. Empty: accounts are stored in `dataDir`, and instances share nothing else. */
    redisUrls: data.REDIS_URL,
    dataDir: data.DATA_DIR,
    /** Null: mails are written as files to `dataDir/outbox`. */
    smtpUrl: data.SMTP_URL ?? null,
    mailFrom: data.MAIL_FROM,
    /**
     * Secrets for links, tokens and identifiers. The first one signs; signatures of the others are valid too. Null: use a
     * secret stored in `dataDir`, which sandbox instances may share.
     */
    linkSecrets: data.LINK_SECRET ?? null,
    /** For security.txt, and for callers who need another plan; null: the documentation names none. */
    contact: data.CONTACT ?? null,
    /** URL template of map tiles; null: plain background. */
    tileUrl: data.TILES?.url ?? null,
    tileAttribution: data.TILES?.attribution ?? '',
    /** Null: `info`, or `warn` at a terminal. */
    logLevel: data.LOG_LEVEL ?? null,
    trustProxy: data.TRUST_PROXY,
    /** How long `/readyz` fails before the process closes. */
    drainMs: data.DRAIN_SECONDS * SECOND_MS,
    /** Maximum number of successful requests logged per second. */
    loggedPerSecond: data.LOG_REQUESTS,
    /** Address of `/metrics`; null: not served. */
    metrics: data.METRICS_ADDRESS ?? null,
    /** Collector of traces and logs; null: neither is sent. */
    collector: data.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          endpoint: data.OTEL_EXPORTER_OTLP_ENDPOINT,
          takesLogs: env.OTEL_LOGS_EXPORTER === 'otlp',
          sampler: toSampler(data.OTEL_TRACES_SAMPLER, data.OTEL_TRACES_SAMPLER_ARG),
        }
      : null,
    /** Extensions to leave out. */
    without: data.WITHOUT,
  });
}

export type Config = ReturnType<typeof parseConfig>;

/** Reads only the location of the account store, for commands. Throws `ConfigError`. */
export function parseStoreLocation(env: NodeJS.ProcessEnv): Pick<Config, 'redisUrls' | 'dataDir'> {
  const parsed = environment.pick({ REDIS_URL: true, DATA_DIR: true }).safeParse(withoutEmpty(env));
  if (!parsed.success) throw new ConfigError(problemsOf(parsed.error).join('\n'));
  return { redisUrls: parsed.data.REDIS_URL, dataDir: parsed.data.DATA_DIR };
}

function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
}

function problemsOf({ issues }: z.ZodError): string[] {
  return issues.map((issue) => `${String(issue.path[0])} ${issue.message}`);
}

/** Without a key, the sandbox starts only if nothing suggests production or SANDBOX=1 requests it. */
function reasonsAgainstSandbox(variables: Readonly<Record<string, string>>): string[] {
  if (variables.SANDBOX === '1') return [];
  const signs = [
    ...(variables.SANDBOX === '0' ? ['SANDBOX=0'] : []),
    ...(variables.NODE_ENV === 'production' ? ['NODE_ENV=production'] : []),
    ...SIGNS_OF_PRODUCTION.filter((name) => variables[name]),
    // A mistyped UPSTREAM_API_KEY, for example.
    ...Object.keys(variables).filter((name) => name.startsWith('UPSTREAM_') && !VARIABLES.includes(name)),
  ];
  if (signs.length === 0) return [];
  return [
    `UPSTREAM_API_KEY must be set with ${signs.join(', ')}: without it every response would be made up. ` +
      'To use the sandbox, which makes up its data, set SANDBOX=1',
  ];
}

function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end--;
  return url.slice(0, end);
}

/** "keys@example.org" or "Our Name <keys@example.org>". */
function isMailbox(text: string): boolean {
  const start = text.indexOf('<');
  const name = text.slice(0, Math.max(0, start));
  const address = start === -1 ? text : text.slice(start + 1, -1);
  const isClosed = (start !== -1) === text.endsWith('>');
  return isClosed && /^[^"\r\n>]*$/.test(name) && /^[^\s<>@,;"]+@[^\s<>@,;"]+$/.test(address);
}

function isLoopback(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? '';
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function toSampler(name: (typeof TRACE_SAMPLERS)[number], ratio: number) {
  const share = name.endsWith('always_on') ? 1 : name.endsWith('always_off') ? 0 : ratio;
  return { share, followsCaller: name.startsWith('parentbased') };
}
