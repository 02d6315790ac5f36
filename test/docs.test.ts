import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ASSUMPTIONS } from '#src/cli/upstream-check/assumptions.ts';
import { departuresResponse } from '#src/operations/departures/departure.ts';

const pages = [
  'README.md',
  ...globSync('docs/**/*.md'),
  ...globSync('{src,web,sandbox}/**/README.md'),
  'bench/README.md',
];

describe('the documents', () => {
  it.each(pages)('the document %s links only to files that exist', (page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link]) => link ?? '');
    expect(links.filter((link) => !existsSync(join(dirname(page), link)))).toEqual([]);
  });

  it.each(pages)('the document %s names only files and folders that exist', (page) => {
    const named = [...readFileSync(page, 'utf8').matchAll(/`((?:src|test|bench|deploy|docs|scripts)\/[\w./-]+)`/g)].map(
      ([, name]) => name ?? '',
    );
    expect(named.filter((name) => !existsSync(name))).toEqual([]);
  });

  it.each(['README.md', 'docs/guide/quickstart.md'])(
    'the document %s shows a board that the contract allows',
    (page) => {
      const [, board = ''] = /```json\n(\{\n {2}"stop_id"[^`]+)```/.exec(readFileSync(page, 'utf8')) ?? [];
      expect(departuresResponse.parse(JSON.parse(board)).departures.length).toBeGreaterThan(0);
    },
  );

  it('git and Docker ignore every data directory that the documents name in the checkout', () => {
    const texts = [...pages, '.env.example'].map((page) => readFileSync(page, 'utf8')).join('\n');
    const names = new Set([...texts.matchAll(/DATA_DIR=\.\/([\w-]+)/g)].map(([, name = '']) => name));
    expect([...names]).toEqual(expect.arrayContaining(['data', 'data-real']));
    for (const file of ['.gitignore', '.dockerignore']) {
      const ignored = readFileSync(file, 'utf8').replaceAll('/\n', '\n').split('\n');
      expect(ignored).toEqual(expect.arrayContaining([...names]));
    }
  });

  it('the documents list every assumption about upstream as the code has it', () => {
    const listed = [...readFileSync('docs/upstream-notes.md', 'utf8').matchAll(/^- `([a-z\d-]+)` \((.+?)\): (.+)$/gm)];
    const known = Object.entries(ASSUMPTIONS).map(([id, { evidence, says }]) => [id, evidence, says]);
    expect(listed.map(([, ...assumption]) => assumption)).toEqual(known);
  });

  it('the documents name only fixtures that exist', () => {
    const named = [
      ...readFileSync('docs/upstream-notes.md', 'utf8').matchAll(
        /`((?:departures|nearby|stop-search|trips)\/[a-z0-9-]+)`/g,
      ),
    ].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(40);
    const missing = named.filter((name) => !existsSync(`test/fixtures/${name}.json`));
    expect(missing).toEqual([]);
  });
});
