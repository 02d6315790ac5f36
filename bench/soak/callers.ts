import { connect } from 'node:net';

/** A connection is replaced after so many requests, as those of clients are. */
const REQUESTS_PER_CONNECTION = 2000;

/**
 * Sends `count` requests over so many connections, one at a time on each, and closes them. Responses are counted by status.
 */
export async function send(options: {
  port: number;
  connections: number;
  count: number;
  next: () => string;
  statuses: Map<number, number>;
}): Promise<void> {
  let left = options.count;
  const take = () => left-- > 0;
  await Promise.all(
    Array.from({ length: options.connections }, async () => {
      while (left > 0) await sendOverOne(options, take);
    }),
  );
}

function sendOverOne(
  { port, next, statuses }: { port: number; next: () => string; statuses: Map<number, number> },
  take: () => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    let request = '';
    let requests = 0;
    const socket = connect(port, '127.0.0.1', sendNext);
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const response = readHead(received, request.startsWith('HEAD'));
      if (response === null || received.length < response.bytes) return;
      received = Buffer.alloc(0);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      sendNext();
    });

    function sendNext(): void {
      if (requests++ >= REQUESTS_PER_CONNECTION || !take()) {
        socket.end();
        return;
      }
      request = next();
      socket.write(request);
    }
  });
}

/** Status and length of headers and body; null while headers are missing. */
function readHead(received: Buffer, isHead: boolean): { status: number; bytes: number } | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = received.toString('latin1', 0, end);
  const status = Number(head.slice(9, 12));
  const length = isHead || status === 304 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
  if (Number.isNaN(length)) throw new Error(`a response without a length: ${head}`);
  return { status, bytes: end + 4 + length };
}
