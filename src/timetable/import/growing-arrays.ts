import { Int32Column, Uint32Column } from '../../core/columns.ts';
import { Numbers } from '../../core/growing-numbers.ts';

/** Lists of numbers; equal lists are stored once. */
export class Lists {
  readonly numbers = new Numbers();
  /** Where each list begins, by its hash or, if that is taken, by the next free number. */
  readonly #starts = new Map<number, number>();

  /** Returns where the list begins in `numbers`. Another list with the same beginning may start there too. */
  add(list: Int32Column): number {
    let hash = 0x811c9dc5;
    for (const number of list) {
      hash = Math.imul(hash ^ number, 0x01000193);
      hash ^= hash >>> 15;
    }
    for (; ; hash = (hash + 1) | 0) {
      const start = this.#starts.get(hash);
      if (start === undefined) break;
      if (this.#isAt(start, list)) return start;
    }
    const start = this.numbers.length;
    this.#starts.set(hash, start);
    this.numbers.append(list);
    return start;
  }

  #isAt(start: number, list: Int32Column): boolean {
    const { values, length } = this.numbers;
    if (start + list.length > length) return false;
    for (let index = 0; index < list.length; index++) if (values[start + index] !== list[index]) return false;
    return true;
  }
}

/** Texts in one buffer. Number 0 is the empty text. */
export class Texts {
  readonly #numbers = new Map<string, number>();
  readonly #ends = new Numbers();
  #bytes = Buffer.alloc(1 << 16);

  constructor() {
    this.add('');
  }

  /** Returns the number of the text; equal texts have the same number. */
  add(text: string): number {
    const existing = this.#numbers.get(text);
    if (existing !== undefined) return existing;
    const number = this.append(text);
    this.#numbers.set(text, number);
    return number;
  }

  /** Like `add`, but without looking for an equal text. */
  append(text: string): number {
    const start = this.#start(this.#ends.length);
    const maxEnd = start + text.length * 3;
    if (maxEnd > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(maxEnd, this.#bytes.length * 2));
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    this.#ends.push(start + this.#bytes.write(text, start));
    return this.#ends.length - 1;
  }

  get(number: number): string {
    return this.#bytes.toString('utf8', this.#start(number), this.#start(number + 1));
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#start(this.#ends.length));
  }

  /** Where each text begins, and the end of the last one. */
  get start(): Int32Column {
    return Int32Column.from({ length: this.#ends.length + 1 }, (_, number) => this.#start(number));
  }

  #start(number: number): number {
    return number === 0 ? 0 : this.#ends.values.valueAt(number - 1);
  }
}

/** The members of group `n` are `members` from `start[n]` up to `start[n + 1]`. */
export interface Groups {
  start: Uint32Column;
  members: Uint32Column;
}

/** Groups the numbers from 0 up to `count`, in ascending order within each group. Numbers of group -1 are left out. */
export function group(groups: number, count: number, groupOf: (member: number) => number): Groups {
  const start = new Uint32Column(groups + 1);
  for (let member = 0; member < count; member++) {
    const at = groupOf(member);
    if (at >= 0) start[at + 1] = start.valueAt(at + 1) + 1;
  }
  for (let index = 0; index < groups; index++) start[index + 1] = start.valueAt(index + 1) + start.valueAt(index);
  const next = Uint32Column.from(start);
  const members = new Uint32Column(start.valueAt(groups));
  for (let member = 0; member < count; member++) {
    const at = groupOf(member);
    if (at < 0) continue;
    members[next.valueAt(at)] = member;
    next[at] = next.valueAt(at) + 1;
  }
  return { start, members };
}

/** Like `group`, with the members of each group sorted by `keyOf`. */
export function groupSorted(groups: number, count: number, groupOf: Key, keyOf: Key): Groups {
  const grouped = group(groups, count, groupOf);
  for (let index = 0; index < groups; index++) {
    grouped.members
      .subarray(grouped.start[index], grouped.start[index + 1])
      .sort((a, b) => keyOf(a) - keyOf(b) || a - b);
  }
  return grouped;
}

type Key = (member: number) => number;
