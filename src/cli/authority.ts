import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { runAuthority } from '../authority-check/command.ts';

/** `npm run authority -- check | fixture | config` */
const dotEnv = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {};
process.exitCode = await runAuthority(process.argv.slice(2), {
  env: { ...dotEnv, ...process.env },
  dotEnv,
  print: (text) => process.stdout.write(`${text}\n`),
});
