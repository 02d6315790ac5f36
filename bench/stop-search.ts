import { readFileSync } from 'node:fs';
import uFuzzy from '@leeoniya/ufuzzy';
import Fuse from 'fuse.js';
import MiniSearch from 'minisearch';
import { loadBuiltIn } from '#src/stops/file.ts';
import { NameSearch } from '#src/stops/name-search.ts';
import { StopRegister } from '#src/stops/register.ts';
import { wordsOf } from '#src/stops/words.ts';
import { describeMachine, print } from './machine.ts';

/*
 * Stop search as people type: `bench/stop-search/queries.tsv` has queries with their right names (a name also matches everything
 * that begins with it and a comma). Compares stop-search with libraries that have their own index, which get the same words and
 * rank by the same modes.
 * `node --expose-gc bench/stop-search.ts [misses]`
 */
const SHOWN = 10;
const MEGABYTE = 1024 * 1024;
const { gc } = globalThis;
if (!gc) throw new Error('start it with --expose-gc');

const register = new StopRegister(loadBuiltIn);
const stops = [...register];
const queries = readFileSync(new URL('./stop-search/queries.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('\t'))
  .map(([query = '', names = '']) => ({ query, names: names.split('|') }));

type Search = (query: string) => Promise<readonly string[]> | readonly string[];

const isRail = (at: number) => stops[at]?.modes.some((mode) => mode === 'train' || mode === 'metro') ?? false;
const weightOf = (at: number) => (isRail(at) ? 4 : 1) * (stops[at]?.is_platform ? 0.6 : 1);
const nameOf = (at: number) => stops[at]?.name ?? '';
const wordsOfStops = () => stops.map(({ name }) => wordsOf(name).join(' '));
const byWeight = (found: { at: number; score: number }[]) =>
  found
    .map(({ at, score }) => ({ at, score: score * weightOf(at) }))
    .sort((one, other) => other.score - one.score)
    .map(({ at }) => nameOf(at));

const CANDIDATES: Record<string, () => Search> = {
  'ours on its tree': () => {
    const search = new NameSearch(register);
    return async (text) => {
      const found = await search.search({ text, limit: SHOWN, isLoose: true }, 0);
      return found.map(({ name }) => name);
    };
  },
  minisearch: () => {
    const index = new MiniSearch({ fields: ['name'], tokenize: (text) => text.split(' ') });
    index.addAll(wordsOfStops().map((name, id) => ({ id, name })));
    return (query) =>
      index
        .search(wordsOf(query).join(' '), {
          prefix: true,
          fuzzy: (term) => (term.length < 4 ? false : term.length < 6 ? 1 : 2),
          boostDocument: (id) => weightOf(id),
          combineWith: 'AND',
        })
        .map(({ id }) => nameOf(id));
  },
  ufuzzy: () => {
    const search = new uFuzzy({ intraMode: 1, intraIns: 1, intraSub: 1, intraTrn: 1, intraDel: 1 });
    const names = wordsOfStops();
    return (query) => {
      const [found] = search.search(names, wordsOf(query).join(' '), 1, 0);
      return byWeight((found ?? []).map((at) => ({ at, score: 1 / (10 + (names[at]?.length ?? 0)) })));
    };
  },
  'fuse.js': () => {
    const index = new Fuse(wordsOfStops(), { includeScore: true, threshold: 0.4, ignoreLocation: true });
    return (query) =>
      byWeight(
        index.search(wordsOf(query).join(' ')).map(({ refIndex, score = 0 }) => ({ at: refIndex, score: 1 - score })),
      );
  },
};

print(describeMachine());
print(`${stops.length} stops, ${queries.length} queries\n`);
print(
  ['', 'first', 'first 3', 'built ms', 'ms a query', 'slowest', 'heap MB']
    .map((head, at) => (at === 0 ? head.padEnd(18) : head.padStart(11)))
    .join(''),
);
for (const [name, create] of Object.entries(CANDIDATES)) await measure(name, create);

async function measure(name: string, create: () => Search): Promise<void> {
  gc?.();
  const before = memory();
  const startedAt = performance.now();
  const search = create();
  await search('central');
  const builtMs = performance.now() - startedAt;
  gc?.();
  const megabytes = (memory() - before) / MEGABYTE;
  const times: number[] = [];
  const ranks: number[] = [];
  for (const { query, names } of queries) {
    const requestedAt = performance.now();
    const found = (await search(query)).slice(0, SHOWN);
    times.push(performance.now() - requestedAt);
    const isRight = (one: string) => names.some((right) => one === right || one.startsWith(`${right},`));
    const rank = found.findIndex(isRight);
    ranks.push(rank);
    if (process.argv[2] === 'misses' && !(rank >= 0 && rank < 3)) print(`  ${query}: ${found.slice(0, 3).join(' | ')}`);
  }
  const first = ranks.filter((rank) => rank === 0).length;
  const three = ranks.filter((rank) => rank >= 0 && rank < 3).length;
  const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  const timings = [builtMs.toFixed(0), mean.toFixed(1), Math.max(...times).toFixed(0)];
  const columns = [first, three, ...timings, megabytes.toFixed(1)].map((figure) => String(figure).padStart(11));
  print(name.padEnd(18) + columns.join(''));
}

function memory(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
