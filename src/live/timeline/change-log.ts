import { HOUR_MS, MINUTE_MS } from '../../clock.ts';
import type { Change } from '../overlay/overlay.ts';

const PAUSE_MS = MINUTE_MS;
/** A run that comes back after this time has changed again. */
const KEPT_MS = 2 * HOUR_MS;
const MAX_CHANGES = 200;

/**
 * The changes at one stop for which a page has to be requested from the departure monitor: once for each change, and at most
 * once a minute. Moments are in milliseconds since 1970.
 */
export class ChangeLog {
  readonly #entries = new Map<string, { change: Change; notedAt: number; isSettled: boolean }>();
  #askedAt = Number.NEGATIVE_INFINITY;

  note(changes: readonly Change[], now: number): void {
    for (const change of changes) {
      if (!this.#entries.has(change.key)) this.#entries.set(change.key, { change, notedAt: now, isSettled: false });
    }
    for (const [key, { notedAt }] of this.#entries) {
      if (this.#entries.size > MAX_CHANGES || now - notedAt > KEPT_MS) this.#entries.delete(key);
    }
  }

  /** Returns the earliest change that a page is to be requested for now; null when there is none, or it is too soon. */
  findDue(now: number): Change | null {
    if (now - this.#askedAt < PAUSE_MS) return null;
    const open = [...this.#entries.values()].filter(({ isSettled }) => !isSettled).map(({ change }) => change);
    return open.reduce<Change | null>((first, one) => (first && first.at <= one.at ? first : one), null);
  }

  /** Says whether no page has been requested yet for one of these. */
  isAnyOpen(changes: readonly Change[]): boolean {
    return changes.some(({ key }) => this.#entries.get(key)?.isSettled === false);
  }

  /** Notes that a page is being requested for a change. */
  asked(now: number): void {
    this.#askedAt = now;
  }

  /** A page retrieved at `retrievedAt` lists all departures before `until`, and settles the change if given. */
  settle({ until, retrievedAt }: { until: number; retrievedAt: number }, about?: Change): void {
    for (const entry of this.#entries.values()) {
      const isWithin = entry.notedAt <= retrievedAt && entry.change.at < until;
      if (isWithin || entry.change.key === about?.key) entry.isSettled = true;
    }
  }

  /**
   * Returns the settled changes as plain data, for other instances with the same timeline. `askedAt` is null when no page was
   * ever requested for a change.
   */
  settled(): { askedAt: number | null; changes: readonly { change: Change; notedAt: number }[] } {
    const settled = [...this.#entries.values()].filter(({ isSettled }) => isSettled);
    return {
      askedAt: Number.isFinite(this.#askedAt) ? this.#askedAt : null,
      changes: settled.map(({ change, notedAt }) => ({ change, notedAt })),
    };
  }

  /** Adds the settled changes of another instance. */
  takeOver({ askedAt, changes }: ReturnType<ChangeLog['settled']>): void {
    this.#askedAt = Math.max(this.#askedAt, askedAt ?? this.#askedAt);
    for (const { change, notedAt } of changes) {
      const known = this.#entries.get(change.key);
      this.#entries.set(change.key, { change, notedAt: known?.notedAt ?? notedAt, isSettled: true });
    }
  }
}
