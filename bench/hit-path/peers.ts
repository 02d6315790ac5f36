import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureProgram } from '#test/support/debian.ts';

/** A third-party server that does the same job or part of it. */
export interface Peer {
  port: number;
  /** The processor time used so far. */
  cpuMicroseconds(): number;
  stop(): void;
}

const HAFAS = 'hafas-rest-api@5.1.3';
/** Linux counts processor time in hundredths of a second. */
const TICK_MICROSECONDS = 10_000;

/** nginx with a cache in front of a server: one worker, no keys, no quotas. */
export async function startNginx(originPort: number): Promise<Peer> {
  ensureProgram('nginx', 'nginx-light');
  const directory = mkdtempSync(join(tmpdir(), 'transit-bench-nginx-'));
  // nginx started by root runs its worker as another user.
  chmodSync(directory, 0o777);
  const port = await freePort();
  writeFileSync(
    join(directory, 'nginx.conf'),
    `worker_processes 1; pid ${directory}/pid; error_log ${directory}/error.log;
     events { worker_connections 1024; }
     http {
       access_log off;
       keepalive_requests 1000000000;
       client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
       fastcgi_temp_path ${directory}/fastcgi; uwsgi_temp_path ${directory}/uwsgi; scgi_temp_path ${directory}/scgi;
       proxy_cache_path ${directory}/cache keys_zone=responses:10m;
       server {
         listen 127.0.0.1:${port};
         location / {
           proxy_pass http://127.0.0.1:${originPort};
           proxy_cache responses;
           proxy_cache_valid 200 1h;
           proxy_ignore_headers Cache-Control Expires Vary;
         }
       }
     }`,
  );
  const child = spawn('nginx', ['-p', directory, '-c', join(directory, 'nginx.conf'), '-g', 'daemon off;']);
  await untilListening(port);
  return {
    port,
    cpuMicroseconds: () => sum(childrenOf(child.pid).filter(isWorker).map(cpuOfProcess)),
    stop() {
      child.once('exit', () => rmSync(directory, { recursive: true }));
      child.kill('SIGQUIT');
    },
  };
}

/** The REST API of HAFAS with a client that responds at once, from the npm registry; null if that is unreachable. */
export async function startHafas(body: object): Promise<Peer | null> {
  const directory = mkdtempSync(join(tmpdir(), 'transit-bench-hafas-'));
  try {
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', HAFAS], { cwd: directory });
  } catch {
    rmSync(directory, { recursive: true });
    return null;
  }
  writeFileSync(join(directory, 'body.json'), JSON.stringify(body));
  writeFileSync(join(directory, 'server.js'), hafasServer);
  const child = spawn(process.execPath, ['server.js'], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return {
    port: Number(line),
    cpuMicroseconds: () => cpuOfProcess(String(child.pid)),
    stop() {
      child.once('exit', () => rmSync(directory, { recursive: true }));
      child.kill();
    },
  };
}

const hafasServer = `
import { readFileSync } from 'node:fs';
import { createHafasRestApi } from 'hafas-rest-api';
const body = JSON.parse(readFileSync('body.json', 'utf8'));
const profile = { timezone: 'Australia/Sydney', locale: 'en-AU', products: [] };
const hafas = { profile, departures: async () => body };
const api = await createHafasRestApi(hafas, { hostname: 'localhost', name: 'bench', aboutPage: false });
const server = api.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

function childrenOf(pid: number | undefined): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
}

/** Other nginx processes only manage the cache. */
function isWorker(pid: string): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('worker process');
}

function cpuOfProcess(pid: string): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function untilListening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(20);
  }
}
