import { execFileSync } from 'node:child_process';

/**
 * Makes sure that a program is there. On Debian as root the package is installed when it is missing; elsewhere the error
 * says what to install.
 */
export function ensureProgram(program: string, debianPackage: string): void {
  const mayInstall = has('apt-get') && process.getuid?.() === 0;
  // Several test files may come here at once, and only one of them gets the lock of apt: the others try again.
  for (let attempt = 0; attempt < 20 && mayInstall && !has(program); attempt++) install(debianPackage);
  if (!has(program)) throw new Error(`These tests need ${program}. Debian: apt-get install ${debianPackage}.`);
}

function install(debianPackage: string): void {
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  try {
    execFileSync('apt-get', ['update'], options);
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', debianPackage], options);
  } catch {
    execFileSync('sleep', ['5']);
  }
}

function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
