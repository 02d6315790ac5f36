interface SectionType {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, offset?: number, length?: number): { set(numbers: ArrayLike<number>): void };
}

type SectionTypes = Readonly<Record<string, SectionType>>;

/** Typed arrays one after the other in shared memory, by name. */
export type SectionsOf<Types extends SectionTypes> = { [Name in keyof Types]: InstanceType<Types[Name]> };

/**
 * Places sections behind a header that ends at `start`, each at a multiple of eight bytes. `lengths` are in the order of `types`.
 * `view` opens the sections of memory that has `total` bytes, without copying.
 */
export function placeSections<Types extends SectionTypes>(types: Types, start: number, lengths: readonly number[]) {
  const roundToEight = (bytes: number) => Math.ceil(bytes / 8) * 8;
  let total = roundToEight(start);
  const places = Object.entries(types).map(([name, Section], index) => {
    const [offset, length] = [total, lengths[index] ?? 0];
    total = roundToEight(offset + length * Section.BYTES_PER_ELEMENT);
    return { name, Section, offset, length };
  });
  const open = (packed: SharedArrayBuffer): SectionsOf<Types> =>
    Object.fromEntries(
      places.map(({ name, Section, offset, length }) => [
        name,
        new Section(packed as ArrayBufferLike as ArrayBuffer, offset, length),
      ]),
    ) as SectionsOf<Types>;
  return { total, open };
}
