import SearchableMap from 'minisearch/SearchableMap';
import { MINUTE_MS } from '../core/clock.ts';
import { Float32Column, Uint8Column, Uint32Column } from '../core/columns.ts';
import { nextTurn } from '../core/event-loop-turn.ts';
import type { Mode } from '../transit/mode.ts';
import { distanceMetres, type Position } from '../transit/place.ts';
import type { StopRegister } from './register.ts';
import type { StopRecord } from './table.ts';
import { wordsOf } from './words.ts';

/** The number of stops read in one turn of the event loop, which takes about 10 ms. */
const STOPS_PER_TURN = 500;
/** An index that is older than this is rebuilt by the next search if stops have changed. */
const REBUILD_AFTER_MS = 10 * MINUTE_MS;
/** Further words of a query are ignored. */
const MAX_WORDS = 8;
/** Further letters of a word are ignored; the longest word in a name has 17. */
const MAX_LENGTH = 30;
/** Pairs of adjacent words among the first three of a name are also indexed as one word: "townhall". */
const WORDS_TO_JOIN = 3;
/** Names such as "Crown St opp Reservoir St" are not joined: there are many, and nobody writes them as one word. */
const CROSSING = /\b(opp|at|before|after)\b/i;
/** The library's default parameters for BM25+. */
const [K, B, D] = [1.2, 0.7, 0.5];
const PREFIX_WEIGHT = 0.375;
const TYPO_WEIGHT = 0.45;
/** Typos in the first letter are rare. */
const OTHER_FIRST_LETTER = 0.6;
/** A word of at least this length also matches longer words; the last word of a query always does. */
const MIN_PREFIX = 4;
const MIN_FOR_TYPO = 4;
const MIN_FOR_TWO_TYPOS = 6;
/** The factor for the busiest mode of a stop. */
const BUSY: Readonly<Record<Mode, number>> = {
  train: 4,
  metro: 4,
  lightrail: 3,
  ferry: 3,
  coach: 2,
  bus: 1,
  schoolbus: 1,
};
/** The factor for stops with a known suburb. */
const KNOWN_SUBURB = 1.1;
/** The factor for listed stops that nothing in the timetable serves. */
const UNSERVED = 0.5;
/** A stop right at the place counts three times as much as one far away; at this distance, twice as much. */
const NEAR_METRES = 5000;
const NEARNESS = 2;

/**
 * Searches stops by the words of their names. It allows typos, prefixes, any word order, and extra or missing spaces. The index
 * is built when first needed, in between other requests.
 */
export class NameSearch {
  readonly #register: StopRegister;
  #index: Promise<NameIndex> | null = null;
  #builtAt = 0;
  #hasChanged = false;

  constructor(register: StopRegister) {
    this.#register = register;
    register.onChange(() => {
      this.#hasChanged = true;
    });
  }

  /** Returns matching stops, best first. */
  async search(query: NameQuery, now: number): Promise<StopRecord[]> {
    const ids = await (await this.#current(now)).search(query);
    return ids.flatMap((id) => this.#register.get(id) ?? []);
  }

  #current(now: number): Promise<NameIndex> {
    if (this.#index && !(this.#hasChanged && now >= this.#builtAt + REBUILD_AFTER_MS)) return this.#index;
    this.#hasChanged = false;
    this.#builtAt = now;
    const next = buildIndex(this.#register);
    if (!this.#index) this.#index = next;
    // The old index serves requests until the new one is built.
    else
      void next.then((index) => {
        this.#index = Promise.resolve(index);
      });
    return this.#index;
  }
}

/**
 * Indexes the register in batches, so that requests are served in between. Platforms and stands are left out if their stop is
 * known, because riders look for the stop.
 */
async function buildIndex(register: StopRegister): Promise<NameIndex> {
  const tree = new SearchableMap<number>();
  const stopsOfWords: number[][] = [];
  const ids: string[] = [];
  const lengths: number[] = [];
  const weights: number[] = [];
  const positions: number[] = [];
  const add = (word: string, stop: number) => {
    const existing = tree.get(word);
    if (existing !== undefined) stopsOfWords[existing]?.push(stop);
    else {
      tree.set(word, stopsOfWords.length);
      stopsOfWords.push([stop]);
    }
  };
  let read = 0;
  for (const stop of register) {
    if (read++ % STOPS_PER_TURN === 0) await nextTurn();
    if (stop.is_platform && stop.parent_id && register.get(stop.parent_id)) continue;
    const index = ids.length;
    const words = new Set([...wordsOf(stop.name), ...wordsOf(stop.suburb)]);
    for (const word of new Set([...words, ...joinedWordsOf(stop.name)])) add(word, index);
    ids.push(stop.stop_id);
    lengths.push(Math.min(words.size, 255));
    weights.push(weightOf(stop) * (register.isServed(stop.stop_id) ? 1 : UNSERVED));
    positions.push(stop.lat, stop.lng);
  }
  await nextTurn();
  return new NameIndex(tree, stopsOfWords, {
    ids,
    lengths: new Uint8Column(lengths),
    weights: new Float32Column(weights),
    positions: new Float32Column(positions),
  });
}

function joinedWordsOf(name: string): string[] {
  if (CROSSING.test(name)) return [];
  const words = wordsOf(name.split(',', 1)[0] as string).slice(0, WORDS_TO_JOIN);
  return words.slice(1).map((word, index) => `${words[index]}${word}`);
}

function weightOf({ modes, suburb }: StopRecord): number {
  return Math.max(1, ...modes.map((mode) => BUSY[mode])) * (suburb === '' ? 1 : KNOWN_SUBURB);
}

interface NameQuery {
  text: string;
  limit: number;
  near?: Position | undefined;
  /** If no stop has all words, the result is the stops with the most words. */
  isLoose: boolean;
}

/**
 * The library's tree finds words that are similar to a query word. The stops of each word are stored in one typed array, because
 * the library's own index takes several times the memory.
 */
class NameIndex {
  readonly #tree: SearchableMap<number>;
  /** The indices of stops grouped by word, and the start of each word's group. */
  readonly #stops: Uint32Column;
  readonly #starts: Uint32Column;
  readonly #columns;
  readonly #averageLength: number;

  constructor(
    tree: SearchableMap<number>,
    stopsOfWords: readonly (readonly number[])[],
    /** One entry per stop, by its index; positions alternate between latitude and longitude. */
    columns: { ids: readonly string[]; lengths: Uint8Column; weights: Float32Column; positions: Float32Column },
  ) {
    this.#tree = tree;
    this.#columns = columns;
    this.#starts = new Uint32Column(stopsOfWords.length + 1);
    for (const [word, stops] of stopsOfWords.entries()) {
      this.#starts[word + 1] = this.#starts.valueAt(word) + stops.length;
    }
    this.#stops = new Uint32Column(this.#starts.valueAt(stopsOfWords.length));
    for (const [word, stops] of stopsOfWords.entries()) this.#stops.set(stops, this.#starts[word]);
    this.#averageLength = columns.lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, columns.ids.length);
  }

  /** Returns identifiers, best match first. */
  async search(query: NameQuery): Promise<string[]> {
    const { text, limit, near, isLoose } = query;
    const words = wordsOf(text)
      .slice(0, MAX_WORDS)
      .map((word) => word.slice(0, MAX_LENGTH));
    const single: Float32Column[] = [];
    const joinedScores: Float32Column[] = [];
    for (const [index, word] of words.entries()) {
      const isLast = index === words.length - 1;
      single.push(await this.#score(word, isLast));
      if (!isLast) joinedScores.push(await this.#score(`${word}${words[index + 1]}`, index === words.length - 2));
    }
    await nextTurn();
    // Each variant reads two adjacent words as one: "black town".
    const variants = joinedScores.map((scores, index) => [
      ...single.slice(0, index),
      scores,
      ...single.slice(index + 2),
    ]);
    let totals = this.#total([single, ...variants], (variant) => variant.length);
    for (let needed = single.length - 1; isLoose && totals.size === 0 && needed > 0; needed--) {
      totals = this.#total([single], () => needed);
    }
    return this.#best(totals, limit, near);
  }

  /** The numbers of the words that match a query word, with a weight of at most 1. */
  #matchesOf(word: string, isLast: boolean): ReadonlyMap<number, number> {
    const best = new Map<number, number>();
    const record = (index: number, weight: number) => best.set(index, Math.max(weight, best.get(index) ?? 0));
    const exact = this.#tree.get(word);
    if (exact !== undefined) record(exact, 1);
    if (isLast || word.length >= MIN_PREFIX) {
      for (const [longer, index] of this.#tree.atPrefix(word)) {
        const extraLetters = longer.length - word.length;
        if (extraLetters > 0) record(index, (PREFIX_WEIGHT * longer.length) / (longer.length + 0.3 * extraLetters));
      }
    }
    if (word.length >= MIN_FOR_TYPO && !/\d/.test(word)) {
      for (const [other, [index, typos]] of this.#tree.fuzzyGet(word, word.length < MIN_FOR_TWO_TYPOS ? 1 : 2)) {
        if (typos === 0) continue;
        const first = other[0] === word[0] ? 1 : OTHER_FIRST_LETTER;
        record(index, (TYPO_WEIGHT / typos) * first);
      }
    }
    return best;
  }

  /** The score of each stop for a query word; zero if it does not match. */
  async #score(word: string, isLast: boolean): Promise<Float32Column> {
    await nextTurn();
    const { ids, lengths } = this.#columns;
    const scores = new Float32Column(ids.length);
    for (const [match, weight] of this.#matchesOf(word, isLast)) {
      const [start, end] = [this.#starts.valueAt(match), this.#starts.valueAt(match + 1)];
      const rarity = Math.log(1 + (ids.length - (end - start) + 0.5) / (end - start + 0.5));
      for (let index = start; index < end; index++) {
        const stop = this.#stops.valueAt(index);
        const length = 1 - B + (B * lengths.valueAt(stop)) / this.#averageLength;
        const score = weight * rarity * (D + (K + 1) / (1 + K * length));
        if (score > scores.valueAt(stop)) scores[stop] = score;
      }
    }
    return scores;
  }

  /** The best score of each stop over all variants. A variant counts if the stop matches enough of its words. */
  #total(
    variants: readonly (readonly Float32Column[])[],
    atLeast: (variant: readonly Float32Column[]) => number,
  ): Map<number, number> {
    const totals = new Map<number, number>();
    for (const variant of variants) {
      const needed = Math.max(1, atLeast(variant));
      for (let stop = 0; stop < this.#columns.ids.length; stop++) {
        let sum = 0;
        let matchedWords = 0;
        for (const scores of variant) {
          const score = scores.valueAt(stop);
          sum += score;
          if (score > 0) matchedWords++;
        }
        if (matchedWords >= needed && sum * matchedWords > (totals.get(stop) ?? 0))
          totals.set(stop, sum * matchedWords);
      }
    }
    return totals;
  }

  #best(scores: ReadonlyMap<number, number>, limit: number, near: Position | undefined): string[] {
    const { ids, weights, positions } = this.#columns;
    const ranked = [...scores].map(([stop, score]) => {
      const at: Position = [positions.valueAt(2 * stop), positions.valueAt(2 * stop + 1)];
      return {
        id: ids[stop] as string,
        score: score * weights.valueAt(stop) * (near ? nearness(near, at, NEARNESS) : 1),
      };
    });
    ranked.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
    return ranked.slice(0, limit).map(({ id }) => id);
  }
}

/** The factor for a match near a place: 1 + `maxBonus` right at it, 1 far away. */
export function nearness(near: Position, position: Position, maxBonus: number): number {
  return 1 + maxBonus / (1 + distanceMetres(near, position) / NEAR_METRES);
}
