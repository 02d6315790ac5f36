import { SECOND_MS } from '../core/clock.ts';
import type { Freshness } from '../transit/freshness.ts';

/**
 * Authorization, so that a client-side cache never serves one key's response to another or a revoked key. Origin, because only a page of
 * another origin gets the list of headers that it may read.
 */
export const VARY = 'Accept-Encoding, Authorization, Origin';

/** Our name in `Cache-Status`. */
const CACHE_NAME = 'transit';

/**
 * The age and lifetime of a response as HTTP headers. `max-age` counts from when upstream responded, so the remaining lifetime
 * is `max-age` minus `Age`. Private, because the response was charged to one account.
 */
export function freshnessHeaders(freshness: Freshness, now: number): Record<string, string> {
  const { retrievedAt, freshUntil, staleUntil } = freshness;
  const staleSeconds = wholeSeconds(staleUntil - freshUntil);
  return {
    'cache-control': `private, max-age=${wholeSeconds(freshUntil - retrievedAt)}${staleSeconds > 0 ? `, stale-if-error=${staleSeconds}` : ''}`,
    age: String(wholeSeconds(now - retrievedAt)),
    'cache-status': `${CACHE_NAME}; ${cacheStatus(freshness, now)}`,
  };
}

/** RFC 9211. */
function cacheStatus({ source, shortage, freshUntil }: Freshness, now: number): string {
  if (source === 'upstream') return 'fwd=miss';
  if (source === 'joined') return 'fwd=miss; collapsed';
  const ttl = `hit; ttl=${Math.floor((freshUntil - now) / SECOND_MS)}`;
  return shortage === null ? ttl : `${ttl}; detail=upstream-${shortage}`;
}

const CACHE_STATUS_START = `${CACHE_NAME}; `.length;

/** How a response came about, according to our own `Cache-Status`, which every successful response has; null without it. */
export function sourceOf(header: unknown): string | null {
  if (typeof header !== 'string') return null;
  if (!header.startsWith('hit', CACHE_STATUS_START)) return header.endsWith('collapsed') ? 'joined' : 'upstream';
  if (header.endsWith('upstream-busy')) return 'stale-busy';
  return header.endsWith('upstream-failing') ? 'stale-failing' : 'cache';
}

/** Whether `If-None-Match` lists the tag, by weak comparison. Our tags are hashes in quotes. */
export function listsEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.includes(etag.replace(/^W\//, '')) ?? false;
}

/** `If-None-Match: *` matches every response (RFC 9110, 13.1.2). */
export function matchesAny(ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch?.trim() === '*';
}

function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / SECOND_MS));
}
