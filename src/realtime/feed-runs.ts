import { withoutDate } from '../transit/trip-id.ts';
import { Feed } from './feed/feed.ts';
import { parseFeed, UndecodableFeed } from './feed/feed-reader.ts';
import { TRIP } from './feed/packed-feed.ts';

/** The runs of a feed, for a check of upstream. */
export interface FeedRuns {
  /** Milliseconds since 1970. */
  headerAt: number;
  /** Finds a run by its identifier, with or without the date of publication in it. */
  has(runId: string): boolean;
}

/** Parses a feed; null if the bytes are not one. */
export function parseFeedRuns(bytes: Buffer): FeedRuns | null {
  try {
    const feed = new Feed(parseFeed(bytes));
    const runs = new Set<string>();
    for (let row = 0; row < feed.trips.length; row += TRIP.words) {
      runs.add(withoutDate(feed.textOf(feed.trips[row + TRIP.tripId]) ?? ''));
    }
    return { headerAt: feed.headerAt, has: (runId) => runs.has(withoutDate(runId)) };
  } catch (error) {
    if (error instanceof UndecodableFeed) return null;
    throw error;
  }
}
