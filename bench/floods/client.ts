import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Load {
  /** The latency of each response. */
  latenciesMs: number[];
  /** Responses by status. */
  statuses: Record<string, number>;
}

/** Sends a request on each connection, and the next one after its response. */
export async function keepSending(options: {
  port: number;
  connections: number;
  durationMs: number;
  request: () => string;
}): Promise<Load> {
  const load: Load = { latenciesMs: [], statuses: {} };
  const until = performance.now() + options.durationMs;
  await Promise.all(Array.from({ length: options.connections }, () => sendOnOne(options, until, load)));
  return load;
}

/** The server may close a connection after a response; it is then replaced. */
async function sendOnOne(
  { port, request }: { port: number; request: () => string },
  until: number,
  load: Load,
): Promise<void> {
  while (performance.now() < until) await sendUntilClosed(port, request, until, load);
}

function sendUntilClosed(port: number, request: () => string, until: number, load: Load): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let sentAt = 0;
  let received: Buffer = Buffer.alloc(0);
  const socket = connect(port, '127.0.0.1', send);
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('close', () => resolve());
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const status = wholeAnswer(received);
    if (status === null) return;
    received = Buffer.alloc(0);
    load.latenciesMs.push(performance.now() - sentAt);
    load.statuses[status] = (load.statuses[status] ?? 0) + 1;
    if (performance.now() < until) send();
    else socket.destroy();
  });

  function send(): void {
    sentAt = performance.now();
    socket.write(request(), 'latin1');
  }
  return promise;
}

/** The status of a complete response; null if it is incomplete. */
function wholeAnswer(received: Buffer): string | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = received.toString('latin1', 0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return received.length < end + 4 + Number(length ?? 0) ? null : head.slice(9, 12);
}

/** How much earlier the flood begins, and how much later it ends, than the measurement. */
const HEAD_START_MS = 500;

/** Measures during a flood from another process. `statuses` counts the responses to the flood. */
export async function besideFlood<Measured>(
  [name, port, key, connections]: readonly [name: string, port: number, key: string, connections: string | number],
  durationMs: number,
  measure: () => Promise<Measured>,
): Promise<{ beside: Measured; statuses: Record<string, number> }> {
  const args = [name, port, key, connections, durationMs + 2 * HEAD_START_MS].map(String);
  const flood = fork(new URL('./flood.ts', import.meta.url), args);
  await once(flood, 'message');
  const report = once(flood, 'message');
  await sleep(HEAD_START_MS);
  const beside = await measure();
  const [statuses] = await report;
  return { beside, statuses };
}
