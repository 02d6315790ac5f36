import { parentPort } from 'node:worker_threads';

/* Stands in for the program of the reading thread: fails as the first byte of the feed says. */

parentPort?.on('message', ({ id, bytes }: { id: number; bytes: ArrayBuffer }) => {
  const [how] = new Uint8Array(bytes);
  if (how === 0) parentPort?.postMessage({ id, packed: bytes });
  if (how === 1) throw new Error('a bug');
  if (how === 2) process.exit(3);
  while (how === 3);
});
