import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { StopTable } from './table.ts';

const BUILT_IN = new URL('./stops-nsw.tsv.gz', import.meta.url);

/** The stops of New South Wales that are part of the service; README.md says where they are from. */
export function readBuiltIn(): StopTable {
  return new StopTable(gunzipSync(readFileSync(BUILT_IN)));
}
