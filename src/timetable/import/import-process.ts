import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { draftPath, writeDurably } from '../../core/durable-file.ts';
import { pathsFileOf } from '../paths.ts';
import { type FileId, SCHEDULE_FILES } from '../schedule-files.ts';
import { TimetableBuilder } from './builder.ts';
import { findImplausible } from './plausible.ts';
import { loadScheduleFile } from './read-file.ts';
import { type FileReport, refuseFile, UnreadableFile } from './schedule-file.ts';

/** The input of the child process. */
export interface ImportRequest {
  /** Where to write the timetable. */
  out: string;
  /** Milliseconds since 1970. */
  importedAt: number;
  /** The service day, as a number. */
  today: number;
  files: readonly ImportedFile[];
}

export interface ImportedFile {
  id: FileId;
  /** The path of a new zip, which replaces the last good one if it is usable; null if there is none. */
  candidate: string | null;
  /** The path of the last good zip. */
  kept: string | null;
  /** The trips of the last good zip on its busiest day; null if unknown. */
  busiestDayBefore: number | null;
  /** Whether to use the candidate no matter how few trips and days it has. */
  isAccepted: boolean;
}

type UsedZip = 'candidate' | 'kept' | 'parts' | 'none';

export type ImportMessage =
  | { kind: 'reading'; id: FileId; isCandidate: boolean }
  /**
   * `problem` is why the candidate, or else the last good zip, was not used. `parts` means that the files that replace this one
   * were used.
   */
  | { kind: 'read'; id: FileId; used: UsedZip; report: FileReport | null; problem: string | null }
  | { kind: 'building' }
  /** Nothing was written if no file was usable. */
  | { kind: 'done'; isWritten: boolean };

/** A nice value: a lower priority than the service and most other processes. */
const PRIORITY = 10;

/** Reads the zips and writes the timetable, and reports progress through `tell`. Only unusable files are skipped. */
async function importFiles(
  { files, importedAt, out, today }: ImportRequest,
  tell: (message: ImportMessage) => Promise<void>,
): Promise<void> {
  const pathsFile = pathsFileOf(out);
  const paths = openSync(draftPath(pathsFile), 'w', 0o644);
  const builder = new TimetableBuilder((record) => writeFileSync(paths, record));
  const problems = new Map<FileId, string>();
  let used = 0;

  const reportRead = (id: FileId, used: UsedZip, report: FileReport | null = null) =>
    tell({ kind: 'read', id, used, report, problem: problems.get(id) ?? null });

  /** Returns whether the zip was usable; otherwise `problems` has the reason. Nothing of it is kept in memory. */
  async function use(imported: ImportedFile, usedZip: 'candidate' | 'kept'): Promise<boolean> {
    const { id, [usedZip]: path, busiestDayBefore, isAccepted } = imported;
    const isCandidate = usedZip === 'candidate';
    if (!path) return false;
    await tell({ kind: 'reading', id, isCandidate });
    try {
      const file = await loadScheduleFile(path, id);
      const problem = isCandidate && !isAccepted ? findImplausible(file.report, busiestDayBefore, today) : null;
      if (problem !== null) throw refuseFile(problem, file.report.leftOut);
      const report = builder.add(file);
      used++;
      await reportRead(id, usedZip, report);
      return true;
    } catch (error) {
      problems.set(id, messageOf(error));
      return false;
    }
  }

  const standsInFor = ({ id }: ImportedFile): FileId | null => SCHEDULE_FILES[id].standsInFor ?? null;
  const none = { candidate: null, kept: null, busiestDayBefore: null, isAccepted: false };
  for (const id of new Set(files.map((file) => standsInFor(file) ?? file.id))) {
    const file = files.find((file) => file.id === id) ?? { id, ...none };
    if (await use(file, 'candidate')) continue;
    // The parts of a broken file are preferred to its last good zip, which may end soon.
    const before = used;
    for (const part of files.filter((file) => standsInFor(file) === id)) {
      if (!(await use(part, 'candidate')) && !(await use(part, 'kept'))) await reportRead(part.id, 'none');
    }
    if (used > before) await reportRead(id, 'parts');
    else if (!(await use(file, 'kept'))) await reportRead(id, 'none');
  }
  await tell({ kind: 'building' });
  fsyncSync(paths);
  closeSync(paths);
  // Paths come first, so that no timetable is without them.
  await (used > 0 ? rename(draftPath(pathsFile), pathsFile) : rm(draftPath(pathsFile)));
  if (used > 0) await writeDurably(out, new Uint8Array(builder.finish({ importedAt })));
  await tell({ kind: 'done', isWritten: used > 0 });
}

/** Rethrows programming errors, which are not the fault of a file and end the process. */
function messageOf(error: unknown): string {
  if (error instanceof UnreadableFile || (error as NodeJS.ErrnoException).code) return (error as Error).message;
  throw error;
}

if (import.meta.main) {
  try {
    setPriority(PRIORITY);
    // If memory runs out, the kernel then kills this process and not the service.
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // If that is not permitted, the process keeps the settings of the service.
  }
  process.once('disconnect', () => process.exit(1));
  await importFiles(
    JSON.parse(process.argv[2] ?? ''),
    (message) => new Promise<void>((resolve) => void process.send?.(message, () => resolve())),
  );
  process.exit(0);
}
