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
 * Starts nginx as in the container, in front of instances on loopback ports. Only these settings differ: the port, the folder for
 * temporary files, the addresses of the instances and the given options. With a certificate and its key, TLS is set up from its
 * template.
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
  const site = Object.entries({
    'listen 8080': `listen 127.0.0.1:${port}`,
    'proxy_read_timeout 15s': options.answerTimeout && `proxy_read_timeout ${options.answerTimeout}`,
    'client_header_timeout 10s': options.headerTimeout && `client_header_timeout ${options.headerTimeout}`,
    'limit_conn addresses 1000': options.requestsOfAnAddress && `limit_conn addresses ${options.requestsOfAnAddress}`,
  }).reduce(
    (text, [line, by]) => (by ? replaced(text, line, by) : text),
    readFileSync('deploy/nginx/transit.conf', 'utf8'),
  );
  writeFileSync(join(directory, 'transit.conf'), site);
  const main = readFileSync('deploy/nginx/nginx.conf', 'utf8');
  writeFileSync(join(directory, 'nginx.conf'), main.replaceAll('/tmp/', `${directory}/`));
  mkdirSync(join(directory, 'transit', 'tls'), { recursive: true });
  const instances = replaced(
    readFileSync('deploy/nginx/instances.conf', 'utf8').replace(/^ *server 127\.0\.0\.1:3002 .*\n/gm, ''),
    /^ *server 127\.0\.0\.1:3001 (.*);$/gm,
    (_, options) => instancePorts.map((instance) => `server 127.0.0.1:${instance} ${options};`).join('\n'),
  );
  writeFileSync(join(directory, 'transit', 'instances.conf'), instances);

  const tlsPort = await freePort();
  if (tls) {
    const template = readFileSync('deploy/nginx/tls/tls.conf.template', 'utf8');
    const folder = join(directory, 'transit', 'tls');
    writeFileSync(join(folder, 'cert.pem'), tls.cert);
    writeFileSync(join(folder, 'key.pem'), tls.key);
    const listening = replaced(template, 'listen 8443', `listen 127.0.0.1:${tlsPort}`);
    writeFileSync(join(folder, 'tls.conf'), listening);
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
