export { START_OPTIONS } from '#src/cli/start-options.ts';
