import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { StopTable } from './table.ts';

const BUILT_IN = new URL('./stops-nsw.tsv.gz', import.meta.url);

/** Loads the bundled stops of New South Wales; README.md gives their source. */
export function loadBuiltIn(): StopTable {
  return new StopTable(gunzipSync(readFileSync(BUILT_IN)));
}
