import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Test files run concurrently, and only one process can hold the lock of apt. */
const LOCK = join(tmpdir(), 'transit-tests-apt.lock');
const ENVIRONMENT = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };

/**
 * Makes sure that a program is installed. On Debian as root the package is installed if missing; elsewhere the error says what
 * to install.
 */
export function ensureProgram(program: string, debianPackage: string, elsewhere = ''): void {
  if (has(program)) return;
  if (has('apt-get') && process.getuid?.() === 0) install(program, debianPackage);
  if (!has(program)) {
    throw new Error(`These tests need ${program}. Debian: apt-get install ${debianPackage}. ${elsewhere}`.trimEnd());
  }
}

/** If the installation fails, the check afterwards shows it. */
function install(program: string, debianPackage: string): void {
  const script = `command -v ${program} || { apt-get update; apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends ${debianPackage}; }`;
  try {
    execFileSync('flock', [LOCK, 'sh', '-c', script], { stdio: 'ignore', env: ENVIRONMENT });
  } catch {}
}

function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
