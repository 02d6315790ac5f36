import { randomFillSync } from 'node:crypto';

const ID_BYTES = 8;
/** Random bytes for the next 512 ids; asking the system for each id would take longer. */
const random = Buffer.allocUnsafeSlow(512 * ID_BYTES);
let used = random.length;

/** The id of a request, in its response and in the log: 16 hexadecimal digits. Random, so that it does not tell how many requests there are. */
export function createRequestId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += ID_BYTES;
  return random.toString('hex', used - ID_BYTES, used);
}
