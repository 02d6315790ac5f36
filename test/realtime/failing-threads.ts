import { parentPort } from 'node:worker_threads';
import type { ReadRequest } from '#src/realtime/feed/feed-thread.ts';

/* Replaces the program of the reading thread: the first byte selects how the thread fails. After a 0 comes a packed feed. */

let timetables = 0;

parentPort?.on('message', (request: ReadRequest) => {
  if (request.kind === 'timetable') timetables++;
  if (request.kind !== 'read') return;
  const { id, bytes } = request;
  const [how] = new Uint8Array(bytes);
  if (how === 0) parentPort?.postMessage({ id, packed: bytes.slice(1), snapshot: null });
  if (how === 1) throw new Error(`a bug, after ${timetables} timetables`);
  if (how === 2) process.exit(3);
  while (how === 3);
});
