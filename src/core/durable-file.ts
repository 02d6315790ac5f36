import { open, rename, rm } from 'node:fs/promises';

/** Where a file is written before it is renamed. Two processes may write the same file at once. */
export const draftPath = (path: string, pid: number | undefined = process.pid): string => `${path}.${pid}.draft`;

/** Writes aside, waits for the disk and renames: a crash at any moment leaves the file of before. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const draft = draftPath(path);
  try {
    const handle = await open(draft, 'w', 0o644);
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
