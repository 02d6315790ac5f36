/*
 * Columns of numbers: typed arrays with `valueAt(index)` for an index within the column, where `column[index]` may be undefined for
 * the compiler. Each kind of array has a class of its own, so that V8 inlines `valueAt`, which then takes as long as `column[index]`.
 * One function for all kinds takes three times as long, and `at`, which also counts from the end, a hundred times.
 */

export class Uint8Column extends Uint8Array {
  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Int8Column extends Int8Array {
  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Uint16Column extends Uint16Array {
  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Int16Column extends Int16Array {
  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Uint32Column extends Uint32Array {
  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Int32Column extends Int32Array {
  valueAt(index: number): number {
    return this[index] as number;
  }
}

export class Float64Column extends Float64Array {
  valueAt(index: number): number {
    return this[index] as number;
  }
}
