import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Log } from '../core/log.ts';
import { timetableFolder } from '../timetable/update/folder.ts';

/*
 * Operator's commands ask a running service through a Unix socket beside its timetable. The permissions of the folder decide who may,
 * and neither the port of callers nor that of metrics is involved: a proxy may forward the one, and the other may be off.
 */

/** A large board is explained in less. */
const TIMEOUT_MS = 10_000;

/** The answer to a path, as JSON. */
export type OperatorAnswers = Readonly<Record<string, (query: URLSearchParams) => Promise<unknown>>>;

/** Each process has a socket of its own in this folder. */
export function operatorFolder({ dataDir, isSandbox }: { dataDir: string; isSandbox: boolean }): string {
  return join(timetableFolder(dataDir, { isSandbox }), 'running');
}

/** Answers operator's commands. Without a socket the service works, and the commands say that none runs. */
export async function openOperatorSocket(
  folder: string,
  answers: OperatorAnswers,
  log: Log,
): Promise<{ close(): Promise<void> }> {
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://operator');
    const answer = answers[pathname];
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const answered = answer?.(searchParams) ?? Promise.reject(new Error(`its version does not know ${pathname}`));
    answered.then(
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
    log.warn({ err }, "operator's commands cannot ask this process: its socket cannot be opened");
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

/** A service runs, but it cannot be asked, or it failed. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** Asks the first service that answers; null if none runs. Throws `NoAnswer`. */
export async function askService(folder: string, path: string): Promise<unknown> {
  let failed: Error | null = null;
  for (const socket of await listSockets(folder)) {
    try {
      return await ask(socket, path);
    } catch (error) {
      if (!isStale(error)) failed = error as Error;
    }
  }
  if (failed) throw new NoAnswer(`The running service cannot be asked: ${failed.message}.`);
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

/** Whether nobody listens at the socket, or no longer. */
function isStale(error: unknown): boolean {
  return ['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

async function ask(socketPath: string, path: string): Promise<unknown> {
  const outgoing = request({ socketPath, path, timeout: TIMEOUT_MS, agent: false });
  outgoing.on('timeout', () => outgoing.destroy(new Error('it does not answer')));
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const body = JSON.parse((await response.setEncoding('utf8').toArray()).join(''));
  if (response.statusCode !== 200) throw new Error(body.error);
  return body;
}
