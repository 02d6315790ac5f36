import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The open connections of a server, and how far the latest request of each has come. */
export interface Connections {
  readonly open: ReadonlySet<Socket>;
  /** Whether its latest request has arrived whole and is not answered yet. */
  isBeingAnswered(socket: Socket): boolean;
  /** Whether a response written to it now is taken for the response to the message that the client is sending. */
  canBeAnswered(socket: Socket): boolean;
}

export function watchConnections(server: Server): Connections {
  const open = new Set<Socket>();
  const latest = new Map<Socket, ServerResponse>();

  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      latest.delete(socket);
    });
  });
  server.on('request', (request, response) => {
    latest.set(request.socket, response);
  });
  return {
    open,
    isBeingAnswered(socket) {
      const response = latest.get(socket);
      return response?.req.complete === true && !response.writableFinished;
    },
    canBeAnswered(socket) {
      const response = latest.get(socket);
      if (!socket.writable) return false;
      return !response?.headersSent || (response.req.complete && response.writableFinished);
    },
  };
}
