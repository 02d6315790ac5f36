import { parseArgs } from 'node:util';
import Papa from 'papaparse';
import { openAccounts } from '../access/stores/open-store.ts';
import { ConfigError, parseStoreLocation } from '../config.ts';
import { allowEarlyEnd, OPTIONS, type TableRow, UsageError } from './command.ts';
import { COMMANDS, USAGE } from './commands.ts';

interface Exit {
  /** 0: done, 1: the store, the configuration or a part of the work failed, 2: wrong usage. */
  code: 0 | 1 | 2;
  stdout: string;
  stderr: string;
}

/** Runs one command against the account store that a service with this environment uses. */
export async function runKeys(args: string[], env: NodeJS.ProcessEnv): Promise<Exit> {
  try {
    const { text, isIncomplete } = await runCommand(args, env);
    return { code: isIncomplete ? 1 : 0, stdout: `${text}\n`, stderr: '' };
  } catch (error) {
    const { name, code } = error as Error & { code?: string };
    const message = printable((error as Error).message);
    if (error instanceof ConfigError) {
      return { code: 1, stdout: '', stderr: `The configuration is not usable:\n${message}\n` };
    }
    if (error instanceof UsageError || code?.startsWith('ERR_PARSE_ARGS')) {
      return { code: 2, stdout: '', stderr: `${message}\n` };
    }
    const reason = name === 'MaxRetriesPerRequestError' ? 'no usable Redis replies at REDIS_URL.' : message;
    return { code: 1, stdout: '', stderr: `The account store could not be used: ${reason}\n` };
  }
}

async function runCommand(args: string[], env: NodeJS.ProcessEnv): Promise<{ text: string; isIncomplete?: boolean }> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [name = 'help', ...operands] = positionals;
  if (values.help || name === 'help') return { text: USAGE };
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`There is no command ${name}.\n\n${USAGE}`);

  const store = openAccounts(parseStoreLocation(env));
  try {
    const output = await command({ store, operands, options: values, now: Date.now() });
    const { json, note = '', isIncomplete = false } = output;
    if (values.json) return { text: escapeUnprintable(JSON.stringify(json, null, 2)), isIncomplete };
    const rows = output.rows.map(printableRow);
    // Formulas are escaped: a label or address must not compute anything in a spreadsheet.
    if (values.csv) return { text: Papa.unparse(rows, { escapeFormulae: FORMULA, newline: '\n' }), isIncomplete };
    return { text: [formatTable(rows), printable(note)].filter(Boolean).join('\n\n'), isIncomplete };
  } finally {
    await store.close();
  }
}

/** Spreadsheets also accept the full-width forms of these characters. */
const FORMULA = /^\s*[=+\-@＝＋－＠]/;
const ALL_UNPRINTABLE = /\p{C}/gu;

/** Removes characters that control a terminal; keeps line breaks. */
function printable(text: string): string {
  return text.replace(ALL_UNPRINTABLE, (character) => (character === '\n' ? character : ''));
}

/** Makes each cell a single printable line. */
function printableRow(row: TableRow): TableRow {
  const cells = Object.entries(row).map(([name, cell]) => [
    name,
    typeof cell === 'string' ? printable(cell).replaceAll('\n', '') : cell,
  ]);
  return Object.fromEntries(cells);
}

/** Escapes unprintable characters in JSON, except the line breaks, which occur only between values. */
function escapeUnprintable(json: string): string {
  return json.replace(ALL_UNPRINTABLE, (character) =>
    character === '\n'
      ? character
      : character
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join(''),
  );
}

/** Formats a header line and one line per row, in columns. */
function formatTable(rows: readonly TableRow[]): string {
  const [first] = rows;
  if (!first) return 'none';
  const names = Object.keys(first);
  const lines = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '')))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `npm run keys -- COMMAND …` */
if (import.meta.main) {
  allowEarlyEnd();
  const { code, stdout, stderr } = await runKeys(process.argv.slice(2), process.env);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code;
}
