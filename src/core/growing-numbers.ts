/** A growing list of integers in a typed array: millions in a plain array take several times the memory. */
export class Numbers {
  /** May be longer than `length`. */
  values: Int32Array<ArrayBuffer> = new Int32Array(1024);
  length = 0;

  push(number: number): void {
    this.#reserve(1);
    this.values[this.length++] = number;
  }

  append(numbers: Int32Array): void {
    this.#reserve(numbers.length);
    this.values.set(numbers, this.length);
    this.length += numbers.length;
  }

  #reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.values.length) return;
    this.values = resized(this.values, Math.max(needed, Math.ceil(this.values.length * 1.5)));
  }
}

export type Column = Int32Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

/**
 * Returns the column with another length; the old one becomes empty. The bytes are moved, so that no copy waits for the garbage
 * collection.
 */
export function resized<One extends Column>(column: One, length: number): One {
  const buffer = column.buffer.transfer(length * column.BYTES_PER_ELEMENT);
  return new (column.constructor as new (buffer: ArrayBuffer) => One)(buffer);
}
