import { HOUR_MS, MINUTE_MS } from '../../clock.ts';
import type { Change } from '../overlay/overlay.ts';

/**
 * The changes at one stop for which a page has to be requested from the departure monitor: once for each change, and at most
 * once a minute. Moments are in milliseconds since 1970.
 */
export interface ChangeLog {
  note(changes: readonly Change[], now: number): void;
  /** Returns the earliest change that a page is to be requested for now; null when there is none, or it is too soon. */
  findDue(now: number): Change | null;
  /** Says whether no page has been requested yet for one of these. */
  isAnyOpen(changes: readonly Change[]): boolean;
  /** Notes that a page is being requested for a change. */
  asked(now: number): void;
  /** A page retrieved at `retrievedAt` lists all departures before `until`, and settles the change if given. */
  settle(page: { until: number; retrievedAt: number }, about?: Change): void;
  /**
   * Returns the settled changes as plain data, for other instances with the same timeline. `askedAt` is null when no page was
   * ever requested for a change.
   */
  settled(): { askedAt: number | null; changes: readonly { change: Change; notedAt: number }[] };
  /** Adds the settled changes of another instance. */
  takeOver(settled: ReturnType<ChangeLog['settled']>): void;
}

const PAUSE_MS = MINUTE_MS;
/** A run that comes back after this time has changed again. */
const KEPT_MS = 2 * HOUR_MS;
const MAX_CHANGES = 200;

export function createChangeLog(): ChangeLog {
  const entries = new Map<string, { change: Change; notedAt: number; isSettled: boolean }>();
  let askedAt = Number.NEGATIVE_INFINITY;

  return {
    note(changes, now) {
      for (const change of changes) {
        const known = entries.get(change.key);
        if (!known) entries.set(change.key, { change, notedAt: now, isSettled: false });
      }
      for (const [key, { notedAt }] of entries) {
        if (entries.size > MAX_CHANGES || now - notedAt > KEPT_MS) entries.delete(key);
      }
    },
    findDue(now) {
      if (now - askedAt < PAUSE_MS) return null;
      const open = [...entries.values()].filter(({ isSettled }) => !isSettled).map(({ change }) => change);
      return open.reduce<Change | null>((first, one) => (first && first.at <= one.at ? first : one), null);
    },
    isAnyOpen: (changes) => changes.some(({ key }) => entries.get(key)?.isSettled === false),
    asked(now) {
      askedAt = now;
    },
    settle({ until, retrievedAt }, about) {
      for (const entry of entries.values()) {
        const isWithin = entry.notedAt <= retrievedAt && entry.change.at < until;
        if (isWithin || entry.change.key === about?.key) entry.isSettled = true;
      }
    },
    settled: () => ({
      askedAt: Number.isFinite(askedAt) ? askedAt : null,
      changes: [...entries.values()]
        .filter(({ isSettled }) => isSettled)
        .map(({ change, notedAt }) => ({ change, notedAt })),
    }),
    takeOver(settled) {
      askedAt = Math.max(askedAt, settled.askedAt ?? askedAt);
      for (const one of settled.changes) {
        const { notedAt } = entries.get(one.change.key) ?? one;
        entries.set(one.change.key, { change: one.change, notedAt, isSettled: true });
      }
    },
  };
}
