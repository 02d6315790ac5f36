import { readFileSync } from 'node:fs';
import Papa from 'papaparse';
import { z } from 'zod';

/**
 * The rows of one file of a GTFS folder. Columns without a schema are ignored. Throws with file and line for a bad row.
 */
export function readTable<Row extends z.ZodObject>(folder: URL, file: string, row: Row): z.output<Row>[] {
  const text = readFileSync(new URL(file, folder), 'utf8');
  const { data, errors } = Papa.parse(text, { header: true, delimiter: ',', skipEmptyLines: true });
  // Line 1 is the header.
  const lineOf = (index: number) => `${file}, line ${index + 2}`;
  for (const { row: index = 0, message } of errors) throw new Error(`${lineOf(index)}: ${message}`);
  return data.map((record, index) => {
    const read = row.safeParse(record);
    if (!read.success) throw new Error(`${lineOf(index)}: ${z.prettifyError(read.error)}`);
    return read.data;
  });
}
