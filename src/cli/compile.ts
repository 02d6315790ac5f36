import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { IMPORT_OPTIONS, IMPORT_PROCESS } from '../timetable/update/run-import.ts';
import { SMALL_START_OPTIONS, START_OPTIONS } from './start-options.ts';

/*
 * Fills Node's compile cache (the folder NODE_COMPILE_CACHE) with the modules of the service. Without it, each thread of the
 * service and the import would load the program that removes types. The cache is valid for one user, one version of Node and one
 * set of V8's options.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Commands are not part of the service, and some need packages that only developers have. */
const MODULES = globSync('{src,web,sandbox}/**/*.ts', { cwd: ROOT, exclude: ['src/cli/**'] });

/** Compiles modules with these Node options. The first module of the graph throws, so that none of the others runs. */
function compile(options: readonly string[], urls: readonly URL[]): void {
  const imports = ['data:text/javascript,throw 0', ...urls.map(String)].map((url) => `import ${JSON.stringify(url)};`);
  const graph = `data:text/javascript,${encodeURIComponent(imports.join(''))}`;
  const program = `import(${JSON.stringify(graph)}).catch((error) => { if (error !== 0) throw error; })`;
  execFileSync(process.execPath, [...options, '--input-type=module', '--eval', program], { stdio: 'inherit' });
}

const urls = MODULES.map((path) => pathToFileURL(`${ROOT}${path}`));
for (const options of [START_OPTIONS, SMALL_START_OPTIONS]) compile(options, urls);
compile(IMPORT_OPTIONS, [IMPORT_PROCESS]);
