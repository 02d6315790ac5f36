import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** The Node options of `npm start`, without a local .env file. */
export const START_OPTIONS: string[] = scripts.start.replace(/\$\(.*?\) /, '').match(/--\S+/g);
