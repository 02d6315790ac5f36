import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Callers {
  /** Sends the request `count` times, one at a time on each connection; every response must be a 200. */
  send(count: number): Promise<void>;
  close(): void;
}

/** Keeps connections open, so that opening them is not measured. */
export async function openCallers(port: number, connections: number, request: string): Promise<Callers> {
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1').setNoDelay(true));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return {
    async send(count) {
      let left = count;
      const take = () => left-- > 0;
      await Promise.all(sockets.map((socket) => sendOver(socket, request, take)));
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function sendOver(socket: Socket, request: string, take: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    socket.on('data', read).on('error', reject);
    next();

    function next(): void {
      received = '';
      if (take()) {
        socket.write(request);
        return;
      }
      socket.off('data', read).off('error', reject);
      resolve();
    }

    function read(chunk: Buffer): void {
      received += chunk.toString('latin1');
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      if (!received.startsWith('HTTP/1.1 200')) reject(new Error(`unexpected response: ${received}`));
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1]);
      if (received.length >= end + 4 + length) next();
    }
  });
}
