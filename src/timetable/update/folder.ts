import { randomUUID } from 'node:crypto';
import { link, open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { draftPath, makePrivateFolder, writeDurably } from '../../core/durable-file.ts';
import type { FileReport } from '../import/schedule-file.ts';
import { pathsFileOf } from '../paths.ts';
import { type FileId, isFileId } from '../schedule-files.ts';
import { NotATimetable, Timetable } from '../timetable.ts';

/*
 * DATA_DIR/timetable has the last good zip of each file, its state, and the last two imports. Every file is written under
 * another name and then renamed, so that a crash at any moment leaves the previous version.
 */

/** The sandbox has a folder of its own, so that a service with an upstream key never opens a made-up timetable. */
export const timetableFolder = (dataDir: string, { isSandbox }: { isSandbox: boolean }): string =>
  join(dataDir, isSandbox ? 'timetable-of-the-sandbox' : 'timetable');

/** The path of the last good zip of a file. */
export const zipPath = (folder: string, id: FileId): string => join(folder, 'files', `${id.replaceAll('/', '-')}.zip`);
/** The path of a downloaded zip that has not been accepted yet. */
export const candidatePath = (folder: string, id: FileId): string => `${zipPath(folder, id)}.new`;

const fileReportSchema: z.ZodType<FileReport> = z.object({
  file: z.custom<FileId>((name) => typeof name === 'string' && isFileId(name)),
  trips: z.number(),
  stopTimes: z.number(),
  busiestDay: z.number().nullable().default(null),
  firstDay: z.string(),
  lastDay: z.string(),
  leftOut: z.record(z.string(), z.number()),
});

const stateSchema = z.object({
  /** When upstream was last checked for a new zip. */
  checkedAt: z.number(),
  /** When the zip in use was last confirmed as upstream's current one; if there is none, when it was first requested. */
  currentAt: z.number(),
  /** Why the zip in use is not upstream's current one, or why there is none; null if it is current. */
  problem: z.string().nullable(),
  /** The zip in use; null if there is none. */
  good: z.object({ report: fileReportSchema, importedAt: z.number(), lastModified: z.string().nullable() }).nullable(),
});

/** The state of one file. Times are in milliseconds since 1970. */
export type FileState = z.infer<typeof stateSchema>;

export type FileStates = Map<FileId, FileState>;

const statesPath = (folder: string) => join(folder, 'files.json');

/** Returns no states if the file is missing or broken; everything is then downloaded again. */
export async function loadStates(folder: string): Promise<FileStates> {
  const text = await readFile(statesPath(folder), 'utf8').catch(() => '{}');
  const states: FileStates = new Map();
  try {
    // A newer version may have files that this one does not.
    for (const [id, state] of Object.entries(JSON.parse(text) as object)) {
      const { success, data } = stateSchema.safeParse(state);
      if (isFileId(id) && success) states.set(id, data);
    }
  } catch {
    // Not valid JSON.
  }
  return states;
}

export function writeStates(folder: string, states: FileStates): Promise<void> {
  return writeDurably(statesPath(folder), `${JSON.stringify(Object.fromEntries(states), null, 1)}\n`);
}

const PATHS_NAME = /^timetable-\d{1,12}\.paths$/;
const TIMETABLE_NAME = /^timetable-(\d{1,12})\.bin$/;
const KEPT_TIMETABLES = 2;

/** Lists the paths of the imports, newest first. */
async function listTimetables(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const secondsOf = (name: string) => Number(TIMETABLE_NAME.exec(name)?.[1] ?? -1);
  return names
    .filter((name) => secondsOf(name) >= 0)
    .sort((a, b) => secondsOf(b) - secondsOf(a))
    .map((name) => join(folder, name));
}

/** Returns the path for a new import. It sorts after all existing ones, even if the clock was set back. */
export async function nextTimetablePath(folder: string, now: number): Promise<string> {
  const [newest = ''] = await listTimetables(folder);
  const newestSeconds = Number(TIMETABLE_NAME.exec(newest.slice(folder.length + 1))?.[1] ?? 0);
  return join(folder, `timetable-${Math.max(Math.floor(now / SECOND_MS), newestSeconds + 1)}.bin`);
}

/** Returns a text that changes with each new import; null while there is none. */
export async function newestSignature(folder: string): Promise<string | null> {
  const [path] = await listTimetables(folder);
  const stats = path && (await stat(path).catch(() => null));
  return stats ? `${path} ${stats.ino} ${stats.mtimeMs} ${stats.size}` : null;
}

/** Opens an import. Throws `NotATimetable`, or the error of the file system. */
export async function openTimetable(path: string): Promise<Timetable> {
  const file = await open(path);
  try {
    const packed = new SharedArrayBuffer((await file.stat()).size);
    const { bytesRead } = await file.read(new Uint8Array(packed));
    if (bytesRead < packed.byteLength) throw new NotATimetable('it is truncated');
    return new Timetable(packed, pathsFileOf(path));
  } finally {
    await file.close();
  }
}

/** Opens the newest readable import; null if there is none. Calls `refused` for each unreadable one. */
export async function openNewest(
  folder: string,
  refused: (path: string, reason: string) => void = () => {},
): Promise<Timetable | null> {
  for (const path of await listTimetables(folder)) {
    try {
      return await openTimetable(path);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (!(error instanceof NotATimetable) && !code) throw error;
      refused(path, message);
    }
  }
  return null;
}

/** Removes all imports except the last two, with their paths. */
export async function removeOldTimetables(folder: string): Promise<void> {
  const timetables = await listTimetables(folder);
  for (const path of timetables.slice(KEPT_TIMETABLES)) await rm(path, { force: true });
  const used = timetables.slice(0, KEPT_TIMETABLES).map(pathsFileOf);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (PATHS_NAME.test(name) && !used.includes(path)) await rm(path, { force: true });
  }
}

/** Creates the folder, and removes files that a killed update left behind. */
export async function prepareFolder(folder: string): Promise<void> {
  const files = join(folder, 'files');
  await makePrivateFolder(files);
  for (const at of [folder, files]) {
    for (const name of await readdir(at)) if (/\.(new|draft)$/.test(name)) await rm(join(at, name), { force: true });
  }
}

const LEASE_RENEWED_EVERY_MS = 20 * SECOND_MS;
/** A lease that was not renewed for this long is over: its holder was killed, or its machine lost. */
const LEASE_OVER_MS = 2 * MINUTE_MS;

/**
 * The tokens of the leases that this process holds. A lease with this process number but another token belongs to an earlier
 * container with the same number.
 */
const heldTokens = new Set<string>();

/** Allows one update of a folder at a time, across all instances that share it. Returns null while another one is running. */
export async function acquireLease(folder: string): Promise<{ release(): Promise<void> } | null> {
  await makePrivateFolder(folder);
  const path = join(folder, 'update.lease');
  const token = randomUUID();
  const lease = JSON.stringify({ host: hostname(), pid: process.pid, token });
  if (await isOver(path)) await rm(path, { force: true });
  // The file is created with its contents in one step: if it were empty after a crash, it would have no owner.
  const draft = draftPath(path);
  try {
    await writeFile(draft, lease);
    await link(draft, path);
  } catch (error) {
    // `ENOENT`: the holder has removed all drafts.
    if (['EEXIST', 'ENOENT'].includes(String((error as NodeJS.ErrnoException).code))) return null;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
  heldTokens.add(token);
  const timer = setInterval(() => utimes(path, new Date(), new Date()).catch(() => {}), LEASE_RENEWED_EVERY_MS).unref();
  return {
    async release() {
      clearInterval(timer);
      heldTokens.delete(token);
      if ((await readFile(path, 'utf8').catch(() => '')) === lease) await rm(path, { force: true });
    },
  };
}

async function isOver(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => null);
  if (!stats) return false;
  if (Date.now() - stats.mtimeMs > LEASE_OVER_MS) return true;
  const holder = await readFile(path, 'utf8')
    .then(JSON.parse)
    .catch(() => null);
  if (holder?.host !== hostname() || !Number.isInteger(holder.pid)) return false;
  return holder.pid === process.pid ? !heldTokens.has(holder.token) : !isRunning(holder.pid);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
