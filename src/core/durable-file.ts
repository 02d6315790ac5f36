import { mkdir, open, rename, rm } from 'node:fs/promises';

/** Temporary path for writing a file before renaming it; unique per process, because two may write the same file at once. */
export const draftPath = (path: string, pid: number | undefined = process.pid): string => `${path}.${pid}.draft`;

/** Writes to a temporary file, syncs it and renames it: a crash at any point leaves the old file intact. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const draft = draftPath(path);
  try {
    const handle = await open(draft, 'w', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Creates a folder, with its parents, that only this user may open. */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}
