import { nextTurn } from '../event-loop-turn.ts';

/** After so much text other work gets its turn. */
const SLICE_LENGTH = 128_000;

/** The answer as JSON. The lists of a large one are written record by record, so that other requests are served meanwhile. */
export async function writeJson(answer: object): Promise<string> {
  const members: string[] = [];
  for (const [key, value] of Object.entries(answer)) {
    const text = Array.isArray(value) ? await writeList(value) : JSON.stringify(value);
    if (text !== undefined) members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join()}}`;
}

async function writeList(records: readonly unknown[]): Promise<string> {
  const texts: string[] = [];
  let lengthOfTurn = 0;
  for (const record of records) {
    const text = JSON.stringify(record) ?? 'null';
    texts.push(text);
    lengthOfTurn += text.length;
    if (lengthOfTurn < SLICE_LENGTH) continue;
    lengthOfTurn = 0;
    await nextTurn();
  }
  return `[${texts.join()}]`;
}
