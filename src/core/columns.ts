/*
 * Columns of numbers: typed arrays with `valueAt(index)`, which always returns a number to the compiler, unlike `column[index]`.
 * The index must lie within the column. A part of a column is a column too. Each kind of array has a class of its own, so that
 * V8 can inline `valueAt`: a single function would see many kinds of arrays.
 */

/** The same for the plain arrays of journey searches. Hot code must pass no other class, or V8 stops inlining this function. */
export function int32At(column: Int32Array, index: number): number {
  return column[index] as number;
}

export class Uint8Column extends Uint8Array {
  declare subarray: (begin?: number, end?: number) => Uint8Column;

  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Int8Column extends Int8Array {
  declare subarray: (begin?: number, end?: number) => Int8Column;

  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Uint16Column extends Uint16Array {
  declare subarray: (begin?: number, end?: number) => Uint16Column;

  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Int16Column extends Int16Array {
  declare subarray: (begin?: number, end?: number) => Int16Column;

  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Uint32Column extends Uint32Array {
  declare subarray: (begin?: number, end?: number) => Uint32Column;

  static override from<Item>(
    items: Iterable<Item> | ArrayLike<Item>,
    toNumber?: (item: Item, index: number) => number,
  ): Uint32Column {
    return new Uint32Column(Uint32Array.from(items as Iterable<Item>, toNumber).buffer);
  }

  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Int32Column extends Int32Array {
  declare subarray: (begin?: number, end?: number) => Int32Column;

  static override from<Item>(
    items: Iterable<Item> | ArrayLike<Item>,
    toNumber?: (item: Item, index: number) => number,
  ): Int32Column {
    return new Int32Column(Int32Array.from(items as Iterable<Item>, toNumber).buffer);
  }

  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Float32Column extends Float32Array {
  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Float64Column extends Float64Array {
  declare subarray: (begin?: number, end?: number) => Float64Column;

  static override from<Item>(
    items: Iterable<Item> | ArrayLike<Item>,
    toNumber?: (item: Item, index: number) => number,
  ): Float64Column {
    return new Float64Column(Float64Array.from(items as Iterable<Item>, toNumber).buffer);
  }

  valueAt(index: number): number {
    return this[index] as number;
  }
}
