import { runStops } from './stops-command.ts';

/** `npm run stops -- show | update` */
process.exitCode = await runStops(process.argv.slice(2), {
  env: process.env,
  print: (text) => process.stdout.write(`${text}\n`),
  now: () => new Date(),
});
