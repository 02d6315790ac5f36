import type { Transform } from 'node:stream';

/**
 * What an engine of `node:zlib` makes of the bytes, packed or unpacked, in another thread; the result has memory of its
 * own. Throws the engine's error, or `RangeError` when there are more than `maxBytes`.
 *
 * Node's functions with a callback, such as `gunzip`, keep what they were given and what they return until the next full
 * garbage collection. A few large responses then cause that collection, and it stops the event loop for 10 ms and more.
 */
export async function pipeThrough(
  engine: Transform,
  input: Uint8Array,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  engine.end(input);
  for await (const chunk of engine) {
    size += chunk.length;
    if (size > maxBytes) throw new RangeError(`more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const whole = Buffer.allocUnsafeSlow(size);
  let offset = 0;
  for (const chunk of chunks) offset += chunk.copy(whole, offset);
  return whole;
}
