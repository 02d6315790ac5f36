import type { FastifyRequest } from 'fastify';
import { parse as parseDomain } from 'tldts';
import { z } from 'zod';
import { HOUR_MS } from '../core/clock.ts';
import { hashOf } from '../core/own-memory.ts';
import type { ApiError } from '../errors/api-error.ts';
import { operationNotAllowed, originNotAllowed, stopNotAllowed, tokenExpired } from '../errors/messages.ts';
import { quote, withoutBrackets } from '../transit/parameter.ts';
import { DAY_SECONDS, endOfDay, utcDay } from './day.ts';
import { clientNetwork } from './limits/client-network.ts';
import { PLANS, type Plan } from './plan.ts';

/**
 * The uses of a publishable key or a token; whatever is absent is not limited. That of a key is stored with the key
 * and never changes, that of a token is signed into the token.
 */
export const grantSchema = z.object({
  /** The web origins whose pages may use the key, as `readOrigin` writes them. */
  origins: z.array(z.string()).optional(),
  /** Whether requests without an origin are taken too: those of apps, scripts and pages opened from a file. */
  apps: z.boolean().optional(),
  /** Paths of operations, as they are documented; their streams are included. */
  operations: z.array(z.string()).optional(),
  /** Only requests that name stops, and none but these. */
  stops: z.array(z.string()).optional(),
  /** Requests of a UTC day with this key: its share of the day of its account. */
  perDay: z.int().min(1).optional(),
  /** Requests of one client network in an hour. */
  perVisitorHour: z.int().min(1).optional(),
  /** Requests with this token, as long as it is valid. */
  requests: z.int().min(1).optional(),
  /** Open streams at once on each instance: of each visitor, or of all who have the token. */
  streams: z.int().min(0).optional(),
  /** Unix seconds. */
  expiresAt: z.int().optional(),
  /** Tells tokens of the same grant apart. */
  id: z.string().optional(),
});
export type Grant = z.infer<typeof grantSchema>;

/** Reads a grant as it was stored; null for a secret key. */
export function readGrant(stored: string | null | undefined): Grant | null {
  return stored ? grantSchema.parse(JSON.parse(stored)) : null;
}

/** Streams at once of a visitor of a page, on each instance, while less than half of the account's streams are open. */
export const VISITOR_STREAMS = 3;

/** A count that a request has to fit into beside the day of its account. */
export interface Allowance {
  name: 'key' | 'visitor' | 'token';
  /** The counter of the account in the store. It begins with a UTC day; one with a third part is kept for two hours. */
  counter: string;
  limit: number;
  windowSeconds: number;
  resetAt: Date;
}

/**
 * Events that are counted of each key and day beside its requests: refusals of a publishable key or a token by their reason, and
 * `browser`, how often a secret key came from a page of another site.
 */
export const LISTED_EVENTS = ['origin', 'operation', 'visitor', 'share', 'account', 'browser'] as const;
export type KeyEvent = (typeof LISTED_EVENTS)[number];

/** Counts the requests with a key on a day. */
export function keyCounter(hash: string, day: string): string {
  return `${day}:${hash.slice(0, 8)}`;
}

export function eventCounter(hash: string, day: string, event: KeyEvent): string {
  return `${keyCounter(hash, day)}.${event}`;
}

/** A short name of the client's network, which cannot be told from it without trying all networks. */
export function visitorOf(key: { hash: string }, ip: string): string {
  return hashOf(`${key.hash} ${clientNetwork(ip)}`).slice(0, 12);
}

export function allowancesOf({ hash }: { hash: string }, grant: Grant, visitor: string, now: Date): Allowance[] {
  const day = utcDay(now);
  const allowances: Allowance[] = [];
  if (grant.perDay !== undefined) {
    const counter = keyCounter(hash, day);
    allowances.push({ name: 'key', counter, limit: grant.perDay, windowSeconds: DAY_SECONDS, resetAt: endOfDay(day) });
  }
  if (grant.perVisitorHour !== undefined) {
    const hour = now.getUTCHours();
    const counter = `${keyCounter(hash, day)}:${hour}:${visitor}`;
    const resetAt = new Date((Math.floor(now.getTime() / HOUR_MS) + 1) * HOUR_MS);
    allowances.push({ name: 'visitor', counter, limit: grant.perVisitorHour, windowSeconds: 3600, resetAt });
  }
  if (grant.requests !== undefined && grant.expiresAt !== undefined) {
    const resetAt = new Date(grant.expiresAt * 1000);
    const counter = `${keyCounter(hash, utcDay(resetAt))}:token:${grant.id}`;
    const windowSeconds = Math.max(1, Math.ceil((resetAt.getTime() - now.getTime()) / 1000));
    allowances.push({ name: 'token', counter, limit: grant.requests, windowSeconds, resetAt });
  }
  return allowances;
}

/** The web origin that a request comes from: `null` as browsers send it, undefined when it names none. */
function originOf({ origin, referer }: FastifyRequest['headers']): string | undefined {
  if (origin !== undefined) return origin;
  return referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : undefined;
}

/** Why the grant does not cover a request; null when it does. */
export function findRefusal(
  grant: Grant,
  { headers, operationPath, query, params }: FastifyRequest,
  now: Date,
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
  const isOpen = path.startsWith('/v1/') && path !== TOKENS_PATH;
  if (!isOpen || (grant.operations && !grant.operations.includes(path))) {
    return { reason: 'operation', error: operationNotAllowed(path, grant.operations) };
  }
  if (grant.stops) {
    const named = namedStops(path, { ...(query as object), ...(params as object) });
    const foreign = named.find((stop) => !grant.stops?.includes(stop));
    if (named.length === 0 || foreign !== undefined) {
      return { reason: 'operation', error: stopNotAllowed(grant.stops) };
    }
  }
  return null;
}

export function isExpired({ expiresAt }: Grant, now: Date): boolean {
  return expiresAt !== undefined && now.getTime() >= expiresAt * 1000;
}

export const TOKENS_PATH = '/v1/tokens';

/**
 * The stops that a request is about: `stops=200070@7,200020` names two. Lists may have their names with brackets or in capitals,
 * and a request may name one in both ways.
 */
function namedStops(path: string, received: Record<string, unknown>): string[] {
  const own = Object.hasOwn(OPERATION_STOPS, path) ? OPERATION_STOPS[path as keyof typeof OPERATION_STOPS] : null;
  const texts = Object.entries(received).filter(([name]) => withoutBrackets(name.toLowerCase()) === own);
  return texts.flatMap(([, text]) =>
    String(text)
      .split(',')
      .map((one) => one.split('@', 1)[0]?.trim().toUpperCase() ?? ''),
  );
}

const STREAM_END = /\/stream$/;
const ORIGIN = /^(https?:\/\/)(\*\.)?([^\s/?#@:*\\[\]]+|\[[0-9a-f:]+\])(:(?:\d{1,5}|\*))?\/?$/;
/** Clouds whose customers share a domain. The Public Suffix List has only longer names, such as `s3.amazonaws.com`. */
const CLOUDS = new Set(['amazonaws.com', 'amazonaws.com.cn', 'azure.com', 'on.aws', 'ovh.net', 'windows.net']);
/** Hosts of the developer's own machine. */
export const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/**
 * An origin as it is stored: `https://www.example.org`, `https://*.example.org` for every subdomain, or
 * `http://localhost:*` for every port of the developer's own machine. Null for other texts.
 */
export function readOrigin(text: string): string | null {
  const [, scheme, anySubdomain = '', named = '', port = ''] = ORIGIN.exec(text.trim().toLowerCase()) ?? [];
  // Browsers send other letters as Punycode, and leave the usual port away.
  const read = scheme ? URL.parse(scheme + named + (port === ':*' ? '' : port)) : null;
  if (!read) return null;
  const { protocol } = read;
  // A name with a dot at its end is the same name.
  const hostname = read.hostname.replace(/\.$/, '');
  if (port === ':*') return LOCAL.includes(hostname) && !anySubdomain ? `${protocol}//${hostname}:*` : null;
  if (anySubdomain && ownersBelow(hostname) !== 'one') return null;
  return `${protocol}//${anySubdomain}${hostname}${read.port && `:${read.port}`}`;
}

/**
 * Whose sites a wildcard below the host lets in: those of one owner, or of many, as below `github.io`. Null for an address or a
 * single name. Keys that have a wildcard of many owners already keep it.
 */
function ownersBelow(host: string): 'one' | 'many' | null {
  const { domain, isIcann, isPrivate } = parseDomain(host, { allowPrivateDomains: true });
  if (domain === null) return isIcann || isPrivate ? 'many' : null;
  return CLOUDS.has(domain) ? 'many' : 'one';
}

/** Whether an origin that a request names is one of those. */
export function allowsOrigin(allowed: readonly string[], named: string): boolean {
  // No other text is an origin: what a program sends may be anything.
  if (!URL.canParse(named) || new URL(named).origin !== named) return false;
  return allowed.some((one) => {
    if (one.endsWith(':*')) return named === one.slice(0, -2) || named.startsWith(one.slice(0, -1));
    const [scheme = '', suffix] = one.split('*', 2);
    return suffix === undefined ? named === one : named.startsWith(scheme) && named.endsWith(suffix);
  });
}

/**
 * The operations that a key or a token may be for, by their paths, their streams included; and the parameter that names the stops
 * of a request, by which a token may be bound to some.
 */
export const OPERATION_STOPS = {
  '/v1/departures': 'stop',
  '/v1/arrivals': 'stop',
  '/v1/boards': 'stops',
  '/v1/nearby': null,
  '/v1/stops/search': null,
  '/v1/places/search': null,
  '/v1/stops': null,
  '/v1/stops/{stop_id}': 'stop_id',
  '/v1/trips': null,
  '/v1/trips/{journey_id}': null,
  '/v1/alerts': 'stop',
  '/v1/runs/{run_id}': null,
  '/v1/vehicles': null,
} as const;
export const OPERATION_PATHS = Object.keys(OPERATION_STOPS) as (keyof typeof OPERATION_STOPS)[];

const MAX_ORIGINS = 20;
/** Three streams of a page take 180 an hour. */
export const VISITOR_HOUR = 600;
const UNLIMITED_DAY = 10_000;
const MOST_A_DAY = 10_000_000;

/** The choices of an owner for a publishable key, as texts; whatever is empty has a default that fits the plan. */
export interface WantedGrant {
  origins: readonly string[];
  apps: boolean;
  operations: readonly string[];
  perDay: string;
  perVisitorHour: string;
}

/** The problems of a choice, by the name of the field. */
export type GrantProblems = Partial<Record<keyof WantedGrant, string>>;

/** The grant of a new publishable key, or what is wrong with the choice, by the name of the field. */
export function makeGrant(
  wanted: WantedGrant,
  plan: Plan,
): { grant: Grant; problems: null } | { grant: null; problems: GrantProblems } {
  const problems: GrantProblems = {};
  const given = wanted.origins.map((text) => text.trim()).filter((text) => text !== '');
  const origins = given.flatMap((text) => readOrigin(text) ?? []);
  const wrong = given.find((text) => readOrigin(text) === null);
  if (wrong !== undefined) {
    const below = wrong.split('*.')[1] ?? '';
    const what = ownersBelow(below) === 'many' ? 'stands for the sites of many owners' : 'is not an origin';
    problems.origins = `${quote(wrong)} ${what}. Write https://www.example.org, https://*.example.org or http://localhost:*, without a path.`;
  } else if (origins.length > MAX_ORIGINS) problems.origins = `At most ${MAX_ORIGINS} origins.`;
  else if (origins.length === 0 && !wanted.apps) {
    problems.origins =
      'Name at least one origin, such as https://www.example.org, or allow requests without an origin.';
  }
  const unknown = wanted.operations.find((path) => !Object.hasOwn(OPERATION_STOPS, path));
  if (unknown !== undefined) {
    problems.operations = `${quote(unknown)} is not one of ${OPERATION_PATHS.join(', ')}.`;
  }
  const { dailyLimit } = PLANS[plan];
  const readCount = (name: 'perDay' | 'perVisitorHour', text: string, otherwise: number, most: number) => {
    if (text.trim() === '') return Math.min(otherwise, most);
    const count = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
    if (count < 1 || count > most) problems[name] = `Enter a whole number from 1 to ${most.toLocaleString('en')}.`;
    return count;
  };
  const share = dailyLimit === null ? UNLIMITED_DAY : Math.ceil(dailyLimit / 2);
  const perDay = readCount('perDay', wanted.perDay, share, dailyLimit ?? MOST_A_DAY);
  const perVisitorHour = readCount('perVisitorHour', wanted.perVisitorHour, VISITOR_HOUR, perDay);
  if (Object.keys(problems).length > 0) return { grant: null, problems };
  const operations = wanted.operations.length > 0 ? { operations: [...new Set(wanted.operations)] } : {};
  const grant = { origins: [...new Set(origins)], apps: wanted.apps, ...operations, perDay, perVisitorHour };
  return { grant, problems: null };
}
