import { readFileSync } from 'node:fs';

const script = readFileSync(new URL('../../scripts/start', import.meta.url), 'utf8');

/** The Node options of `npm start`, without a local .env file. */
export const START_OPTIONS: string[] = [...script.matchAll(/^set -- "\$@" (--\S+)$/gm)].map(
  ([, option = '']) => option,
);
