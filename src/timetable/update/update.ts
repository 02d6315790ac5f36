import { rename, rm } from 'node:fs/promises';
import type { Log } from '../../core/log.ts';
import type { ImportMessage } from '../import/import-process.ts';
import { findUncovered } from '../import/plausible.ts';
import type { FileReport } from '../import/schedule-file.ts';
import { FILE_IDS, type FileId, SCHEDULE_FILES } from '../schedule-files.ts';
import { calendarDayAt } from '../service-day.ts';
import { type DownloadFailure, expectZip, FailedDownload, type ScheduleSource } from './download.ts';
import {
  acquireLease,
  candidatePath,
  type FileState,
  type FileStates,
  loadStates,
  nextTimetablePath,
  prepareFolder,
  removeOldTimetables,
  writeStates,
  zipPath,
} from './folder.ts';
import { IMPORT_MS, runImport } from './run-import.ts';

/**
 * The result for one file. `refused`: its contents are unusable. `failed`: it could not be downloaded. In both cases the last
 * good zip stays in use, if there is one.
 */
export interface FileOutcome {
  id: FileId;
  outcome: 'imported' | 'unchanged' | 'refused' | 'failed';
  problem: string | null;
  /** Null unless the download failed. */
  failure: DownloadFailure | null;
  /** The report of the zip in use; null if there is none. */
  report: FileReport | null;
}

export type UpdateProgress = ImportMessage | { kind: 'fetching'; id: FileId };

interface UpdateOptions {
  folder: string;
  /** Null imports the existing zips only. */
  source: ScheduleSource | null;
  /** The files for the timetable; others are not requested. */
  wanted: readonly FileId[];
  /** Whether to make a first timetable without the bundle of all operators, because the bundle takes long. */
  isBundleLast: boolean;
  /** Whether there is a readable timetable; without one, zips are imported even if none is new. */
  hasTimetable: boolean;
  /** Files that are accepted no matter how few trips and days they have. */
  accepted?: ReadonlySet<FileId>;
  now: () => number;
  log: Log<'info' | 'warn' | 'error'>;
  onProgress?: (progress: UpdateProgress) => void;
  signal?: AbortSignal | undefined;
  /** The time limit of an import; `IMPORT_MS` by default. */
  importMs?: number;
}

/** After this many files in a row for which upstream could not be reached or no call was left, the rest are not requested. */
const MAX_LOST = 2;
const LOST = {
  unreachable: 'upstream cannot be reached',
  'no-calls': 'upstream accepts no calls, or none are left',
} as const satisfies Partial<Record<DownloadFailure, string>>;

/** If more files than this crash the import process, the machine is at fault. */
const MAX_CRASHES = 4;

/**
 * Downloads new files, imports them, and keeps the good ones. Returns the result for each file, or null while another update of
 * the folder is running. Rejects if `signal` is aborted.
 */
export async function updateTimetable(options: UpdateOptions): Promise<FileOutcome[] | null> {
  const lease = await acquireLease(options.folder);
  if (!lease) return null;
  try {
    await prepareFolder(options.folder);
    const update = new Update(options, await loadStates(options.folder));
    await update.run();
    const outcomes = [...update.outcomes.values()];
    // One log line for each reason, not for each file.
    for (const [reason, files] of Map.groupBy(outcomes, ({ problem }) => problem)) {
      if (reason === null) continue;
      const fields = { reason, files: files.map(({ id, report }) => (report ? `${id} to ${report.lastDay}` : id)) };
      options.log.warn(fields, 'files of the schedule are not up to date');
    }
    return outcomes;
  } finally {
    await lease.release();
  }
}

function isLost(failure: DownloadFailure): failure is keyof typeof LOST {
  return Object.hasOwn(LOST, failure);
}

class Update {
  readonly outcomes = new Map<FileId, FileOutcome>();
  readonly #options: UpdateOptions;
  readonly #states: FileStates;
  #hasTimetable: boolean;
  /** The latest failures in a row, of kinds that the next file would meet too. */
  #lost: (keyof typeof LOST)[] = [];

  constructor(options: UpdateOptions, states: FileStates) {
    this.#options = options;
    this.#states = states;
    this.#hasTimetable = options.hasTimetable;
  }

  async run(): Promise<void> {
    const { wanted: fileIds } = this.#options;
    const isBundleLast = this.#options.isBundleLast && !this.#hasTimetable;
    await this.#pass(
      fileIds.filter((id) => !SCHEDULE_FILES[id].standsInFor && !(isBundleLast && SCHEDULE_FILES[id].isBundle)),
    );
    const parts = fileIds.filter((id) => {
      const { standsInFor } = SCHEDULE_FILES[id];
      return standsInFor && this.#isBroken(standsInFor);
    });
    if (parts.length > 0) await this.#pass(parts);
    if (isBundleLast) await this.#pass(fileIds.filter((id) => SCHEDULE_FILES[id].isBundle));
    await this.#forgetUnwanted();
  }

  /** Removes the files that are no longer wanted: nothing would renew them, so they would count as out of date for ever. */
  async #forgetUnwanted(): Promise<void> {
    const { folder, wanted } = this.#options;
    const unwanted = [...this.#states.keys()].filter((id) => !wanted.includes(id));
    if (unwanted.length === 0) return;
    for (const id of unwanted) this.#states.delete(id);
    await writeStates(folder, this.#states);
    for (const id of unwanted) await rm(zipPath(folder, id), { force: true });
  }

  /** Whether the file has no good zip, or one that ends too soon and could not be replaced. */
  #isBroken(id: FileId): boolean {
    const state = this.#states.get(id);
    return !state?.good || (state.problem !== null && findUncovered(state.good.report, this.#today()) !== null);
  }

  async #pass(ids: readonly FileId[]): Promise<void> {
    const fetched = new Map<FileId, string | null>();
    for (const id of this.#options.source ? ids : []) {
      const download = await this.#fetch(id, this.#options.source as ScheduleSource);
      if (download) fetched.set(id, download.lastModified);
    }
    if (fetched.size > 0 || !this.#hasTimetable) await this.#import(fetched);
    await writeStates(this.#options.folder, this.#states);
  }

  async #fetch(id: FileId, from: ScheduleSource): Promise<{ lastModified: string | null } | null> {
    const { folder, signal, onProgress } = this.#options;
    const { good } = this.#states.get(id) ?? {};
    signal?.throwIfAborted();
    onProgress?.({ kind: 'fetching', id });
    try {
      const failure = this.#lost[MAX_LOST - 1];
      if (failure) throw new FailedDownload(failure, LOST[failure]);
      const download = await from.fetch(SCHEDULE_FILES[id].path, candidatePath(folder, id), good?.lastModified ?? null);
      this.#lost = [];
      if (download) await expectZip(candidatePath(folder, id));
      else this.#record(id, 'unchanged', good ? findUncovered(good.report, this.#today()) : null);
      return download;
    } catch (error) {
      await rm(candidatePath(folder, id), { force: true });
      if (!(error instanceof FailedDownload)) throw error;
      const { failure } = error;
      this.#lost = isLost(failure) ? [...this.#lost, failure] : [];
      this.#record(id, 'failed', error.message, error.failure);
      return null;
    }
  }

  async #import(fetched: ReadonlyMap<FileId, string | null>): Promise<void> {
    const { folder, wanted, accepted, now, log, signal, onProgress, importMs = IMPORT_MS } = this.#options;
    const candidates = new Set(fetched.keys());
    const startedAt = now();
    for (let crashes = 1; ; crashes++) {
      const files = wanted.flatMap((id) => {
        const { good = null } = this.#states.get(id) ?? {};
        const candidate = candidates.has(id) ? candidatePath(folder, id) : null;
        const keptZip = good ? zipPath(folder, id) : null;
        if (!candidate && !keptZip) return [];
        const busiestDayBefore = good?.report.busiestDay ?? null;
        return [{ id, candidate, kept: keptZip, busiestDayBefore, isAccepted: accepted?.has(id) ?? false }];
      });
      if (files.length === 0) return;
      const out = await nextTimetablePath(folder, now());
      const request = { out, importedAt: now(), today: this.#today(), files };
      const limits = { limitMs: importMs, signal, ...(onProgress && { onMessage: onProgress }) };
      const { files: read, failure, isWritten } = await runImport(request, limits);
      if (!failure) {
        for (const file of read) await this.#settle(file, fetched.get(file.id) ?? null);
        this.#hasTimetable ||= isWritten;
        await removeOldTimetables(folder);
        if (isWritten)
          log.info({ files: read.length, seconds: Math.round((now() - startedAt) / 1000) }, 'schedule imported');
        return;
      }
      const crashedFile = failure.reading;
      if (!crashedFile || crashes > MAX_CRASHES) {
        for (const id of candidates) await this.#refuse(id, `the import failed: ${failure.reason}`);
        log.error({ reason: failure.reason }, 'the import of the schedule failed');
        return;
      }
      // Only the file that ended the process is refused.
      if (crashedFile.isCandidate) candidates.delete(crashedFile.id);
      else this.#stateOf(crashedFile.id).good = null;
      await this.#refuse(crashedFile.id, `the import ended while it was read: ${failure.reason}`);
    }
  }

  /**
   * Keeps or refuses a zip that was read. It runs once the new timetable is in place: if the process crashes before, the zip is
   * downloaded again.
   */
  async #settle(
    { id, used, report, problem }: Extract<ImportMessage, { kind: 'read' }>,
    lastModified: string | null,
  ): Promise<void> {
    const { folder, now } = this.#options;
    const state = this.#stateOf(id);
    if (used === 'candidate' && report) {
      await rename(candidatePath(folder, id), zipPath(folder, id));
      state.good = { report, importedAt: now(), lastModified };
      this.#record(id, 'imported', null);
      for (const part of FILE_IDS.filter((other) => SCHEDULE_FILES[other].standsInFor === id)) {
        this.#states.delete(part);
        await rm(zipPath(folder, part), { force: true });
      }
    } else {
      if (used === 'kept' && report && state.good) state.good.report = report;
      if (used === 'none') state.good = null;
      if (problem) await this.#refuse(id, problem);
    }
  }

  async #refuse(id: FileId, problem: string): Promise<void> {
    await rm(candidatePath(this.#options.folder, id), { force: true });
    this.#record(id, 'refused', problem);
  }

  #record(
    id: FileId,
    outcome: FileOutcome['outcome'],
    problem: string | null,
    failure: DownloadFailure | null = null,
  ): void {
    const state = this.#stateOf(id);
    const now = this.#options.now();
    const report = state.good?.report ?? null;
    state.checkedAt = now;
    state.problem = problem;
    if (problem === null) state.currentAt = now;
    this.outcomes.set(id, { id, outcome, problem, failure, report });
  }

  #stateOf(id: FileId): FileState {
    const now = this.#options.now();
    const state = this.#states.get(id) ?? { checkedAt: now, currentAt: now, problem: null, good: null };
    this.#states.set(id, state);
    return state;
  }

  #today(): number {
    return calendarDayAt(this.#options.now());
  }
}
