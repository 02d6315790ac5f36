import { parentPort } from 'node:worker_threads';

/* Replaces the program of the reading thread: the first byte of a feed selects how the thread fails. */

parentPort?.on('message', ({ id, bytes }: { id: number; bytes: ArrayBuffer }) => {
  const [how] = new Uint8Array(bytes);
  if (how === 0) parentPort?.postMessage({ id, packed: bytes });
  if (how === 1) throw new Error('a bug');
  if (how === 2) process.exit(3);
  while (how === 3);
});
