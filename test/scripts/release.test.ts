import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ensureProgram } from '../support/debian.ts';

const SCRIPT = resolve('scripts/release.ts');
let folder: string;
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
const release = (wanted: string) => spawnSync(process.execPath, [SCRIPT, wanted], { cwd: folder, encoding: 'utf8' });
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const versionOf = (file: string) => JSON.parse(read(file)).version;

beforeAll(() => ensureProgram('git', 'git'));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'transit-release-'));
  cpSync('package.json', join(folder, 'package.json'));
  cpSync('package-lock.json', join(folder, 'package-lock.json'));
  writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n- News.\n');
  git('init', '--quiet');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.test');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'begin');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('npm run release', () => {
  it('npm run release sets the version everywhere, dates the changelog, commits and tags', () => {
    const { status, stderr } = release('1.2.3');
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect([versionOf('package.json'), versionOf('package-lock.json')]).toEqual(['1.2.3', '1.2.3']);
    expect(read('CHANGELOG.md')).toMatch(/^## 1\.2\.3, \d{4}-\d{2}-\d{2}\n\n- News\.$/m);
    expect(git('describe', '--tags', '--exact-match')).toBe('v1.2.3');
    expect(git('log', '-1', '--format=%s')).toBe('release: version 1.2.3');
    expect(git('status', '--porcelain')).toBe('');
  });

  it.each([
    ['major', '2.0.0'],
    ['minor', '1.3.0'],
    ['patch', '1.2.4'],
  ])('npm run release derives a %s version from the last tag, not from package.json', (wanted, version) => {
    git('tag', 'v1.2.3');
    expect(release(wanted).status).toBe(0);
    expect(git('describe', '--tags', '--abbrev=0')).toBe(`v${version}`);
  });

  it.each([
    ['an unknown step', 'big', 'must be major, minor, patch or a version', () => {}],
    ['a tag that exists', '1.2.3', 'The tag v1.2.3 exists', () => git('tag', 'v1.2.3')],
    ['uncommitted changes', 'patch', 'Commit or stash', () => writeFileSync(join(folder, 'new'), '')],
    [
      'a changelog without news',
      'patch',
      'no section "## Unreleased"',
      () => {
        writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n');
        git('commit', '--quiet', '--all', '--message', 'no news');
      },
    ],
  ])('npm run release refuses %s and changes nothing', (_case, wanted, message, prepare) => {
    prepare();
    const before = git('log', '-1', '--format=%H');
    const { status, stderr } = release(wanted);
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(git('log', '-1', '--format=%H')).toBe(before);
  });
});
