import { connect, type Socket } from 'node:net';

/** A TCP connection for HTTP written by hand. */
export interface RawConnection {
  socket: Socket;
  write(text: string): void;
  /** Everything received so far. */
  received(): string;
  /** Resolves once the received text matches. Rejects if the connection closes first. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with everything received when the other side has closed. */
  closed: Promise<string>;
}

export async function openConnection(port: number): Promise<RawConnection> {
  // Stays half open like a careless client: it does not close its end when the other side does.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let text = '';
  const waiting = new Set<() => void>();
  socket.on('data', (chunk) => {
    text += chunk;
    for (const check of waiting) check();
  });
  socket.on('error', () => {});
  const closed = new Promise<string>((resolve) => {
    socket.once('end', () => resolve(text)).once('close', () => resolve(text));
  });
  return {
    socket,
    write: (more) => socket.write(more),
    received: () => text,
    closed,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!pattern.test(text)) return;
          waiting.delete(check);
          resolve(text);
        };
        waiting.add(check);
        closed.then(() => reject(new Error(`closed after: ${text}`)));
        check();
      }),
  };
}

/** The responses in the text received over one connection, as far as they give their length. */
export function readResponses(text: string): { status: number; headers: Headers; body: string }[] {
  const responses: { status: number; headers: Headers; body: string }[] = [];
  for (let rest = text; rest !== ''; ) {
    const [head, after] = splitOnce(rest, '\r\n\r\n');
    const [statusLine = '', ...lines] = head.split('\r\n');
    const headers = new Headers(lines.map((line) => splitOnce(line, ': ')));
    const length = Number(headers.get('content-length') ?? 0);
    responses.push({ status: Number(statusLine.split(' ')[1]), headers, body: after.slice(0, length) });
    rest = after.slice(length);
  }
  return responses;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
