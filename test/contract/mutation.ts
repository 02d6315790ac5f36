import fc from 'fast-check';

/**
 * Ways to spoil a payload. A payload is a tree of plain values until `toText`; markers stand for what JSON.stringify cannot
 * write, such as a number that reads as Infinity or a very deep object.
 */

export type Key = string | number;
type Branch = Record<Key, unknown>;

/** More levels than the stack of a recursive reader. */
const DEPTH = 5000;

const MARKERS: Record<string, string> = {
  '<infinite>': '1e999',
  '<tiny>': '-1e-400',
  '<deep parents>': `${'{"parent":'.repeat(DEPTH)}{}${'}'.repeat(DEPTH)}`,
  '<deep list>': `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`,
};

/** Values that make no sense as a count, distance or duration. */
export const STRANGE_NUMBERS = [-240, 0.5, 1e308, -1e308, '<infinite>'];

/** Values that make no sense as a time. */
export const STRANGE_TIMES = [
  '2026-04-15T06:30:00',
  '2026-13-45T99:99:99Z',
  '1970-01-01T00:00:00Z',
  '9998-12-31T23:59:59Z',
  '+275760-09-13T00:00:00Z',
];

/** Values that make no sense in any field. */
const STRANGE_VALUES: readonly unknown[] = [
  ...STRANGE_NUMBERS,
  ...STRANGE_TIMES,
  0,
  -1,
  1e21,
  Number.MAX_SAFE_INTEGER,
  '1e400',
  '2026-04-15',
  '0000-01-01T00:00:00Z',
  '1969-12-31T23:59:59Z',
  null,
  true,
  false,
  '',
  ' ',
  '???',
  'undefined, undefined',
  'NaN',
  'Infinity',
  '-0',
  '9'.repeat(400),
  'x'.repeat(5000),
  '\u0000\u202e\ud800',
  '<b>'.repeat(300),
  '&#x110000;&nbsp;&bogus;',
  '__proto__',
  'constructor',
  [],
  {},
  [null],
  [[]],
  [[[-33.8, 151.2]]],
  [151.2, -33.8],
  [-33.8],
  ['-33.8', '151.2'],
  { length: 3 },
  { parent: { parent: { parent: { name: 'x', type: 'stop' } } } },
  ...Object.keys(MARKERS),
];

const PROTOTYPE_KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];

export interface Mutation {
  /** The place, as an index that wraps around the places of the payload. */
  at: number;
  how: 'remove' | 'replace' | 'empty' | 'duplicate' | 'wrap' | 'rename';
  value: unknown;
  key: string;
}

export const mutations: fc.Arbitrary<Mutation[]> = fc.array(
  fc.record<Mutation>({
    at: fc.nat(1_000_000),
    how: fc.constantFrom('remove', 'replace', 'replace', 'replace', 'empty', 'duplicate', 'wrap', 'rename'),
    value: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...STRANGE_VALUES) },
      { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
      { weight: 1, arbitrary: fc.jsonValue() },
    ),
    key: fc.constantFrom(...PROTOTYPE_KEYS),
  }),
  { minLength: 1, maxLength: 6 },
);

/** The paths of all places of the payload except its root. */
export function listPaths(node: unknown, base: readonly Key[] = []): Key[][] {
  if (typeof node !== 'object' || node === null) return [];
  const keys: Key[] = Array.isArray(node) ? [...node.keys()] : Object.keys(node);
  return keys.flatMap((key) => [[...base, key], ...listPaths((node as Branch)[key], [...base, key])]);
}

export function valueAt(node: unknown, path: readonly Key[]): unknown {
  return path.reduce((value, key) => (value as Branch)[key], node);
}

/** The payload without this place. */
export function without(payload: unknown, path: readonly Key[]): unknown {
  return changed(payload, path, remove);
}

/** The payload with another value at this place. */
export function withValue(payload: unknown, path: readonly Key[], value: unknown): unknown {
  return changed(payload, path, (parent, key) => set(parent, key, value));
}

/** Copies the objects along the path and shares the rest with the payload. */
function changed(node: unknown, [key, ...rest]: readonly Key[], change: (parent: Branch, key: Key) => void): unknown {
  const copy = (Array.isArray(node) ? [...node] : { ...(node as Branch) }) as Branch;
  if (rest.length === 0) change(copy, key as Key);
  else set(copy, key as Key, changed((node as Branch)[key as Key], rest, change));
  return copy;
}

export function mutate(payload: unknown, all: readonly Mutation[]): unknown {
  const copy = copyOf(payload);
  for (const mutation of all) {
    const paths = listPaths(copy);
    const path = paths[mutation.at % Math.max(1, paths.length)];
    if (path) apply(parentOf(copy, path), path.at(-1) as Key, mutation);
  }
  return copy;
}

export function toText(payload: unknown): string {
  const text = JSON.stringify(payload);
  return Object.entries(MARKERS).reduce((sum, [marker, raw]) => sum.replaceAll(`"${marker}"`, raw), text);
}

function apply(parent: Branch, key: Key, { how, value, key: newKey }: Mutation): void {
  const old = parent[key];
  const isInList = Array.isArray(parent);
  if (how === 'remove' || (how === 'rename' && !isInList)) remove(parent, key);
  if (how === 'rename' && !isInList) set(parent, newKey, old);
  if (how === 'replace') set(parent, key, copyOf(value));
  if (how === 'empty') set(parent, key, Array.isArray(old) ? [] : typeof old === 'object' ? {} : '');
  if (how === 'duplicate' && isInList) parent.push(copyOf(old));
  if (how === 'duplicate' && !isInList) set(parent, key, [old, copyOf(old)]);
  if (how === 'wrap') set(parent, key, typeof value === 'boolean' ? { [newKey]: old } : [old]);
}

/** Copies without sharing, unlike `structuredClone`: a value at two places becomes two values. */
function copyOf<Value>(value: Value): Value {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}

function parentOf(root: unknown, path: readonly Key[]): Branch {
  return valueAt(root, path.slice(0, -1)) as Branch;
}

function remove(parent: Branch, key: Key): void {
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
}

/** An assignment would set the prototype if the key is `__proto__`. */
function set(parent: Branch, key: Key, value: unknown): void {
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
}
