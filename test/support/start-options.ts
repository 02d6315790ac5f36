import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** The Node options of `npm start`, without the .env file of whoever runs the tests. */
export const START_OPTIONS: string[] = scripts.start.replace(/\$\(.*?\) /, '').match(/--\S+/g);
