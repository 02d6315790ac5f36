import { z } from 'zod';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';

/*
 * Decides whether a feed is trusted. Each poll is accepted or refused; a feed is trusted while its last accepted poll is recent
 * enough. So one failed or halved poll does no harm, but a feed that keeps failing loses trust.
 */

const POLL_FAILURES = ['no response', 'not 200', 'a web page', 'undecodable', 'no calls left'] as const;
const REFUSALS = [...POLL_FAILURES, 'an old header', 'a header from the future', 'halved'] as const;
/** Why a poll returned nothing usable. */
export type PollFailure = (typeof POLL_FAILURES)[number];
/** Why a feed is not trusted. */
export type FeedProblem =
  | (typeof REFUSALS)[number]
  | 'not read yet'
  | 'not polled lately'
  | 'a frozen header'
  | 'runs are not found';

/** Once this many trips have been looked up, the timetable must have half of them. At night a feed has fewer trips. */
export const MIN_COMPARED = 20;
const MAX_HEADER_AGE_MS = 90 * SECOND_MS;
/** A header may be this far ahead of our clock: upstream's clock differs by less. */
const MAX_HEADER_AHEAD_MS = 30 * SECOND_MS;
const FROZEN_MS = 2 * MINUTE_MS;
const MAX_REFUSED_IN_A_ROW = 2;
/** Smaller feeds are not checked: they shrink at night, and the metro has 24 trips in a quiet hour. */
const MIN_TRIPS_TO_HALVE = 20;
/** After this long, the new size of a feed counts as its usual one. */
const HALVED_MS = 10 * MINUTE_MS;
/** Growth up to this factor is normal. Below 2, so that a feed back at its previous size does not count as halved. */
const SUDDEN_GROWTH = 1.5;

/** The poll results of one feed, as shared between instances. Times are in milliseconds since 1970. */
export const feedHealthSchema = z.object({
  /** The last accepted poll; null before the first. */
  accepted: z.object({ at: z.number(), headerAt: z.number(), tripCount: z.number() }).nullable(),
  /**
   * The usual number of trips, against which polls are compared. Null until two polls have confirmed it, because a single one
   * may be an outlier.
   */
  usualTrips: z.number().nullable().default(null),
  /** When the feed began to have far more trips than usual; null if it does not. */
  grownSince: z.number().nullable().default(null),
  /** When the accepted header was first seen. */
  headerSince: z.number(),
  refusedInARow: z.number(),
  /** Why the last poll was refused; null if it was accepted. */
  refusal: z.enum(REFUSALS).nullable(),
});
export type FeedHealth = z.infer<typeof feedHealthSchema>;

export const UNREAD: FeedHealth = {
  accepted: null,
  headerSince: 0,
  refusedInARow: 0,
  refusal: null,
  usualTrips: null,
  grownSince: null,
};

interface MeasuredFeed {
  headerAt: number;
  tripCount: number;
}

/** Judges one poll. `isAccepted` is true if the feed replaces the previous one. */
export function judgePoll(
  health: FeedHealth,
  poll: MeasuredFeed | PollFailure,
  now: number,
): { health: FeedHealth; isAccepted: boolean } {
  const refusal = typeof poll === 'string' ? poll : findRefusal(health, poll, now);
  if (refusal !== null || typeof poll === 'string') {
    return { health: { ...health, refusedInARow: health.refusedInARow + 1, refusal }, isAccepted: false };
  }
  const { accepted } = health;
  const acceptedHealth = { ...health, refusedInARow: 0, refusal: null };
  if (accepted && poll.headerAt <= accepted.headerAt) {
    return { health: { ...acceptedHealth, accepted: { ...accepted, at: now } }, isAccepted: false };
  }
  const { headerAt, tripCount } = poll;
  const growth = countUsualTrips(health, tripCount, now);
  return {
    health: { ...acceptedHealth, accepted: { at: now, headerAt, tripCount }, headerSince: now, ...growth },
    isAccepted: true,
  };
}

/**
 * After sudden growth, the old number stays the usual one until the growth has lasted. Otherwise the next normal feed would
 * count as halved.
 */
function countUsualTrips({ accepted, usualTrips, grownSince }: FeedHealth, tripCount: number, now: number) {
  if (usualTrips === null) return { usualTrips: accepted && Math.min(accepted.tripCount, tripCount), grownSince: null };
  const isGrown = tripCount >= MIN_TRIPS_TO_HALVE && tripCount > usualTrips * SUDDEN_GROWTH;
  if (!isGrown || now - (grownSince ?? now) >= HALVED_MS) return { usualTrips: tripCount, grownSince: null };
  return { usualTrips, grownSince: grownSince ?? now };
}

/** Why the feed is not trusted; null if it is. `intervalMs` is the current time between polls. */
export function findFeedProblem(health: FeedHealth, intervalMs: number, now: number): FeedProblem | null {
  const { accepted, headerSince, refusedInARow, refusal } = health;
  if (!accepted) return refusal ?? 'not read yet';
  const unchangedMs = accepted.at - headerSince;
  if (unchangedMs >= FROZEN_MS) return 'a frozen header';
  if (refusal && refusedInARow > MAX_REFUSED_IN_A_ROW) return refusal;
  if (now - accepted.headerAt <= MAX_HEADER_AGE_MS + intervalMs) return null;
  return refusal ?? (unchangedMs > 0 ? 'a frozen header' : 'an old header');
}

function findRefusal({ accepted, usualTrips }: FeedHealth, { headerAt, tripCount }: MeasuredFeed, now: number) {
  if (accepted && headerAt <= accepted.headerAt) return null;
  if (headerAt > now + MAX_HEADER_AHEAD_MS) return 'a header from the future';
  if (headerAt < now - MAX_HEADER_AGE_MS) return 'an old header';
  if (accepted === null || usualTrips === null || now - accepted.at >= HALVED_MS) return null;
  return usualTrips >= MIN_TRIPS_TO_HALVE && tripCount < usualTrips / 2 ? 'halved' : null;
}
