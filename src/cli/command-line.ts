import { parseArgs } from 'node:util';
import { openRegister } from '../access/stores/open-store.ts';
import { ConfigError, readConfig } from '../config.ts';
import { COMMANDS, OPTIONS, USAGE, UsageError } from './keys-command.ts';
import { formatTable } from './table.ts';

interface Outcome {
  /** 0 done, 1 it could not be done, 2 it was not asked properly. */
  code: 0 | 1 | 2;
  out: string;
  err: string;
}

/** Carries out one command line against the store that a service of this environment uses. */
export async function runKeys(args: string[], env: Readonly<Record<string, string | undefined>>): Promise<Outcome> {
  try {
    return { code: 0, out: `${await carryOut(args, env)}\n`, err: '' };
  } catch (error) {
    const { name, message, code } = error as Error & { code?: string };
    if (error instanceof ConfigError)
      return { code: 1, out: '', err: `The configuration is not usable:\n${message}\n` };
    if (error instanceof UsageError || code?.startsWith('ERR_PARSE_ARGS'))
      return { code: 2, out: '', err: `${message}\n` };
    const reason = name === 'MaxRetriesPerRequestError' ? 'nothing usable answers at REDIS_URL.' : message;
    return { code: 1, out: '', err: `The account store could not be used: ${reason}\n` };
  }
}

async function carryOut(args: string[], env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [name = 'help', subject, argument] = positionals;
  if (values.help || name === 'help') return USAGE;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`There is no command ${name}.\n\n${USAGE}`);

  const store = openRegister(readConfig(env));
  try {
    const answer = await command({ store, subject, argument, values, now: new Date() });
    if (values.json) return JSON.stringify(answer.json, null, 2);
    return [formatTable(answer.rows), answer.note].filter(Boolean).join('\n\n');
  } finally {
    await store.close();
  }
}
