import { connect, type Socket } from 'node:net';

export interface OpenLoad {
  /** The latency of each response, counted from when its request was due. */
  latenciesMs: number[];
  /** How much later than due each request was sent. */
  lateMs: number[];
  /** Responses by status. */
  statuses: Record<string, number>;
}

interface Connection {
  socket: Socket;
  received: Buffer[];
  /** Bytes of the response that are still missing; null until its headers are complete. */
  missing: number | null;
  dueAt: number;
}

/**
 * Sends requests at a constant rate, whether or not earlier ones were answered. Latency counts from when a request was due, so a
 * stall of the server or of this client counts for every request that it delays.
 */
export async function sendAtRate(options: {
  port: number;
  connections: number;
  perSecond: number;
  durationMs: number;
  requests: readonly string[];
}): Promise<OpenLoad> {
  const { requests } = options;
  const load: OpenLoad = { latenciesMs: [], lateMs: [], statuses: {} };
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const free = await Promise.all(Array.from({ length: options.connections }, () => open(options.port)));
  for (const connection of free) {
    connection.socket.on('data', (chunk: Buffer) => receive(connection, chunk));
    connection.socket.on('error', reject);
    connection.socket.on('close', () => reject(new Error('the server closed a connection')));
  }
  const startedAt = performance.now();
  const total = Math.floor((options.durationMs / 1000) * options.perSecond);
  let sent = 0;
  const ticks = setInterval(sendDue, 1);
  await promise.finally(() => clearInterval(ticks));
  for (const { socket } of free) socket.removeAllListeners('close').destroy();
  return load;

  /** Sends the requests that are due. Without a free connection, a request waits for the next response. */
  function sendDue(): void {
    const now = performance.now();
    while (sent < total) {
      const dueAt = startedAt + (sent * 1000) / options.perSecond;
      if (dueAt > now) return;
      const connection = free.shift();
      if (!connection) return;
      Object.assign(connection, { dueAt, missing: null, received: [] });
      load.lateMs.push(now - dueAt);
      connection.socket.write(requests[sent++ % requests.length] ?? '', 'latin1');
    }
  }

  function receive(connection: Connection, chunk: Buffer): void {
    if (connection.missing === null) {
      connection.received.push(chunk);
      const head = readHead(connection.received);
      if (!head) return;
      connection.missing = head.missing;
      load.statuses[head.status] = (load.statuses[head.status] ?? 0) + 1;
    } else connection.missing -= chunk.length;
    if (connection.missing > 0) return;
    load.latenciesMs.push(performance.now() - connection.dueAt);
    free.push(connection);
    if (load.latenciesMs.length === total) resolve();
    else sendDue();
  }
}

async function open(port: number): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(port, '127.0.0.1', resolve);
  socket.setNoDelay(true);
  socket.once('error', reject);
  await promise;
  socket.off('error', reject);
  return { socket, received: [], missing: null, dueAt: 0 };
}

/** The status, and how many bytes of the body are missing; null until the headers are complete. */
function readHead(received: readonly Buffer[]): { status: string; missing: number } | null {
  const bytes = Buffer.concat(received);
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = bytes.toString('latin1', 0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return { status: head.slice(9, 12), missing: end + 4 + Number(length ?? 0) - bytes.length };
}
