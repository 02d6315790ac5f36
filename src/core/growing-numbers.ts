import { Int32Column } from './columns.ts';

/** A growing list of integers in a typed array: millions in a plain array take several times the memory. */
export class Numbers {
  /** Only the first `length` entries are in use. */
  values = new Int32Column(1024);
  length = 0;

  /** A view of the entries in use. */
  get used(): Int32Column {
    return this.values.subarray(0, this.length);
  }

  push(number: number): void {
    this.#reserve(1);
    this.values[this.length++] = number;
  }

  append(numbers: Int32Column): void {
    this.#reserve(numbers.length);
    this.values.set(numbers, this.length);
    this.length += numbers.length;
  }

  #reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.values.length) return;
    const length = Math.max(needed, Math.ceil(this.values.length * 1.5));
    // `transfer` frees the old bytes at once. A copy would leave them to the garbage collection.
    this.values = new Int32Column(this.values.buffer.transfer(length * Int32Array.BYTES_PER_ELEMENT));
  }
}

/** An empty list for each name. */
export function createNumbers<Name extends string>(names: readonly Name[]): Record<Name, Numbers> {
  return Object.fromEntries(names.map((name) => [name, new Numbers()])) as Record<Name, Numbers>;
}
