import type { Change } from '../overlay/overlay.ts';

/*
 * What the departure monitor has to be asked about at one stop. It is asked once for each change, and at most once a
 * minute. Moments in milliseconds since 1970.
 */
export interface ChangeLog {
  note(changes: readonly Change[], now: number): void;
  /** The earliest change that the departure monitor is to be asked about now; null when there is none, or not yet. */
  findDue(now: number): Change | null;
  /** Whether the departure monitor has not been asked about one of these. */
  isAnyOpen(changes: readonly Change[]): boolean;
  /** The departure monitor is being asked about a change. */
  asked(now: number): void;
  /** The departure monitor has said, at `retrievedAt`, what is planned before `until`, and about the change if given. */
  settle(page: { until: number; retrievedAt: number }, about?: Change): void;
  /** What other instances with the same timeline need not ask about. */
  settled(): SettledChanges;
  /** Takes over what another instance has asked about. */
  takeOver(settled: SettledChanges): void;
}

/** Plain data: it is kept as JSON. */
export interface SettledChanges {
  /** Null when the departure monitor was never asked about a change. */
  askedAt: number | null;
  changes: readonly { change: Change; notedAt: number }[];
}

const MINUTE_MS = 60_000;
const PAUSE_MS = MINUTE_MS;
/** A run that comes back after this time has changed again. */
const KEPT_MS = 2 * 60 * MINUTE_MS;
const MAX_CHANGES = 200;

interface Entry {
  change: Change;
  notedAt: number;
  isSettled: boolean;
}

export function createChangeLog(): ChangeLog {
  const entries = new Map<string, Entry>();
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
