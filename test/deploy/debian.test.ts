import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import { ensureProgram } from '../support/debian.ts';
import { startRedis } from '../support/redis.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const unit = read('deploy/systemd/transit@.service');
const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'transit-debian-'));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('the systemd units', () => {
  it.each(['transit@.service', 'transit-backup.service'])('%s is rated below 3 by systemd-analyze security', (name) => {
    ensureProgram('systemd-analyze', 'systemd');
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', `deploy/systemd/${name}`], {
      encoding: 'utf8',
    });
    const [, rating] = /Overall exposure level for .*: ([\d.]+) /.exec(stdout) ?? [];
    expect(Number(rating)).toBeLessThan(3);
  });

  it('start an instance with the options of `npm start`', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const [, options] = /exec node \$\(.*?\) (.*)$/.exec(scripts.start) ?? [];
    expect(unit).toContain(`\nExecStart=/usr/bin/node ${options}\n`);
    expect(unit).toMatch(/^Environment=.*MALLOC_ARENA_MAX=1$/m);
  });

  it('give an instance the memory that a container has', () => {
    const [, megabytes] = /api:[\s\S]*?mem_limit: (\d+)m/.exec(read('docker-compose.yml')) ?? [];
    expect(unit).toContain(`\nMemoryMax=${megabytes}M\n`);
  });
});

describe('nginx', () => {
  it('of Debian accepts our site beside its own configuration', () => {
    ensureProgram('nginx', 'nginx-light');
    const folder = newFolder();
    cpSync('/etc/nginx', folder, { recursive: true });
    rmSync(join(folder, 'sites-enabled'), { recursive: true, force: true });
    mkdirSync(join(folder, 'transit'));
    cpSync('deploy/nginx/transit.conf', join(folder, 'conf.d', 'transit.conf'));
    cpSync('deploy/nginx/instances.conf', join(folder, 'transit', 'instances.conf'));
    const main = read('/etc/nginx/nginx.conf').replaceAll('/etc/nginx/', `${folder}/`);
    writeFileSync(join(folder, 'nginx.conf'), main.replace(/^pid .*;$/m, `pid ${folder}/nginx.pid;`));
    const { status, stderr } = spawnSync('nginx', ['-t', '-c', join(folder, 'nginx.conf')], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
  });

  it('treats instances in containers as it treats those on one machine', () => {
    const withoutAddresses = (text: string) =>
      text
        .replaceAll(/#.*|^resolver .*;$/gm, '')
        .replaceAll(/server (?:api:3000 resolve|127\.0\.0\.1:\d+) /g, 'server ')
        .split('\n')
        .map((line) => line.trim())
        .filter((line, at, lines) => line !== '' && line !== lines[at - 1]);
    expect(withoutAddresses(read('deploy/nginx/instances.docker.conf'))).toEqual(
      withoutAddresses(read('deploy/nginx/instances.conf')),
    );
  });
});

describe('Redis', () => {
  it('with our configuration keeps every write in a file and evicts nothing', async () => {
    const settings = read('deploy/redis/redis.conf')
      .split('\n')
      .filter((line) => line && !/^(#|bind|port|dir)/.test(line))
      .flatMap((line) => {
        const [name, ...values] = line.split(' ');
        return [`--${name}`, ...values.map((value) => value.replaceAll('"', ''))];
      });
    const redis = await startRedis(...settings);
    const client = new Redis(redis.url);
    const settingOf = async (name: string) => ((await client.config('GET', name)) as string[])[1];
    expect(await settingOf('appendonly')).toBe('yes');
    expect(await settingOf('appendfsync')).toBe('everysec');
    expect(await settingOf('save')).toBe('');
    expect(await settingOf('maxmemory')).toBe(String(384 * 1024 * 1024));
    expect(await settingOf('maxmemory-policy')).toBe('noeviction');
    client.disconnect();
    await redis.stop();
  });

  it('leaves half of its memory in a container for rewriting the file', () => {
    const [, megabytes] = /redis\.conf[\s\S]*?mem_limit: (\d+)m/.exec(read('docker-compose.yml')) ?? [];
    const [, most] = /^maxmemory (\d+)mb$/m.exec(read('deploy/redis/redis.conf')) ?? [];
    expect(Number(megabytes)).toBe(2 * Number(most));
  });
});
