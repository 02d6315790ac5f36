import { runKeys } from './command-line.ts';

/** `npm run keys -- COMMAND …` */
const { code, stdout, stderr } = await runKeys(process.argv.slice(2), process.env);
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = code;
