import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { ensureProgram } from './debian.ts';
import { freePort } from './free-port.ts';

export interface Balancer {
  url: string;
  port: number;
  /** The port for TLS. */
  tlsPort: number;
  stop(): Promise<void>;
}

/**
 * nginx with the configuration of `deploy/balancer`, in front of instances on loopback ports. It replaces only the port, the
 * folder for temporary files, the addresses of the instances (Docker's DNS in containers) and, if given, the time limits for
 * responses and headers and the number of requests per address. With a certificate and its key, it sets up TLS as its template
 * does.
 */
export async function startBalancer(
  instancePorts: readonly number[],
  options: {
    answerTimeout?: string;
    headerTimeout?: string;
    requestsOfAnAddress?: number;
    tls?: { cert: string; key: string };
  } = {},
): Promise<Balancer> {
  ensureProgram('nginx', 'nginx-light');
  const directory = mkdtempSync(join(tmpdir(), 'transit-balancer-'));
  // nginx started as root runs as another user.
  chmodSync(directory, 0o777);
  const port = await freePort();
  const { tls } = options;
  const main = Object.entries({
    'proxy_read_timeout 15s': options.answerTimeout,
    'client_header_timeout 10s': options.headerTimeout,
    'limit_conn addresses 1000': options.requestsOfAnAddress,
  }).reduce(
    (text, [line, value]) => (value === undefined ? text : replaced(text, line, line.replace(/\d+s?$/, String(value)))),
    readFileSync('deploy/balancer/nginx.conf', 'utf8'),
  );
  const instances = readFileSync('deploy/balancer/instances.conf', 'utf8');
  writeFileSync(
    join(directory, 'nginx.conf'),
    replaced(main, 'listen 8080', `listen 127.0.0.1:${port}`).replaceAll('/tmp/', `${directory}/`),
  );
  const listed = replaced(
    replaced(instances, /^resolver .*$/m, ''),
    /^ *server api:3000 resolve (.*);$/gm,
    (_, options) => instancePorts.map((instance) => `server 127.0.0.1:${instance} ${options};`).join('\n'),
  );
  writeFileSync(join(directory, 'instances.conf'), listed);

  const tlsPort = await freePort();
  if (tls) {
    const template = readFileSync('deploy/balancer/tls/tls.conf.template', 'utf8');
    mkdirSync(join(directory, 'tls'));
    writeFileSync(join(directory, 'tls', 'cert.pem'), tls.cert);
    writeFileSync(join(directory, 'tls', 'key.pem'), tls.key);
    const listening = replaced(template, 'listen 8443', `listen 127.0.0.1:${tlsPort}`);
    writeFileSync(join(directory, 'tls', 'tls.conf'), listening);
  }

  const child = spawn('nginx', ['-p', directory, '-c', join(directory, 'nginx.conf'), '-g', 'daemon off;'], {
    stdio: 'ignore',
  });
  const killIt = () => child.kill('SIGKILL');
  process.once('exit', killIt);
  const url = `http://127.0.0.1:${port}`;
  const exited = once(child, 'exit');
  await vi.waitUntil(
    async () => {
      if (child.exitCode !== null) throw new Error('nginx did not start');
      return isListening(port);
    },
    { interval: 20, timeout: 60_000 },
  );
  return {
    url,
    port,
    tlsPort,
    async stop() {
      process.off('exit', killIt);
      child.kill('SIGTERM');
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function replaced(text: string, part: string | RegExp, by: string | ((...match: string[]) => string)): string {
  const changed = text.replace(part, by as string);
  if (changed === text) throw new Error(`the configuration of the balancer has no ${part}`);
  return changed;
}

/** Connects without a request, which an instance would receive. */
function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}
