import { parentPort } from 'node:worker_threads';
import { readFeed, UndecodableFeed } from './feed-reader.ts';

/*
 * The program of the reading thread (see reading-thread.ts).
 */

export interface ReadRequest {
  id: number;
  bytes: ArrayBuffer;
}

export type ReadReply = { id: number } & ({ packed: ArrayBuffer } | { problem: string });

parentPort?.on('message', ({ id, bytes }: ReadRequest) => {
  try {
    const packed = readFeed(Buffer.from(bytes));
    reply({ id, packed }, [packed]);
  } catch (error) {
    if (!(error instanceof UndecodableFeed)) throw error;
    reply({ id, problem: error.message });
  }
});

function reply(message: ReadReply, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
