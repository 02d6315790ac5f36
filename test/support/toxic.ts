/** Faults of responses on their way, named as in Toxiproxy. */
export type Toxic =
  | { kind: 'latency'; ms: number; jitterMs: number }
  /** Nothing arrives, and the connection stays open. Once the toxic is removed, the next response closes it. */
  | { kind: 'timeout' }
  /** The connection is reset when the response begins. */
  | { kind: 'reset' }
  | { kind: 'slicer'; bytes: number; everyMs: number }
  | { kind: 'slow close'; ms: number }
  | { kind: 'bandwidth'; bytesPerSecond: number }
  /** The connection is closed after this many bytes of the response. */
  | { kind: 'truncate'; bytes: number };

interface Delivery {
  bytes: Buffer;
  /** The delay after the chunk was received. */
  afterMs: number;
  /** The delay after the previous delivery. */
  gapMs: number;
}

const BANDWIDTH_SLICES_PER_SECOND = 50;

/** Which part of a chunk is delivered when. */
export function deliveries(chunk: Buffer, toxic: Toxic | null): Delivery[] {
  switch (toxic?.kind) {
    case 'latency':
      return [{ bytes: chunk, afterMs: toxic.ms + Math.random() * toxic.jitterMs, gapMs: 0 }];
    case 'timeout':
      return [];
    case 'slicer':
      return slices(chunk, toxic.bytes, toxic.everyMs);
    case 'bandwidth': {
      const size = Math.max(1, Math.floor(toxic.bytesPerSecond / BANDWIDTH_SLICES_PER_SECOND));
      return slices(chunk, size, (1000 * size) / toxic.bytesPerSecond);
    }
    case 'truncate':
      return [{ bytes: chunk.subarray(0, toxic.bytes), afterMs: 0, gapMs: 0 }];
    default:
      return [{ bytes: chunk, afterMs: 0, gapMs: 0 }];
  }
}

function slices(chunk: Buffer, size: number, gapMs: number): Delivery[] {
  const starts = Array.from({ length: Math.ceil(chunk.length / size) }, (_, index) => index * size);
  return starts.map((start) => ({ bytes: chunk.subarray(start, start + size), afterMs: 0, gapMs }));
}
