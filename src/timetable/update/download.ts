import { constants } from 'node:fs';
import { copyFile, open, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** `unreachable`: nothing was received. `unusable`: another status than 200, a body that breaks off or is no zip, or no calls left. */
export type DownloadFailure = 'key-refused' | 'unreachable' | 'unusable';

/** The message is for operators, without secrets. */
export class FailedDownload extends Error {
  override readonly name = 'FailedDownload';
  readonly failure: DownloadFailure;

  constructor(failure: DownloadFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** Where the zips come from. */
export interface ScheduleSource {
  /**
   * Writes the zip into `file`. `known` is what an earlier call returned as `lastModified`: null, and no file, where the zip has not changed
   * since. Throws `FailedDownload`.
   */
  fetch(path: string, file: string, known: string | null): Promise<{ lastModified: string | null } | null>;
}

/** Zips in a folder, at upstream's paths: DIR/v1/gtfs/schedule/buses.zip. */
export function folderSource(folder: string): ScheduleSource {
  return {
    async fetch(path, file, known) {
      const from = join(folder, `${path}.zip`);
      const found = await stat(from).catch(() => null);
      if (!found) throw new FailedDownload('unusable', `${from} does not exist`);
      const lastModified = `${found.mtime.toISOString()} ${found.size}`;
      if (lastModified === known) return null;
      await copyFile(from, file, constants.COPYFILE_FICLONE);
      return { lastModified };
    },
  };
}

/** Errors of the gateway can be pages with status 200. Throws `FailedDownload`. */
export async function expectZip(file: string): Promise<void> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
    const start = buffer.toString('latin1', 0, bytesRead);
    if (start.startsWith('PK')) return;
    const what = start.trimStart().startsWith('<') ? 'a web page' : bytesRead === 0 ? 'empty' : 'no zip';
    throw new FailedDownload('unusable', `the response is ${what}`);
  } finally {
    await handle.close();
  }
}
