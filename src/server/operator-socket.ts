import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Log } from '../core/log.ts';
import { timetableFolder } from '../timetable/update/folder.ts';

/*
 * Operators' commands query a running service through a Unix socket beside its timetable. Folder permissions decide who may. They
 * use neither the public port, which a proxy may forward, nor that of metrics, which may be off.
 */

/** The longest wait for a response. Explaining a large board takes less. */
const TIMEOUT_MS = 10_000;

/** The handler of each path. Its result is sent as JSON. */
export type OperatorHandlers = Readonly<Record<string, (query: URLSearchParams) => Promise<unknown>>>;

/** The folder of the sockets, one for each running process. */
export function operatorFolder({ dataDir, isSandbox }: { dataDir: string; isSandbox: boolean }): string {
  return join(timetableFolder(dataDir, { isSandbox }), 'running');
}

/** Serves operators' commands. If the socket cannot be opened, the service runs without it, and commands report that no service runs. */
export async function openOperatorSocket(
  folder: string,
  handlers: OperatorHandlers,
  log: Log,
): Promise<{ close(): Promise<void> }> {
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://operator');
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const result =
      handlers[pathname]?.(searchParams) ?? Promise.reject(new Error(`its version does not know ${pathname}`));
    result.then(
      (body) => send(200, body),
      (err: Error) => {
        log.warn({ err }, "an operator's command failed");
        send(500, { error: err.message });
      },
    );
  });
  const path = join(folder, `${randomBytes(4).toString('hex')}.sock`);
  try {
    await mkdir(folder, { recursive: true });
    await removeStale(folder);
    server.listen(path);
    await once(server, 'listening');
    await chmod(path, 0o600);
  } catch (err) {
    log.warn({ err }, "operators' commands cannot reach this process: its socket cannot be opened");
  }
  server.unref();
  return {
    async close() {
      server.closeAllConnections();
      if (!server.listening) return;
      server.close();
      await rm(path, { force: true });
    },
  };
}

/** A service runs, but did not respond or failed. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';
}

/** Queries the first service that responds; null if none runs. Throws `NoResponse`. */
export async function queryService(folder: string, path: string): Promise<unknown> {
  let failed: Error | null = null;
  for (const socket of await listSockets(folder)) {
    try {
      return await send(socket, path);
    } catch (error) {
      if (!isStale(error)) failed = error as Error;
    }
  }
  if (failed) throw new NoResponse(`The request to the running service failed: ${failed.message}.`);
  return null;
}

async function listSockets(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith('.sock')).map((name) => join(folder, name));
}

/** Removes the sockets of processes that were killed. */
async function removeStale(folder: string): Promise<void> {
  for (const socket of await listSockets(folder)) {
    const connection = connect(socket);
    try {
      await once(connection, 'connect');
    } catch (error) {
      if (isStale(error)) await rm(socket, { force: true });
    }
    connection.destroy();
  }
}

/** Whether no process listens at the socket. */
function isStale(error: unknown): boolean {
  return ['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

async function send(socketPath: string, path: string): Promise<unknown> {
  const outgoing = request({ socketPath, path, timeout: TIMEOUT_MS, agent: false });
  outgoing.on('timeout', () => outgoing.destroy(new Error('it does not respond')));
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const body = JSON.parse((await response.setEncoding('utf8').toArray()).join(''));
  if (response.statusCode !== 200) throw new Error(body.error);
  return body;
}
