import { connect } from 'node:net';

/** Sends the request again and again on each connection, one at a time, and returns how many were answered. */
export async function load(options: {
  port: number;
  connections: number;
  durationMs: number;
  request: string;
}): Promise<{ requests: number; bytes: number }> {
  const until = performance.now() + options.durationMs;
  const counts = await Promise.all(Array.from({ length: options.connections }, () => loadOne(options, until)));
  return {
    requests: counts.reduce((sum, { requests }) => sum + requests, 0),
    bytes: counts[0]?.bytes ?? 0,
  };
}

function loadOne(
  { port, request }: { port: number; request: string },
  until: number,
): Promise<{ requests: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let requests = 0;
    let received: Buffer = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const bytes = answerLength(received);
      if (bytes === null || received.length < bytes) return;
      received = Buffer.alloc(0);
      requests++;
      if (performance.now() < until) {
        socket.write(request);
        return;
      }
      socket.destroy();
      resolve({ requests, bytes });
    });
  });
}

/** The length of headers and body; null while headers are missing. */
function answerLength(received: Buffer): number | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = received.toString('latin1', 0, end);
  if (!/^HTTP\/1\.1 (200|304)/.test(head)) throw new Error(`unexpected answer: ${head}`);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return end + 4 + Number(length ?? 0);
}
