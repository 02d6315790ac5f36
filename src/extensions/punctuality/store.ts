import { hash } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { SECOND_MS } from '../../core/clock.ts';
import { Int32Column } from '../../core/columns.ts';
import { serviceDayStart } from '../../timetable/service-day.ts';
import { joinParts, packRuns, type RecordedRun, unpackRuns } from './day-runs.ts';
import type { RunOfDay } from './figures.ts';
import type { FinishedRun } from './recorder.ts';

/*
 * The file of recorded runs. `line_day` has the packed runs of each line and service day: in parts while the day goes on, in part
 * 0 afterwards. `profile` has the stops and planned times that runs share.
 */

export const KEPT_DAYS = 90;
const MAX_BYTES = 200 * 1024 * 1024;
/** SQLite truncates its write-ahead log to this size. */
const MAX_WAL_BYTES = 8 * 1024 * 1024;
/** Maximum line days joined in one call, which takes tens of milliseconds. */
const JOINED_AT_ONCE = 200;
const VERSION = 1;
const BUSY_TIMEOUT_MS = 2000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS profile (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    last_day INTEGER NOT NULL,
    calls TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS line_day (
    line TEXT NOT NULL,
    day INTEGER NOT NULL,
    part INTEGER NOT NULL,
    runs BLOB NOT NULL,
    PRIMARY KEY (line, day, part)
  ) STRICT;`;

const SET_SINCE = `INSERT INTO meta VALUES ('since', ?)
  ON CONFLICT DO UPDATE SET value = min(value, excluded.value)`;

/** Shared by all runs with these stops and times between them; stored once. */
interface Profile {
  stopIds: readonly string[];
  /** Seconds after the planned time of the first call. */
  offsets: number[];
}

type RunPart = RunOfDay & { identity: number };

/** Parts are of one run if trip, number of calls, first and last planned time are equal. */
function keyOfPart({ identity, stopIds, seconds }: RunPart): string | null {
  return identity === 0 ? null : `${identity} ${seconds[0]} ${stopIds.length} ${seconds.at(-1)}`;
}

/** Adds, joins, lists and deletes runs in the file. Its methods block. */
export class RunStore {
  readonly #database: DatabaseSync;
  readonly #maxBytes: number;

  /** Throws if the file cannot be used. */
  constructor(path: string, { maxBytes = MAX_BYTES } = {}) {
    this.#maxBytes = maxBytes;
    if (path !== ':memory:') makeFile(path);
    this.#database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      this.#database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
      this.#database.exec(`PRAGMA journal_size_limit = ${MAX_WAL_BYTES}; PRAGMA cache_size = -2048`);
      const { user_version: version } = this.#get('PRAGMA user_version') as { user_version: number };
      if (version > VERSION) throw new Error(`it was written by a newer version (${version}, not ${VERSION})`);
      this.#database.exec(`BEGIN IMMEDIATE; ${SCHEMA} PRAGMA user_version = ${VERSION}; COMMIT`);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Adds runs in one transaction. Throws if they cannot be written; then none is. */
  add(runs: readonly FinishedRun[]): void {
    if (runs.length === 0) return;
    this.#write(() => {
      const starts = runs.map(({ day, seconds }) => serviceDayStart(day) + seconds.valueAt(0) * SECOND_MS);
      const since = starts.reduce((one, other) => Math.min(one, other));
      this.#prepare(SET_SINCE).run(since);
      const next = this.#database.prepare('SELECT max(part) + 1 AS part FROM line_day WHERE line = ? AND day = ?');
      const profiles = new Map<string, number>();
      const insert = this.#database.prepare('INSERT INTO line_day VALUES (?, ?, ?, ?)');
      for (const group of Map.groupBy(runs, ({ lineId, day }) => `${day} ${lineId}`).values()) {
        const [{ lineId, day }] = group as [FinishedRun];
        const packed = packRuns(group.map((run) => this.#toRecorded(run, profiles)));
        const { part } = next.get(lineId, day) as { part: number | null };
        insert.run(lineId, day, part ?? 1, packed);
      }
    });
  }

  /** `profiles` are those that this batch has used already. */
  #toRecorded({ day, identity, stopIds, seconds, late }: FinishedRun, profiles: Map<string, number>): RecordedRun {
    const start = seconds.valueAt(0);
    const calls = JSON.stringify({
      stopIds,
      offsets: Array.from(seconds, (second) => second - start),
    } satisfies Profile);
    const known = profiles.get(calls);
    if (known !== undefined) return { profile: known, start, identity, late };
    const key = Buffer.from(hash('sha256', calls, 'hex').slice(0, 24), 'hex');
    const upsert = `INSERT INTO profile (hash, last_day, calls) VALUES (?, ?, ?)
      ON CONFLICT (hash) DO UPDATE SET last_day = max(last_day, excluded.last_day) RETURNING id`;
    const { id } = this.#prepare(upsert).get(key, day, calls) as { id: number };
    profiles.set(calls, id);
    return { profile: id, start, identity, late };
  }

  /** The recorded runs of a line, oldest day first. `unwritten` are those that are not in the file yet. */
  *list(
    lineId: string,
    { fromDay, untilDay = Number.MAX_SAFE_INTEGER }: { fromDay: number; untilDay?: number },
    unwritten: readonly FinishedRun[] = [],
  ): Generator<[day: number, runs: RunOfDay[]]> {
    const query = 'SELECT day, runs FROM line_day WHERE line = ? AND day >= ? AND day < ? ORDER BY day, part';
    const rows = this.#prepare(query).all(lineId, fromDay, untilDay) as { day: number; runs: Uint8Array }[];
    const parts = Map.groupBy(rows, ({ day }) => day);
    const others = Map.groupBy(unwritten, ({ day }) => day);
    const profiles = new Map<number, Profile>();
    const profileOf = (id: number): Profile => {
      let profile = profiles.get(id);
      if (!profile) {
        const row = this.#prepare('SELECT calls FROM profile WHERE id = ?').get(id) as { calls: string };
        profile = JSON.parse(row.calls) as Profile;
        profiles.set(id, profile);
      }
      return profile;
    };
    const toRun = ({ profile, start, identity, late }: RecordedRun): RunPart => {
      const { stopIds, offsets } = profileOf(profile);
      return { identity, stopIds, seconds: Int32Column.from(offsets, (offset) => start + offset), late };
    };
    const days = new Set([...parts.keys(), ...others.keys()]);
    for (const day of [...days].filter((one) => one >= fromDay && one < untilDay).sort((a, b) => a - b)) {
      const written = (parts.get(day) ?? []).flatMap(({ runs }) => unpackRuns(runs).map(toRun));
      yield [day, joinParts([...written, ...(others.get(day) ?? [])], keyOfPart)];
    }
  }

  /** Joins the parts of some lines on days before `day`. Returns whether more are left. */
  join(day: number): boolean {
    const left = this.#prepare(
      'SELECT line, day FROM line_day WHERE part > 0 AND day < ? GROUP BY line, day LIMIT ?',
    ).all(day, JOINED_AT_ONCE) as { line: string; day: number }[];
    if (left.length === 0) return false;
    this.#write(() => {
      for (const { line, day: of } of left) {
        const rows = this.#prepare('SELECT runs FROM line_day WHERE line = ? AND day = ? ORDER BY part').all(line, of);
        const runs = joinParts(
          rows.flatMap(({ runs: packed }) => unpackRuns(packed as Uint8Array)),
          ({ identity, profile, start }) => (identity === 0 ? null : `${identity} ${profile} ${start}`),
        );
        this.#prepare('DELETE FROM line_day WHERE line = ? AND day = ?').run(line, of);
        const joined = packRuns(runs.map((run) => ({ ...run, identity: 0 })));
        this.#prepare('INSERT INTO line_day VALUES (?, ?, 0, ?)').run(line, of, joined);
      }
    });
    return left.length === JOINED_AT_ONCE;
  }

  /** Deletes the days that are too old, and the oldest ones while the file is too large. */
  prune(today: number): void {
    this.#deleteBefore(today - KEPT_DAYS + 1);
    for (let first = this.#firstDay(); this.bytes() > this.#maxBytes && first !== null; first = this.#firstDay()) {
      this.#deleteBefore(first + 1);
    }
  }

  #deleteBefore(day: number): void {
    const first = this.#firstDay();
    if (first === null || first >= day) return;
    this.#write(() => {
      this.#prepare('DELETE FROM line_day WHERE day < ?').run(day);
      this.#prepare('DELETE FROM profile WHERE last_day < ?').run(day);
    });
    this.#database.exec('PRAGMA incremental_vacuum');
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  #firstDay(): number | null {
    return (this.#get('SELECT min(day) AS day FROM line_day') as { day: number | null }).day;
  }

  /** The size of the file without its free pages. */
  bytes(): number {
    const value = (name: string) => Object.values(this.#get(`PRAGMA ${name}`))[0] as number;
    return (value('page_count') - value('freelist_count')) * value('page_size');
  }

  /** When the first recorded run was planned to begin, in milliseconds since 1970; null if there is none. */
  since(): number | null {
    const row = this.#prepare("SELECT value FROM meta WHERE name = 'since'").get() as { value: number } | undefined;
    return row?.value ?? null;
  }

  close(): void {
    this.#database.close();
  }

  #write(task: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      task();
      this.#database.exec('COMMIT');
    } catch (error) {
      // On a full disk, SQLite has already rolled back.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  readonly #statements = new Map<string, StatementSync>();

  #prepare(sql: string) {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #get(sql: string): Record<string, unknown> {
    return this.#database.prepare(sql).get() as Record<string, unknown>;
  }
}

/** Creates the file, readable by this user only: other users of the machine need not read it. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
}
