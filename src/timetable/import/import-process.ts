import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { draftPath, writeDurably } from '../../core/durable-file.ts';
import { pathsFileOf } from '../paths.ts';
import { type FileId, SCHEDULE_FILES } from '../schedule-files.ts';
import { TimetableBuilder } from './builder.ts';
import { findImplausible } from './plausible.ts';
import { type FileReport, readScheduleFile, UnreadableFile } from './read-file.ts';

/** What a child process is to import. */
export interface ImportRequest {
  /** Where the timetable is written. */
  out: string;
  /** Milliseconds since 1970 */
  importedAt: number;
  /** The service day, as a number. */
  today: number;
  files: readonly ImportedFile[];
}

export interface ImportedFile {
  id: FileId;
  /** The path of a zip that takes the place of the last good one if it can be used; null where there is none. */
  candidate: string | null;
  /** The path of the last good zip. */
  kept: string | null;
  /** How many trips the last good one had. */
  tripsBefore: number | null;
  /** The candidate is used however few trips and days it has. */
  isAccepted: boolean;
}

type UsedZip = 'candidate' | 'kept' | 'parts' | 'none';

export type ImportMessage =
  | { kind: 'reading'; id: FileId; isCandidate: boolean }
  /** `problem` says why the candidate, or else the last good zip, was not used. `parts`: the files that stand in for this one were. */
  | { kind: 'read'; id: FileId; used: UsedZip; report: FileReport | null; problem: string | null }
  | { kind: 'building' }
  /** Nothing was written where no file could be used. */
  | { kind: 'done'; isWritten: boolean };

/** Below the service and most others on the machine. */
const PRIORITY = 10;

/** Reads the zips and writes the timetable; `tell` is told how far it is. A file that cannot be used costs itself. */
async function importFiles(
  { files, importedAt, out, today }: ImportRequest,
  tell: (message: ImportMessage) => Promise<void>,
): Promise<void> {
  const pathsFile = pathsFileOf(out);
  const paths = openSync(draftPath(pathsFile), 'w', 0o644);
  const builder = new TimetableBuilder((record) => writeFileSync(paths, record));
  const problems = new Map<FileId, string>();
  let used = 0;

  const tellRead = (id: FileId, used: UsedZip, report: FileReport | null = null) =>
    tell({ kind: 'read', id, used, report, problem: problems.get(id) ?? null });

  /** Returns whether the zip could be used; else `problems` says why. Nothing of it is held afterwards. */
  async function use(imported: ImportedFile, how: 'candidate' | 'kept'): Promise<boolean> {
    const { id, [how]: path, tripsBefore, isAccepted } = imported;
    const isCandidate = how === 'candidate';
    if (!path) return false;
    await tell({ kind: 'reading', id, isCandidate });
    try {
      const file = await readScheduleFile(path, id);
      const problem = isCandidate && !isAccepted ? findImplausible(file.report, tripsBefore, today) : null;
      if (problem !== null) throw new UnreadableFile(problem);
      builder.add(file);
      used++;
      await tellRead(id, how, file.report);
      return true;
    } catch (error) {
      problems.set(id, messageOf(error));
      return false;
    }
  }

  const standsInFor = ({ id }: ImportedFile): FileId | null => SCHEDULE_FILES[id].standsInFor ?? null;
  const none = { candidate: null, kept: null, tripsBefore: null, isAccepted: false };
  for (const id of new Set(files.map((one) => standsInFor(one) ?? one.id))) {
    const file = files.find((one) => one.id === id) ?? { id, ...none };
    if (await use(file, 'candidate')) continue;
    // The parts of a broken file go before its last good zip, which may end soon.
    const before = used;
    for (const part of files.filter((one) => standsInFor(one) === id)) {
      if (!(await use(part, 'candidate')) && !(await use(part, 'kept'))) await tellRead(part.id, 'none');
    }
    if (used > before) await tellRead(id, 'parts');
    else if (!(await use(file, 'kept'))) await tellRead(id, 'none');
  }
  await tell({ kind: 'building' });
  fsyncSync(paths);
  closeSync(paths);
  // First, so that no timetable is without its paths.
  await (used > 0 ? rename(draftPath(pathsFile), pathsFile) : rm(draftPath(pathsFile)));
  if (used > 0) await writeDurably(out, new Uint8Array(builder.finish({ importedAt })));
  await tell({ kind: 'done', isWritten: used > 0 });
}

/** An error of the code ends the process: it is not the fault of a file. */
function messageOf(error: unknown): string {
  if (error instanceof UnreadableFile || (error as NodeJS.ErrnoException).code) return (error as Error).message;
  throw error;
}

if (import.meta.main) {
  try {
    setPriority(PRIORITY);
    // Where memory runs short, the kernel ends this process and not the service.
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // It then runs as the service does.
  }
  process.once('disconnect', () => process.exit(1));
  await importFiles(
    JSON.parse(process.argv[2] ?? ''),
    (message) => new Promise<void>((resolve) => void process.send?.(message, () => resolve())),
  );
  process.exit(0);
}
