import { readFileSync } from 'node:fs';

const script = readFileSync(new URL('../../scripts/start', import.meta.url), 'utf8');

const listOptions = (line: RegExp) => [...script.matchAll(line)].map(([, option = '']) => option);

/** The Node options of `npm start`, without a local .env file. */
export const START_OPTIONS: string[] = listOptions(/^set -- "\$@" (--\S+)$/gm);

/** The same for a machine with little memory. */
export const SMALL_START_OPTIONS: string[] = listOptions(/^ *set -- "\$@" (--\S+)$/gm);
