import { nextTurn } from '../event-loop-turn.ts';
import { ownBytes } from '../own-memory.ts';

/** After so much text other work gets its turn. */
const SLICE_LENGTH = 128_000;

/** The answer as JSON. The lists of a large one are written record by record, so that other requests are served meanwhile. */
export async function writeJson(response: object): Promise<Buffer> {
  const slices: Buffer[] = [];
  let text = '{';
  let separator = '';
  for (const [key, value] of Object.entries(response)) {
    const written = Array.isArray(value) ? '[' : JSON.stringify(value);
    if (written === undefined) continue;
    text += `${separator}${JSON.stringify(key)}:${written}`;
    separator = ',';
    if (!Array.isArray(value)) continue;
    for (const [index, record] of value.entries()) {
      text += `${index === 0 ? '' : ','}${JSON.stringify(record) ?? 'null'}`;
      if (text.length < SLICE_LENGTH) continue;
      slices.push(Buffer.from(text));
      text = '';
      await nextTurn();
    }
    text += ']';
  }
  const last = ownBytes(`${text}}`);
  return slices.length === 0 ? last : Buffer.concat([...slices, last]);
}
