import { connect } from 'node:net';

/** Sends the request, or the requests in turn, on each connection, one at a time, and returns how many were answered. */
export async function load(options: {
  port: number;
  connections: number;
  durationMs: number;
  request: string | readonly string[];
  /** Of every answer; 200 or 304 unless given. */
  status?: number;
}): Promise<{ requests: number; bytes: number }> {
  const until = performance.now() + options.durationMs;
  const requests = [options.request].flat();
  const isExpected = options.status ? new RegExp(`^HTTP/1\\.1 ${options.status} `) : /^HTTP\/1\.1 (200|304) /;
  let next = 0;
  const nextRequest = () => requests[next++ % requests.length] ?? '';
  const counts = await Promise.all(
    Array.from({ length: options.connections }, () => loadOne(options.port, nextRequest, isExpected, until)),
  );
  return {
    requests: counts.reduce((sum, { requests }) => sum + requests, 0),
    bytes: counts[0]?.bytes ?? 0,
  };
}

function loadOne(
  port: number,
  nextRequest: () => string,
  isExpected: RegExp,
  until: number,
): Promise<{ requests: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(nextRequest()));
    let requests = 0;
    let missing = 0;
    let bytes = 0;
    let head: Buffer = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      if (missing === 0) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const length = answerLength(head, isExpected);
        if (length === null) return;
        bytes = length;
        missing = length - head.length;
        head = Buffer.alloc(0);
      } else missing -= chunk.length;
      if (missing > 0) return;
      requests++;
      if (performance.now() < until) {
        socket.write(nextRequest());
        return;
      }
      socket.destroy();
      resolve({ requests, bytes });
    });
  });
}

/** The length of headers and body; null while headers are missing. */
function answerLength(received: Buffer, isExpected: RegExp): number | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = received.toString('latin1', 0, end);
  if (!isExpected.test(head)) throw new Error(`unexpected answer: ${head}`);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return end + 4 + Number(length ?? 0);
}
