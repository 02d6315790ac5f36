/*
 * Checks that a tag names the version of its client package, and that the package's changelog begins with it.
 *
 *   node scripts/client-version.ts client-typescript-v1.2.3
 */
import { readFileSync } from 'node:fs';

const MANIFESTS: Readonly<Record<string, string>> = {
  typescript: 'clients/typescript/package.json',
  python: 'clients/python/pyproject.toml',
};

const [, client = '', tagged] = /^client-([a-z]+)-v(.+)$/.exec(process.argv[2] ?? '') ?? [];
const manifest = MANIFESTS[client];
if (!manifest) fail('The tag must be client-typescript-v or client-python-v, and a version.');
const version = /^\s*"?version"?\s*[:=]\s*"([^"]+)"/m.exec(readFileSync(manifest, 'utf8'))?.[1];
const described = /^## (\S+)/m.exec(readFileSync(`clients/${client}/CHANGELOG.md`, 'utf8'))?.[1];
if (tagged !== version) fail(`The tag says ${tagged}, ${manifest} says ${version}.`);
if (tagged !== described) fail(`clients/${client}/CHANGELOG.md begins with ${described}, not with ${tagged}.`);

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
