import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What links are signed with, kept in the data directory so that they outlive a restart. Made when there is none. */
export async function readLinkSecret(dataDir: string): Promise<string> {
  const path = join(dataDir, 'link-secret');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  try {
    // "wx": of several processes that start at once, one writes and all read the same.
    await writeFile(path, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return (await readFile(path, 'utf8')).trim();
}
