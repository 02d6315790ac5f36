import { connect, type Socket } from 'node:net';

/** A TCP connection that one writes HTTP to by hand. */
export interface RawConnection {
  socket: Socket;
  write(text: string): void;
  /** All that has come so far. */
  received(): string;
  /** When as much has come as the pattern asks for. Rejects when the connection closes before. */
  until(pattern: RegExp): Promise<string>;
  /** When the other side has closed, with all that came. */
  closed: Promise<string>;
}

export async function openConnection(port: number): Promise<RawConnection> {
  // Half open: the other side's end is not answered with ours, as a careless client does.
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

/** The responses in what came over one connection, as far as they say their length. */
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
