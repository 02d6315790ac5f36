import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface DelayingProxy {
  port: number;
  /** How long a question and its answer take longer than without the proxy. */
  roundTripMs: number;
  /** Breaks all connections: questions on their way arrive, answers on their way are lost. */
  cut(): void;
  close(): Promise<void>;
}

/** A TCP proxy on loopback that holds every chunk back, as a long distance does. */
export async function startDelayingProxy(targetPort: number, roundTripMs: number): Promise<DelayingProxy> {
  const sockets = new Set<Socket>();
  const nearSockets = new Set<Socket>();
  const server = createServer((near) => {
    nearSockets.add(near);
    near.on('close', () => nearSockets.delete(near));
    const far = connect(targetPort, '127.0.0.1');
    forward(near, far);
    forward(far, near);
  });

  function forward(from: Socket, to: Socket): void {
    let last = Promise.resolve();
    /** In order, also after the distance became shorter. */
    const later = (task: () => void) => {
      const delay = sleep(proxy.roundTripMs / 2);
      last = last.then(() => delay).then(task);
    };
    sockets.add(from);
    from.on('data', (chunk) => later(() => to.write(chunk)));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      later(() => to.destroy());
    });
  }

  await once(server.listen(0, '127.0.0.1'), 'listening');
  const proxy: DelayingProxy = {
    port: (server.address() as AddressInfo).port,
    roundTripMs,
    cut() {
      for (const socket of nearSockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
