import { parseArgs } from 'node:util';
import { openStore } from '../access/open-store.ts';
import { ConfigError, readConfig } from '../config.ts';
import { COMMANDS, OPTIONS, USAGE, UsageError } from './keys-command.ts';
import { formatTable } from './table.ts';

/** `npm run keys -- COMMAND …`, against the store that the service of this environment uses. */
async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [command = 'help', subject, argument] = positionals;
  if (values.help || command === 'help') return print(USAGE);
  const carryOut = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (!carryOut) throw new UsageError(`There is no command ${command}.\n\n${USAGE}`);

  const store = await openStore(readConfig(process.env));
  try {
    const answer = await carryOut({ store, subject, argument, values, now: new Date() });
    const forPeople = [formatTable(answer.rows), answer.note].filter(Boolean).join('\n\n');
    print(values.json ? JSON.stringify(answer.json, null, 2) : forPeople);
  } finally {
    await store.close();
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  const { message, code } = error as Error & { code?: string };
  const isTheirs = error instanceof UsageError || code?.startsWith('ERR_PARSE_ARGS');
  process.stderr.write(
    error instanceof ConfigError
      ? `The configuration is not usable:\n${message}\n`
      : `${isTheirs ? message : `The account store could not be used: ${message}`}\n`,
  );
  process.exitCode = isTheirs ? 2 : 1;
}
