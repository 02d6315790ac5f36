import type { Freshness } from '../transit/freshness.ts';

/** Our name in `Cache-Status`. */
const CACHE_NAME = 'transit';

/**
 * How old an answer is and how long it is good for, as HTTP says it. `max-age` counts from when upstream answered, so
 * what is left of it is `max-age` minus `Age`. Private, because the answer was counted against one account's quota.
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
  const ttl = `hit; ttl=${Math.floor((freshUntil - now) / 1000)}`;
  return shortage === null ? ttl : `${ttl}; detail=upstream-${shortage}`;
}

/** Whether the list of `If-None-Match` holds the tag; compared weakly. Our tags are hashes in quotes. */
export function listsEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.includes(etag.replace(/^W\//, '')) ?? false;
}

/** `If-None-Match: *` matches every answer (RFC 9110, 13.1.2). */
export function matchesAny(ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch?.trim() === '*';
}

function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000));
}
