import { createServer } from 'node:net';

/**
 * The system assigns ports from 32,768 up to connections and to servers that request any port. Chromium and `fetch` refuse port
 * 10,080 and none above it.
 */
const FIRST = 10_100;
const COUNT = 10_900;
/** The cluster port of a Redis node is this much higher. */
const CLUSTER_OFFSET = 10_000;

/** A loopback port on which nothing listens, and which the system assigns to nobody else meanwhile. */
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
