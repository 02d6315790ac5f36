import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** The options of Node that `npm start` starts the service with, without the file .env of whoever runs the tests. */
export const START_OPTIONS: string[] = scripts.start.replace(/\$\(.*?\) /, '').match(/--\S+/g);
