import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import { issueTestKey } from '../support/access.ts';
import { ensureProgram } from '../support/debian.ts';
import { departureMonitorFor } from '../support/departure-monitor.ts';
import { freePort } from '../support/free-port.ts';
import { type ServerProcess, startServerProcess } from '../support/process.ts';
import { openTestStore, startRedis, type TestRedis } from '../support/redis.ts';
import { startUpstream, type TestUpstream } from '../support/upstream.ts';

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

const UNITS = ['transit@.service', 'transit-backup.service'];

describe('the systemd units', () => {
  it.each(UNITS)('%s is rated below 3 by systemd-analyze security', (name) => {
    ensureProgram('systemd-analyze', 'systemd');
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', `deploy/systemd/${name}`], {
      encoding: 'utf8',
    });
    const [, rating] = /Overall exposure level for .*: ([\d.]+) /.exec(stdout) ?? [];
    expect(Number(rating)).toBeLessThan(3);
  });

  it('the systemd unit starts an instance as `npm start` does', () => {
    expect(unit).toMatch(/^ExecStart=\/opt\/transit\/scripts\/start$/m);
    expect(JSON.parse(read('package.json')).scripts.start).toBe('exec scripts/start');
    expect(statSync('scripts/start').mode & 0o111).toBe(0o111);
  });

  it.each(UNITS)('%s uses the Node that npm installs, because that of Debian runs no TypeScript', (name) => {
    const [, program = ''] = /^ExecStart(?:Pre)?=-?(\S+) .*src\/\S+\.ts/m.exec(read(`deploy/systemd/${name}`)) ?? [];
    const installed = program.replace('/opt/transit', process.cwd());
    const { stdout } = spawnSync(installed, ['--print', 'process.features.typescript'], { encoding: 'utf8' });
    expect(stdout.trim()).toBe('strip');
  });

  it('the systemd units start only programs that exist, with settings that systemd knows', () => {
    ensureProgram('systemd-analyze', 'systemd');
    const folder = newFolder();
    for (const name of [...UNITS, 'transit-backup.timer'])
      writeFileSync(
        join(folder, name.replace('@', '@3001')),
        read(`deploy/systemd/${name}`).replaceAll('/opt/transit', process.cwd()),
      );
    const files = [...UNITS, 'transit-backup.timer'].map((name) => join(folder, name.replace('@', '@3001')));
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes('transit'))).toEqual([]);
  });

  it('the systemd unit gives an instance as much memory as a container has', () => {
    const [, megabytes] = /api:[\s\S]*?mem_limit: (\d+)m/.exec(read('docker-compose.yml')) ?? [];
    expect(unit).toContain(`\nMemoryMax=${megabytes}M\n`);
    // Node takes the lower of both limits for its own, and above MemoryHigh the kernel slows the event loop.
    expect(unit).not.toContain('\nMemoryHigh=');
  });

  it('the systemd unit keeps an instance running when the kernel kills its import', () => {
    expect(unit).toContain('\nOOMPolicy=continue\n');
  });

  it('the systemd units let a backup open accounts in DATA_DIR', () => {
    expect(read('deploy/systemd/transit-backup.service')).toContain('\nStateDirectory=transit\n');
  });
});

describe('nginx', () => {
  it('nginx of Debian accepts our site along with its own configuration', () => {
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

  it('nginx treats instances in containers like instances on one machine', () => {
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
  it('Redis with our configuration keeps every write in a file and evicts nothing', async () => {
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

  it('Redis leaves half of its container’s memory for rewriting the file', () => {
    const [, megabytes] = /redis\.conf[\s\S]*?mem_limit: (\d+)m/.exec(read('docker-compose.yml')) ?? [];
    const [, most] = /^maxmemory (\d+)mb$/m.exec(read('deploy/redis/redis.conf')) ?? [];
    expect(Number(megabytes)).toBe(2 * Number(most));
  });
});

describe('docs/first-day.md, followed literally', () => {
  /** Commands that need systemd, the network or Transport for NSW. */
  const STUBS = ['apt-get', 'useradd', 'git', 'npm', 'systemctl', 'chown', 'runuser', 'nginx', 'certbot', 'curl'];
  const commands = [...read('docs/first-day.md').matchAll(/^ {3}```sh\n([\s\S]*?)^ {3}```$/gm)]
    .map(([, block = '']) => block.replaceAll(/^ {3}/gm, ''))
    .join('\n');
  let redis: TestRedis;
  let upstream: TestUpstream;
  const instances: ServerProcess[] = [];
  let balancer: ChildProcess | undefined;

  afterAll(async () => {
    balancer?.kill();
    await Promise.all(instances.map((instance) => instance.stop('SIGKILL')));
    await upstream?.close();
    await redis?.stop();
  });

  it('docs/first-day.md, followed literally, leads to two instances behind nginx that share one account', async () => {
    ensureProgram('nginx', 'nginx-light');
    const root = newFolder();
    // Started as root, nginx works as another user.
    chmodSync(root, 0o755);
    cpSync('/etc/nginx', join(root, 'etc/nginx'), { recursive: true });
    for (const folder of ['opt/transit', 'etc/redis', 'etc/systemd/system', 'etc/default', 'etc/prometheus'])
      mkdirSync(join(root, folder), { recursive: true });
    cpSync('deploy', join(root, 'opt/transit/deploy'), { recursive: true });
    const script = [
      ...STUBS.map((name) => `${name}() { :; }`),
      commands.replaceAll(/(?<![\w.])\/(etc|opt|var)\//g, `${root}/$1/`).replaceAll(/^ *(useradd|git) .*$/gm, ''),
    ].join('\n');
    const { status, stderr } = spawnSync('bash', ['-euc', script], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        UPSTREAM_API_KEY: 'made-up',
        REPOSITORY: 'none',
        DOMAIN: 'transit.example.org',
      },
    });
    expect(status, stderr).toBe(0);
    ensureProgram('promtool', 'prometheus');
    const checked = spawnSync('promtool', ['check', 'config', join(root, 'etc/prometheus/prometheus.yml')]);
    expect(checked.status, String(checked.stderr)).toBe(0);
    for (const name of ['instances', 'alertmanagers'])
      expect(read(join(root, `etc/prometheus/targets/${name}.yml`))).toContain('127.0.0.1:9');

    redis = await startRedis();
    const leaves = new Date(Date.now() + 25 * 60_000).toISOString();
    upstream = await startUpstream(({ url }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(departureMonitorFor(url, leaves));
    });
    const store = await openTestStore([redis.url]);
    const key = await issueTestKey(store, { plan: 'developer' });
    await store.close();
    const settings = {
      ...parseEnv(read(join(root, 'etc/transit/transit.env'))),
      REDIS_URL: redis.url,
      UPSTREAM_URL: upstream.url,
    };
    const ports = await Promise.all(
      ['3001', '3002'].map(async (name) => {
        const port = String(await freePort());
        const own = parseEnv(read(join(root, `etc/transit/${name}.env`)));
        expect(own.METRICS_ADDRESS).toBe(name.replace('300', '940'));
        instances.push(await startServerProcess({ ...settings, DATA_DIR: root, PORT: port, LOG_LEVEL: 'info' }));
        return port;
      }),
    );

    const nginx = join(root, 'etc/nginx');
    const port = await freePort();
    const tlsPort = await freePort();
    const site = read(join(nginx, 'conf.d/transit.conf'));
    expect(site).toContain('listen 127.0.0.1:8080 default_server;');
    writeFileSync(join(nginx, 'conf.d/transit.conf'), site.replace('127.0.0.1:8080', `127.0.0.1:${port}`));
    const plainPort = await freePort();
    const plain = read(join(nginx, 'sites-enabled/default'));
    const withOwnPort = plain.replace('listen 80 ', `listen 127.0.0.1:${plainPort} `).replace(/^.*\[::\].*$/m, '');
    writeFileSync(join(nginx, 'conf.d/redirect.conf'), withOwnPort);
    const listed = read(join(nginx, 'transit/instances.conf'));
    writeFileSync(
      join(nginx, 'transit/instances.conf'),
      listed.replaceAll('3001', ports[0] ?? '').replaceAll('3002', ports[1] ?? ''),
    );
    for (const [file, source] of [
      ['cert.pem', 'self-signed.pem'],
      ['key.pem', 'self-signed.key'],
    ] as const) {
      rmSync(join(nginx, 'transit/tls', file));
      cpSync(`test/fixtures/tls/${source}`, join(nginx, 'transit/tls', file));
    }
    const tls = read(join(nginx, 'transit/tls/tls.conf'));
    writeFileSync(join(nginx, 'transit/tls/tls.conf'), tls.replace('listen 443', `listen 127.0.0.1:${tlsPort}`));
    const main = read(join(nginx, 'nginx.conf'));
    writeFileSync(
      join(nginx, 'nginx.conf'),
      main
        .replaceAll('/etc/nginx/', `${nginx}/`)
        .replace(/^pid .*;$/m, `pid ${nginx}/nginx.pid;`)
        .replace(/^.*sites-enabled.*$/m, ''),
    );
    // systemd starts nginx with 1,024 descriptors.
    const start = `ulimit -Sn 1024; exec nginx -c ${join(nginx, 'nginx.conf')} -g 'daemon off; error_log stderr warn;'`;
    balancer = spawn('sh', ['-c', start], { stdio: ['ignore', 'ignore', 'pipe'] });
    let warnings = '';
    balancer.stderr?.on('data', (chunk) => {
      warnings += chunk;
    });

    const statusOf = () =>
      fetch(`http://127.0.0.1:${port}/v1/departures?stop=200060`, { headers: { authorization: `Bearer ${key}` } }).then(
        (response) => response.status,
        () => 0,
      );
    await expect.poll(statusOf).toBe(200);
    expect(warnings).not.toContain('exceed open file resource limit');
    for (let request = 0; request < 10; request++) expect(await statusOf()).toBe(200);
    const sendPlain = async (path: string) => {
      const { status, headers } = await fetch(`http://127.0.0.1:${plainPort}${path}`, { redirect: 'manual' });
      return [status, headers.get('location')];
    };
    expect(await sendPlain('/v1/departures?stop=200060')).toEqual([308, 'https://127.0.0.1/v1/departures?stop=200060']);
    expect(await sendPlain('/.well-known/acme-challenge/none')).toEqual([404, null]);
    // nginx sends nothing for two seconds to an instance that it could not reach at first.
    const hasServed = ({ log }: (typeof instances)[number]) =>
      log.some(({ path, status }) => path === '/v1/departures' && status === 200);
    await expect.poll(async () => (await statusOf()) === 200 && instances.every(hasServed)).toBe(true);
  }, 60_000);
});
