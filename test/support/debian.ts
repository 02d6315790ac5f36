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
  ensure(`command -v ${program}`, program, debianPackage, elsewhere);
}

/** The Python of the system, with these modules. Another Python that comes first in the PATH does not see Debian's modules. */
export function ensurePython(modules: readonly string[], debianPackages: string): string {
  const python = has('test -x /usr/bin/python3') ? '/usr/bin/python3' : 'python3';
  ensure(`${python} -c 'import ${modules.join(', ')}'`, `${modules.join(', ')} of Python`, debianPackages, '');
  return python;
}

function ensure(test: string, name: string, debianPackages: string, elsewhere: string): void {
  if (has(test)) return;
  if (has('command -v apt-get') && process.getuid?.() === 0) install(test, debianPackages);
  if (!has(test)) {
    throw new Error(`These tests need ${name}. Debian: apt-get install ${debianPackages}. ${elsewhere}`.trimEnd());
  }
}

/** If the installation fails, the check afterwards shows it. */
function install(test: string, debianPackages: string): void {
  const script = `${test} || { apt-get update; apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends ${debianPackages}; }`;
  try {
    execFileSync('flock', [LOCK, 'sh', '-c', script], { stdio: 'ignore', env: ENVIRONMENT });
  } catch {}
}

function has(test: string): boolean {
  try {
    execFileSync('sh', ['-c', test], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
