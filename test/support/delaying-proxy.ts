import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { sleep, systemClock } from '#src/core/clock.ts';
import { deliveries, type Toxic } from './toxic.ts';

export interface DelayingProxy {
  port: number;
  /** How much longer a request and its response take than without the proxy. */
  roundTripMs: number;
  /** The current fault of responses; null for none. */
  toxic: Toxic | null;
  /** Breaks all connections: requests on their way still arrive, responses on their way are lost. */
  cut(): void;
  close(): Promise<void>;
}

/** A TCP proxy on loopback that delays every chunk, as a long distance does, and damages responses on demand. */
export async function startDelayingProxy(targetPort: number, roundTripMs: number): Promise<DelayingProxy> {
  const sockets = new Set<Socket>();
  const nearSockets = new Set<Socket>();
  const server = createServer((near) => {
    nearSockets.add(near);
    near.on('close', () => nearSockets.delete(near));
    const far = connect(targetPort, '127.0.0.1');
    forward(near, far, () => null);
    forward(far, near, () => proxy.toxic);
  });

  function forward(from: Socket, to: Socket, toxicNow: () => Toxic | null): void {
    let last = Promise.resolve();
    let hasLostBytes = false;
    /** Keeps the order even after the distance became shorter. */
    const later = (task: () => void, afterMs = 0) => {
      const delay = sleep(systemClock, proxy.roundTripMs / 2 + afterMs);
      last = last.then(() => delay).then(task);
    };
    sockets.add(from);
    from.on('data', (chunk) => {
      const toxic = toxicNow();
      // TCP never skips the middle of a stream: after a loss, nothing more arrives on this connection.
      if (hasLostBytes && toxic?.kind !== 'timeout') return void to.destroy();
      hasLostBytes = toxic?.kind === 'timeout';
      if (toxic?.kind === 'reset') to.resetAndDestroy();
      for (const { bytes, afterMs, gapMs } of deliveries(chunk, toxic)) {
        // Data that has piled up is delivered at once when the toxic is removed.
        if (gapMs > 0) last = last.then(async () => void (proxy.toxic === toxic && (await sleep(systemClock, gapMs))));
        later(() => to.write(bytes), afterMs);
      }
      if (toxic?.kind === 'truncate') later(() => to.end());
    });
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      const toxic = toxicNow();
      later(() => to.destroy(), toxic?.kind === 'slow close' ? toxic.ms : 0);
    });
  }

  await once(server.listen(0, '127.0.0.1'), 'listening');
  const proxy: DelayingProxy = {
    port: (server.address() as AddressInfo).port,
    roundTripMs,
    toxic: null,
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
