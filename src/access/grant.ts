import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { HOUR_MS } from '../core/clock.ts';
import { hashOf } from '../core/own-memory.ts';
import type { ApiError } from '../errors/api-error.ts';
import { operationNotAllowed, originNotAllowed, stopNotAllowed, tokenExpired } from '../errors/messages.ts';
import { OPERATION_ROUTES, OTHER_ROUTES } from '../routes.ts';
import { quote, withoutBrackets } from '../transit/parameter.ts';
import { endOfDay, quotaDay, secondsOfDay } from './day.ts';
import { ownerOf } from './domains.ts';
import { clientNetwork } from './limits/client-network.ts';
import { PLANS, type PlanName } from './plan.ts';

/**
 * What a publishable key or token allows; absent fields mean no limit. A key's grant is stored with the key and never changes;
 * a token's is signed into the token.
 */
export const grantSchema = z.object({
  /** Web origins whose pages may use the key, as written by `parseOrigin`. */
  origins: z.array(z.string()).optional(),
  /** Whether requests without an origin are allowed: from apps, scripts and local files. */
  apps: z.boolean().optional(),
  /** Paths of operations as documented, including their streams. */
  operations: z.array(z.string()).optional(),
  /** Only requests that name stops, and only these stops. */
  stops: z.array(z.string()).optional(),
  /** Requests per day with this key: its share of the account's daily limit. */
  perDay: z.int().min(1).optional(),
  /** Requests per hour of one client network. */
  perVisitorHour: z.int().min(1).optional(),
  /** Requests with this token while it is valid. */
  requests: z.int().min(1).optional(),
  /** Streams open at once per instance: of each visitor, or of everyone who has the token. */
  streams: z.int().min(0).optional(),
  /** Unix seconds. */
  expiresAt: z.int().optional(),
  /** Distinguishes tokens with the same grant. */
  id: z.string().optional(),
});
export type Grant = z.infer<typeof grantSchema>;

/** Parses a stored grant; null for a secret key. */
export function parseGrant(stored: string | null | undefined): Grant | null {
  return stored ? grantSchema.parse(JSON.parse(stored)) : null;
}

/** Open streams per visitor and instance, while less than half of the account's streams are open. */
export const VISITOR_STREAMS = 3;

/** A counter of the store that is shared by all instances, and its highest value. */
export interface CounterLimit {
  /** The name of the counter in the store. It begins with a quota day; names with three parts are kept for two hours. */
  counter: string;
  limit: number;
}

/** A limit that a request must fit into besides the account's daily limit. */
export interface Allowance extends CounterLimit {
  name: 'key' | 'visitor' | 'token';
  windowSeconds: number;
  resetAt: number;
}

/**
 * Events counted per key and day besides requests: refusals of a publishable key or token by reason, and `browser`, uses of a
 * secret key from another site's page.
 */
export const LISTED_EVENTS = ['origin', 'operation', 'visitor', 'share', 'account', 'browser'] as const;
export type KeyEvent = (typeof LISTED_EVENTS)[number];

/** The counter for requests with a key on a day. */
export function keyCounter(hash: string, day: string): string {
  return `${day}:${hash.slice(0, 8)}`;
}

export function eventCounter(hash: string, day: string, event: KeyEvent): string {
  return `${keyCounter(hash, day)}.${event}`;
}

/** A short hash for the client's network; reversing it requires trying all networks. */
export function visitorOf(key: { hash: string }, ip: string): string {
  return hashOf(`${key.hash} ${clientNetwork(ip)}`).slice(0, 12);
}

export function allowancesOf({ hash }: { hash: string }, grant: Grant, visitor: string, now: number): Allowance[] {
  const day = quotaDay(now);
  const allowances: Allowance[] = [];
  if (grant.perDay !== undefined) {
    const counter = keyCounter(hash, day);
    allowances.push({
      name: 'key',
      counter,
      limit: grant.perDay,
      windowSeconds: secondsOfDay(day),
      resetAt: endOfDay(day),
    });
  }
  if (grant.perVisitorHour !== undefined) {
    const hour = new Date(now).getUTCHours();
    const counter = `${keyCounter(hash, day)}:${hour}:${visitor}`;
    const resetAt = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
    allowances.push({ name: 'visitor', counter, limit: grant.perVisitorHour, windowSeconds: 3600, resetAt });
  }
  if (grant.requests !== undefined && grant.expiresAt !== undefined) {
    const resetAt = grant.expiresAt * 1000;
    const counter = `${keyCounter(hash, quotaDay(resetAt))}:token:${grant.id}`;
    const windowSeconds = Math.max(1, Math.ceil((resetAt - now) / 1000));
    allowances.push({ name: 'token', counter, limit: grant.requests, windowSeconds, resetAt });
  }
  return allowances;
}

/** The web origin of a request: `null` as browsers send it, undefined if there is none. */
function originOf({ origin, referer }: FastifyRequest['headers']): string | undefined {
  if (origin !== undefined) return origin;
  return referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : undefined;
}

/** Why the grant does not allow a request; null if it does. */
export function findRefusal(
  grant: Grant,
  { headers, operationPath, query, params }: FastifyRequest,
  now: number,
): { reason: 'origin' | 'operation' | 'expired'; error: ApiError } | null {
  if (isExpired(grant, now)) return { reason: 'expired', error: tokenExpired(null) };
  if (grant.origins) {
    const origin = originOf(headers);
    const isApp = origin === undefined || origin === 'null';
    if (isApp ? !grant.apps : !allowsOrigin(grant.origins, origin)) {
      return { reason: 'origin', error: originNotAllowed(isApp ? null : origin) };
    }
  }
  const path = operationPath.replace(STREAM_END, '');
  const isOpen = path.startsWith('/v1/') && path !== OTHER_ROUTES.tokens;
  if (!isOpen || (grant.operations && !grant.operations.includes(path))) {
    return { reason: 'operation', error: operationNotAllowed(path, grant.operations) };
  }
  if (grant.stops) {
    const requestedStops = namedStops(path, { ...(query as object), ...(params as object) });
    const foreign = requestedStops.find((stop) => !grant.stops?.includes(stop));
    if (requestedStops.length === 0 || foreign !== undefined) {
      return { reason: 'operation', error: stopNotAllowed(grant.stops) };
    }
  }
  return null;
}

export function isExpired({ expiresAt }: Grant, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt * 1000;
}

/**
 * The stops that a request names: `stops=200070@7,200020` names two. Parameter names may be in capitals or have brackets, and a
 * request may mix both.
 */
function namedStops(path: string, parameters: Record<string, unknown>): string[] {
  const parameterName = STOPS_PARAMETERS.get(path);
  const texts = Object.entries(parameters).filter(([name]) => withoutBrackets(name.toLowerCase()) === parameterName);
  return texts.flatMap(([, text]) =>
    String(text)
      .split(',')
      .map((entry) => entry.split('@', 1)[0]?.trim().toUpperCase() ?? ''),
  );
}

const STREAM_END = /\/stream$/;
const ORIGIN = /^(https?:\/\/)(\*\.)?([^\s/?#@:*\\[\]]+|\[[0-9a-f:]+\])(:(?:\d{1,5}|\*))?\/?$/;
/** Cloud domains shared by customers. The Public Suffix List has only longer names, such as `s3.amazonaws.com`. */
const CLOUDS = new Set(['amazonaws.com', 'amazonaws.com.cn', 'azure.com', 'on.aws', 'ovh.net', 'windows.net']);
/** Hosts of the developer's own machine. */
export const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Parses an origin and returns its stored form: `https://www.example.org`, `https://*.example.org` for all subdomains, or
 * `http://localhost:*` for all ports of the developer's machine. Null for other texts.
 */
export function parseOrigin(text: string): string | null {
  const [, scheme, anySubdomain = '', hostText = '', port = ''] = ORIGIN.exec(text.trim().toLowerCase()) ?? [];
  // Browsers send non-ASCII names as Punycode and omit the default port.
  const read = scheme ? URL.parse(scheme + hostText + (port === ':*' ? '' : port)) : null;
  if (!read) return null;
  const { protocol } = read;
  // A trailing dot does not change the name.
  const hostname = read.hostname.replace(/\.$/, '');
  if (port === ':*') return LOCAL.includes(hostname) && !anySubdomain ? `${protocol}//${hostname}:*` : null;
  if (anySubdomain && ownersBelow(hostname) !== 'one') return null;
  return `${protocol}//${anySubdomain}${hostname}${read.port && `:${read.port}`}`;
}

/**
 * Whether a wildcard below the host covers sites of one owner or of many, as below `github.io`. Null for an address or a single
 * name. Existing keys keep such wildcards.
 */
function ownersBelow(host: string): 'one' | 'many' | null {
  const { domain, isSuffix } = ownerOf(host, { hasSites: true });
  if (domain === null) return isSuffix ? 'many' : null;
  return CLOUDS.has(domain) ? 'many' : 'one';
}

/** Whether the origin named by a request is allowed. */
export function allowsOrigin(allowed: readonly string[], requestedOrigin: string): boolean {
  // Other texts are not origins: a program may send anything.
  if (!URL.canParse(requestedOrigin) || new URL(requestedOrigin).origin !== requestedOrigin) return false;
  return allowed.some((origin) => {
    if (origin.endsWith(':*'))
      return requestedOrigin === origin.slice(0, -2) || requestedOrigin.startsWith(origin.slice(0, -1));
    const [scheme = '', suffix] = origin.split('*', 2);
    return suffix === undefined
      ? requestedOrigin === origin
      : requestedOrigin.startsWith(scheme) && requestedOrigin.endsWith(suffix);
  });
}

/** The parameter that names the stops of an operation, by its path. */
const STOPS_PARAMETERS = new Map(Object.values(OPERATION_ROUTES).map(({ path, stops }) => [path as string, stops]));
/** The operations that a key or token can be limited to, including their streams. */
export const OPERATION_PATHS = Object.values(OPERATION_ROUTES).map(({ path }) => path);

const MAX_ORIGINS = 20;
/** The default requests per hour of one visitor. Three streams of a page use 180. */
export const VISITOR_HOUR = 600;
const UNLIMITED_DAY = 10_000;
const MAX_PER_DAY = 10_000_000;

/** An owner's choices for a publishable key, as texts; empty fields get defaults that fit the plan. */
export interface WantedGrant {
  origins: readonly string[];
  apps: boolean;
  operations: readonly string[];
  perDay: string;
  perVisitorHour: string;
}

/** Problems with the choices, by field name. */
export type GrantProblems = Partial<Record<keyof WantedGrant, string>>;

/** The grant for a new publishable key, or the problems with the choices by field name. */
export function makeGrant(
  choices: WantedGrant,
  plan: PlanName,
): { grant: Grant; problems: null } | { grant: null; problems: GrantProblems } {
  const problems: GrantProblems = {};
  const texts = choices.origins.map((text) => text.trim()).filter((text) => text !== '');
  const origins = texts.flatMap((text) => parseOrigin(text) ?? []);
  const invalid = texts.find((text) => parseOrigin(text) === null);
  if (invalid !== undefined) {
    const below = invalid.split('*.')[1] ?? '';
    const problem = ownersBelow(below) === 'many' ? 'covers sites of many owners' : 'is not an origin';
    problems.origins = `${quote(invalid)} ${problem}. Write https://www.example.org, https://*.example.org or http://localhost:*, without a path.`;
  } else if (origins.length > MAX_ORIGINS) problems.origins = `Enter at most ${MAX_ORIGINS} origins.`;
  else if (origins.length === 0 && !choices.apps) {
    problems.origins =
      'Name at least one origin, such as https://www.example.org, or allow requests without an origin.';
  }
  const unknown = choices.operations.find((path) => !STOPS_PARAMETERS.has(path));
  if (unknown !== undefined) {
    problems.operations = `${quote(unknown)} is not one of ${OPERATION_PATHS.join(', ')}.`;
  }
  const { dailyLimit } = PLANS[plan];
  const parseCount = (name: 'perDay' | 'perVisitorHour', text: string, otherwise: number, max: number) => {
    if (text.trim() === '') return Math.min(otherwise, max);
    const count = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
    if (count < 1 || count > max) problems[name] = `Enter a whole number from 1 to ${max.toLocaleString('en')}.`;
    return count;
  };
  const share = dailyLimit === null ? UNLIMITED_DAY : Math.ceil(dailyLimit / 2);
  const perDay = parseCount('perDay', choices.perDay, share, dailyLimit ?? MAX_PER_DAY);
  const perVisitorHour = parseCount('perVisitorHour', choices.perVisitorHour, VISITOR_HOUR, perDay);
  if (Object.keys(problems).length > 0) return { grant: null, problems };
  const operations = choices.operations.length > 0 ? { operations: [...new Set(choices.operations)] } : {};
  const grant = { origins: [...new Set(origins)], apps: choices.apps, ...operations, perDay, perVisitorHour };
  return { grant, problems: null };
}
