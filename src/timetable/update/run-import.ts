import { fork } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { MINUTE_MS, withTimeLimit } from '../../core/clock.ts';
import { draftPath } from '../../core/durable-file.ts';
import { hasLittleMemory, returnFreeMemory } from '../../core/memory-limit.ts';
import { shrinkCaches } from '../../core/own-memory.ts';
import type { ImportMessage, ImportRequest } from '../import/import-process.ts';
import { pathsFileOf } from '../paths.ts';
import type { FileId } from '../schedule-files.ts';

type ReadFile = Extract<ImportMessage, { kind: 'read' }>;

/** What the import process reported before it ended. */
export interface ImportOutcome {
  files: ReadFile[];
  /** Why the process ended early, and the file that it was reading; null if it finished. */
  failure: { reason: string; reading: { id: FileId; isCandidate: boolean } | null } | null;
  /** Whether a new timetable was written. */
  isWritten: boolean;
}

export const IMPORT_PROCESS = new URL('../import/import-process.ts', import.meta.url);
/** The limit of the heap, for JavaScript objects; calls are in typed arrays outside it. */
const MAX_OLD_SPACE_MB = 768;
/**
 * With these options V8 collects garbage more often and returns free pages: less memory for more processor time
 * (bench/import-limit.ts).
 */
export const IMPORT_OPTIONS = [
  `--max-old-space-size=${MAX_OLD_SPACE_MB}`,
  '--max-semi-space-size=2',
  '--memory-saver-mode',
];
/**
 * The time limit. All of New South Wales takes at most a minute and a half, but a busy machine gives this process the least time.
 */
export const IMPORT_MS = 60 * MINUTE_MS;
const MAX_REASON_LENGTH = 300;

/**
 * Frees memory for the import process. It shares the memory limit of this one, and fills it faster than caches shrink by
 * themselves.
 */
function makeRoom(): void {
  shrinkCaches(0);
  returnFreeMemory();
}

/** Reads the zips and writes the timetable in a separate process. Rejects if `signal` is aborted. */
export async function runImport(
  request: ImportRequest,
  {
    limitMs = IMPORT_MS,
    signal,
    onMessage = () => {},
  }: { limitMs?: number; signal?: AbortSignal | undefined; onMessage?: (message: ImportMessage) => void } = {},
): Promise<ImportOutcome> {
  const compileCache = getCompileCacheDir();
  const files: ReadFile[] = [];
  let reading: { id: FileId; isCandidate: boolean } | null = null;
  let done: Extract<ImportMessage, { kind: 'done' }> | null = null;
  if (hasLittleMemory()) makeRoom();
  const child = fork(IMPORT_PROCESS, [JSON.stringify(request)], {
    // The process gets no secrets of the service. With one malloc arena, the thread that unpacks holds no unused memory of its
    // own.
    env: {
      MALLOC_ARENA_MAX: '1',
      MALLOC_MMAP_THRESHOLD_: '131072',
      ...(compileCache && { NODE_COMPILE_CACHE: dirname(compileCache) }),
    },
    execArgv: IMPORT_OPTIONS,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let stderrTail = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = `${stderrTail}${text}`.slice(-20_000);
  });
  child.on('message', (message: ImportMessage) => {
    if (message.kind === 'reading') reading = message;
    else reading = null;
    if (message.kind === 'read') files.push(message);
    if (message.kind === 'done') done = message;
    onMessage(message);
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', (code, signal) => resolve(signal ? `it was ended by ${signal}` : `it ended with code ${code}`));
  });
  const kill = () => child.kill('SIGKILL');
  let reason: string;
  try {
    reason = await withTimeLimit(
      limitMs,
      (limit) => {
        limit.addEventListener('abort', kill, { once: true });
        return ended;
      },
      { signal },
    );
  } finally {
    kill();
  }
  signal?.throwIfAborted();
  const { isWritten = false } = (done as { isWritten: boolean } | null) ?? {};
  if (done) return { files, failure: null, isWritten };
  for (const out of [request.out, pathsFileOf(request.out)]) await rm(draftPath(out, child.pid), { force: true });
  const error =
    /^\w*Error: .*$/m.exec(stderrTail)?.[0] ?? (/heap out of memory/.test(stderrTail) ? 'out of memory' : '');
  return { files, failure: { reason: `${reason} ${error}`.trim().slice(0, MAX_REASON_LENGTH), reading }, isWritten };
}
