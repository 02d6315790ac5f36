import { runKeys } from './command-line.ts';

/** `npm run keys -- COMMAND …` */
const { code, out, err } = await runKeys(process.argv.slice(2), process.env);
process.stdout.write(out);
process.stderr.write(err);
process.exitCode = code;
