/*
 * Makes a release, without network: sets the version, dates the changelog, commits and tags. The current version is that of the last
 * tag `v…`; without one, that of package.json.
 *
 *   npm run release -- major|minor|patch|VERSION
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const UNRELEASED = /^## Unreleased$/m;
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();

try {
  const [wanted = ''] = process.argv.slice(2);
  const version = nextVersion(currentVersion(), wanted);
  if (git('status', '--porcelain') !== '') throw new Error('Commit or stash your changes first.');
  if (git('tag', '--list', `v${version}`) !== '') throw new Error(`The tag v${version} exists.`);
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  if (!UNRELEASED.test(changelog)) throw new Error('CHANGELOG.md has no section "## Unreleased".');

  const date = new Date().toISOString().slice(0, 10);
  writeFileSync('CHANGELOG.md', changelog.replace(UNRELEASED, `## ${version}, ${date}`));
  execFileSync('npm', ['version', version, '--no-git-tag-version', '--allow-same-version'], { stdio: 'ignore' });
  git('commit', '--quiet', '--all', '--message', `release: version ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', `Version ${version}`);
  process.stdout.write(`Released ${version} as tag v${version}. Push it with: git push --follow-tags\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

function currentVersion(): string {
  try {
    return git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*').slice(1);
  } catch {
    return JSON.parse(readFileSync('package.json', 'utf8')).version;
  }
}

function nextVersion(current: string, wanted: string): string {
  const [major = 0, minor = 0, patch = 0] = current.split('.').map(Number);
  if (wanted === 'major') return `${major + 1}.0.0`;
  if (wanted === 'minor') return `${major}.${minor + 1}.0`;
  if (wanted === 'patch') return `${major}.${minor}.${patch + 1}`;
  if (/^\d+\.\d+\.\d+$/.test(wanted)) return wanted;
  throw new Error(`"${wanted}" must be major, minor, patch or a version such as 1.2.3.`);
}
