/*
 * Columns of numbers: typed arrays with `valueAt(index)`, which the compiler knows to be a number. `column[index]` may be
 * undefined for it. The index must lie within the column. Each kind of array has a class of its own, so that V8 can inline
 * `valueAt`: one function for all of them would see many kinds.
 */

/** The same for the plain arrays of journey searches. Hot code passes no other class, or V8 stops inlining it well. */
export function int32At(column: Int32Array, index: number): number {
  return column[index] as number;
}

export class Uint8Column extends Uint8Array {
  valueAt(index: number): number {
    return this[index] as number;
  }

  override subarray(begin?: number, end?: number): Uint8Column {
    return super.subarray(begin, end) as Uint8Column;
  }
}

export class Int8Column extends Int8Array {
  valueAt(index: number): number {
    return this[index] as number;
  }

  override subarray(begin?: number, end?: number): Int8Column {
    return super.subarray(begin, end) as Int8Column;
  }
}

export class Uint16Column extends Uint16Array {
  valueAt(index: number): number {
    return this[index] as number;
  }

  override subarray(begin?: number, end?: number): Uint16Column {
    return super.subarray(begin, end) as Uint16Column;
  }
}

export class Int16Column extends Int16Array {
  valueAt(index: number): number {
    return this[index] as number;
  }

  override subarray(begin?: number, end?: number): Int16Column {
    return super.subarray(begin, end) as Int16Column;
  }
}

export class Uint32Column extends Uint32Array {
  static override from<Item>(
    items: Iterable<Item> | ArrayLike<Item>,
    toNumber?: (item: Item, index: number) => number,
  ): Uint32Column {
    return new Uint32Column(Uint32Array.from(items as Iterable<Item>, toNumber).buffer);
  }

  valueAt(index: number): number {
    return this[index] as number;
  }

  override subarray(begin?: number, end?: number): Uint32Column {
    return super.subarray(begin, end) as Uint32Column;
  }
}

export class Int32Column extends Int32Array {
  static override from<Item>(
    items: Iterable<Item> | ArrayLike<Item>,
    toNumber?: (item: Item, index: number) => number,
  ): Int32Column {
    return new Int32Column(Int32Array.from(items as Iterable<Item>, toNumber).buffer);
  }

  valueAt(index: number): number {
    return this[index] as number;
  }

  override subarray(begin?: number, end?: number): Int32Column {
    return super.subarray(begin, end) as Int32Column;
  }
}

export class Float32Column extends Float32Array {
  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Float64Column extends Float64Array {
  static override from<Item>(
    items: Iterable<Item> | ArrayLike<Item>,
    toNumber?: (item: Item, index: number) => number,
  ): Float64Column {
    return new Float64Column(Float64Array.from(items as Iterable<Item>, toNumber).buffer);
  }

  valueAt(index: number): number {
    return this[index] as number;
  }

  override subarray(begin?: number, end?: number): Float64Column {
    return super.subarray(begin, end) as Float64Column;
  }
}
