import { randomFillSync } from 'node:crypto';

const ID_BYTES = 8;
/** Asking the system for random bytes costs more than making many names of them. */
const random = Buffer.allocUnsafeSlow(512 * ID_BYTES);
let used = random.length;

/** Names a request in its answer and in the log: 16 letters and digits. They do not tell how many requests there are. */
export function createRequestId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += ID_BYTES;
  return random.toString('hex', used - ID_BYTES, used);
}
