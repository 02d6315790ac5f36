import { createServer } from 'node:net';

/**
 * The system gives ports from 32,768 on to connections and to servers that ask for any port. Chromium and `fetch` refuse 10,080,
 * and none above it.
 */
const FIRST = 10_100;
const COUNT = 10_900;
/** The port of a Redis node for its cluster lies so much higher. */
const CLUSTER_OFFSET = 10_000;

/** A loopback port on which nothing listens, and which the system gives to nobody else meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if ((await isFree(port)) && (await isFree(port + CLUSTER_OFFSET))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
