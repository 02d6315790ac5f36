import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Enough digits of a commit to be unambiguous. */
const COMMIT_LENGTH = 12;

/** The version in package.json, and the commit. */
export interface Build {
  version: string;
  commit: string;
}

/** The running build. Its commit is `GIT_COMMIT`, which an image sets, else that of `.git`, else "unknown". */
export function parseBuild({ GIT_COMMIT }: NodeJS.ProcessEnv, folder = ROOT): Build {
  const { version } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as { version: string };
  return { version, commit: (GIT_COMMIT || headOf(folder)).slice(0, COMMIT_LENGTH) };
}

function headOf(folder: string): string {
  try {
    // Pass the path explicitly, so that git uses no surrounding repository and ignores the owner.
    return execFileSync('git', [`--git-dir=${folder}/.git`, 'rev-parse', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}
