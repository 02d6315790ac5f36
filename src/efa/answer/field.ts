import { z } from 'zod';

/*
 * How the fields of the authority's records are read. A decorating field that is missing or has another type reads as
 * undefined. A busy answer has thousands of them: each is read by one function in place of a chain of schemas.
 */

/**
 * Elements beyond it are not looked at, so that one answer cannot keep the process busy. The longest real decorating list
 * had 6.
 */
export const MAX_ELEMENTS = 20;

/** Larger numbers are no durations or distances, and would spoil the times and sums computed from them. */
const MOST = 1e9;
const NUMERAL = /^-?\d+(\.\d+)?$/;
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Identifiers and names sometimes come as unquoted numbers. */
export const text = z
  .transform((value): string | undefined => {
    if (typeof value === 'string') return value;
    return Number.isFinite(value) ? String(value) : undefined;
  })
  .optional();

export const number = z
  .transform((value): number | undefined => {
    const read = typeof value === 'string' && NUMERAL.test(value) ? Number(value) : value;
    return typeof read === 'number' && Math.abs(read) <= MOST ? read : undefined;
  })
  .optional();

export const flag = z
  .transform((value): boolean | undefined => {
    if (typeof value === 'string') return FLAGS.get(value.toLowerCase());
    return typeof value === 'boolean' ? value : undefined;
  })
  .optional();

/** Lists and objects that decorate a record. */
export function decorating<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional().catch(undefined);
}

/**
 * The first elements of a list, unread. The only element is sometimes given bare; null and a missing key are the empty
 * list.
 */
export function firstOf(max: number) {
  return z.transform((value) => firstElements(value, max));
}

/** A decorating list; its elements that cannot be read are dropped. */
export function listOf<Item extends z.ZodType>(item: Item) {
  const compiled = z.compile(item);
  return z.transform((value) => {
    const items: z.output<Item>[] = [];
    for (const element of firstElements(value, MAX_ELEMENTS)) {
      const read = compiled.safeParse(element);
      if (read.success) items.push(read.data);
    }
    return items;
  });
}

function firstElements(value: unknown, max: number): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [value];
  return value.length > max ? value.slice(0, max) : value;
}
