import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const NOT_USED = (/^Not used: (.*)\.$/m.exec(readFileSync('src/transit/README.md', 'utf8'))?.[1] ?? '')
  .split(', ')
  .map((word) => word.replaceAll('`', ''));
const files = globSync('{src,web,sandbox}/**/*.ts').map((path) => ({ path, text: readFileSync(path, 'utf8') }));

/** Functions and methods, each as `path name`. Their names and results are on one line. */
function listFunctions({ path, text }: (typeof files)[number]) {
  const declared = text.matchAll(
    /^ *(?:export )?(?:static )?(?:(async) )?(?:function\*? |\*)?#?([a-z]\w*)(?:<.*>)?\((?:[^;]*)\{$/gm,
  );
  const local = text.matchAll(/^ *(?:export )?(?:const|let) ([a-z]\w*) = (async )?(?:<.*>)?\(.*=>/gm);
  return [...declared, ...[...local].map(([whole, name, async]) => [whole, async, name])]
    .filter(([, , name = '']) => !['if', 'for', 'while', 'switch', 'catch', 'constructor'].includes(name))
    .map(([, async, name = '']) => ({ path, name, isAsync: async !== undefined }));
}
const functions = files.flatMap(listFunctions);
const verbOf = (name: string) => /^[a-z]+/.exec(name)?.[0] ?? '';

it('no function begins with a verb that the vocabulary does not use', () => {
  expect(NOT_USED).toContain('read');
  expect(functions.length).toBeGreaterThan(2000);
  expect(functions.filter(({ name }) => NOT_USED.includes(verbOf(name)))).toEqual([]);
});

it('a function that finds something does not wait', () => {
  expect(functions.filter(({ name, isAsync }) => isAsync && verbOf(name) === 'find')).toEqual([]);
});
