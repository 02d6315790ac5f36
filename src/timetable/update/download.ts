import { constants } from 'node:fs';
import { copyFile, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SECOND_MS } from '../../core/clock.ts';

/**
 * `key-refused`: upstream refuses the key. `unreachable`: nothing was received. `no-calls`: upstream accepts no calls, or none
 * are left. `unusable`: any other status than 200, an incomplete body, or a body that is not a zip.
 */
export type DownloadFailure = 'key-refused' | 'unreachable' | 'no-calls' | 'unusable';

/** The message is for operators and contains no secrets. */
export class FailedDownload extends Error {
  override readonly name = 'FailedDownload';
  readonly failure: DownloadFailure;

  constructor(failure: DownloadFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

export interface ScheduleSource {
  /**
   * Writes the zip to `file`. `knownVersion` is the `lastModified` that an earlier call returned. Returns null and writes no file
   * if the zip has not changed since. Throws `FailedDownload`.
   */
  fetch(path: string, file: string, knownVersion: string | null): Promise<{ lastModified: string | null } | null>;
}

/** A file that changes while it is copied is copied again, up to this many times, after this wait. */
const COPIES = 3;
const COPY_AGAIN_MS = SECOND_MS;

/** Returns zips from a folder with upstream's paths: DIR/v1/gtfs/schedule/buses.zip. */
export function folderSource(folder: string): ScheduleSource {
  return {
    async fetch(path, file, knownVersion) {
      const from = join(folder, `${path}.zip`);
      for (let copies = 1; ; copies++) {
        const lastModified = await versionOf(from);
        if (lastModified === null) throw new FailedDownload('unusable', `${from} does not exist`);
        if (lastModified === knownVersion) return null;
        await copyFile(from, file, constants.COPYFILE_FICLONE);
        if ((await versionOf(from)) === lastModified) return { lastModified };
        if (copies === COPIES) throw new FailedDownload('unusable', `${from} changes while it is copied`);
        await setTimeout(COPY_AGAIN_MS);
      }
    },
  };
}

async function versionOf(path: string): Promise<string | null> {
  const stats = await stat(path).catch(() => null);
  return stats && `${stats.mtime.toISOString()} ${stats.size}`;
}

/** Checks that the file is a zip, because the gateway can return error pages with status 200. Throws `FailedDownload`. */
export async function expectZip(file: string): Promise<void> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
    const start = buffer.toString('latin1', 0, bytesRead);
    if (start.startsWith('PK')) return;
    const content = start.trimStart().startsWith('<') ? 'a web page' : bytesRead === 0 ? 'empty' : 'no zip';
    throw new FailedDownload('unusable', `the response is ${content}`);
  } finally {
    await handle.close();
  }
}
