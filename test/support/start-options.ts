export { SMALL_START_OPTIONS, START_OPTIONS } from '#src/cli/start-options.ts';
